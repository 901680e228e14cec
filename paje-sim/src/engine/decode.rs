//! One block of lines to columns of small, plain events, sorted by lane.
//!
//! Nothing here depends on other blocks but the event definitions. Names become symbols of this
//! decoder; what a symbol stands for is resolved afterwards, in file order, once per symbol.
//! Structural events (definitions of types and values, creations and destructions of containers)
//! are only noted: they are few, and are read again when it is their turn.

use paje_parser::scan::{Scanner, Spans};
use paje_parser::{
    DefTable, EntityOp, EventDef, EventKind, Fault, FaultKind, FieldName, LinkEnd, Quoting, Span,
    TypeNature, number,
};
use splitter::Block;

use super::symbols::{Symbol, SymbolTable, bare, hash_bytes};
use crate::options::{Options, Precision, ValueNames};

/// What a lane's event does; fits the low bits of [`RawEvent::tail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Op {
    Event,
    SetState,
    PushState,
    PopState,
    ResetState,
    SetVariable,
    AddVariable,
    SubVariable,
    StartLink,
    EndLink,
}

impl Op {
    const ALL: [Op; 10] = [
        Op::Event,
        Op::SetState,
        Op::PushState,
        Op::PopState,
        Op::ResetState,
        Op::SetVariable,
        Op::AddVariable,
        Op::SubVariable,
        Op::StartLink,
        Op::EndLink,
    ];

    const fn nature(self) -> TypeNature {
        match self {
            Op::Event => EntityOp::Event.nature(),
            Op::SetState | Op::PushState | Op::PopState | Op::ResetState => TypeNature::State,
            Op::SetVariable | Op::AddVariable | Op::SubVariable => TypeNature::Variable,
            Op::StartLink | Op::EndLink => TypeNature::Link,
        }
    }
}

/// An event of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneEvent {
    /// In seconds.
    pub(crate) time: f64,
    /// A value's symbol; or the bits of a variable's number; or an index into the block's links.
    pub(crate) argument: u64,
    /// Where its line begins in the block.
    pub(crate) at: u32,
    /// The [`Op`], and above it the number of the event's extra fields in the block, from 1; 0 for none.
    tail: u32,
}

const OP_BITS: u32 = 4;

impl LaneEvent {
    #[inline]
    pub(crate) const fn op(&self) -> Op {
        Op::ALL[(self.tail & ((1 << OP_BITS) - 1)) as usize % Op::ALL.len()]
    }

    #[inline]
    pub(crate) const fn extra(&self) -> u32 {
        self.tail >> OP_BITS
    }
}

/// What a link's event has more than others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEvent {
    pub(crate) value: Symbol,
    /// The container at this end.
    pub(crate) end: Symbol,
    /// The key with its quotes, as it was written.
    pub(crate) raw_key: Span,
    pub(crate) key_hash: u64,
}

/// Something in a block that its order in the file matters for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noted {
    /// A structural event of this definition.
    Structural(u32),
    /// The first use of a lane.
    Lane(Symbol),
    /// The first use of a value.
    Value(Symbol),
    /// The first use of a container as a link's end.
    LinkEnd(Symbol),
}

/// A line that deserves a warning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubtful {
    pub(crate) at: u32,
    pub(crate) def: u32,
    pub(crate) surplus: bool,
}

/// What one block holds, decoded; kept and filled again.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    /// Lane events, the lanes in the order of `lanes`, in file order within each.
    pub(crate) events: Vec<LaneEvent>,
    /// Each lane that has events here, and how many.
    pub(crate) lanes: Vec<(Symbol, u32)>,
    pub(crate) links: Vec<LinkEvent>,
    /// In file order, each with the beginning of its line in the block.
    pub(crate) noted: Vec<(u32, Noted)>,
    pub(crate) doubtful: Vec<Doubtful>,
    /// Extra fields of events: definition, and where in `extra_text`; fields end with newlines.
    pub(crate) extras: Vec<(u32, u32, u32)>,
    pub(crate) extra_text: Vec<u8>,
    /// The first line that could not be decoded; decoding stopped there.
    pub(crate) fault: Option<(u32, Fault)>,
    pub(crate) last_time: f64,
    /// How many lines hold an event.
    pub(crate) event_count: u64,
    unsorted: Vec<(Symbol, LaneEvent)>,
}

impl Decoded {
    fn clear(&mut self) {
        self.lanes.clear();
        self.links.clear();
        self.noted.clear();
        self.doubtful.clear();
        self.extras.clear();
        self.extra_text.clear();
        self.unsorted.clear();
        self.fault = None;
        self.last_time = f64::NEG_INFINITY;
        self.event_count = 0;
    }
}

/// Decodes blocks; knows every name that it has met.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) types: SymbolTable,
    /// Containers, in the context of a type and nature: see [`lane_context`].
    pub(crate) lanes: SymbolTable,
    /// Containers, in the context of a link type and an end: see [`end_context`].
    pub(crate) link_ends: SymbolTable,
    /// Values, in the context of a type: see [`value_context`].
    pub(crate) values: SymbolTable,
    scanner: Scanner,
    spans: Spans,
    plans: Vec<Plan>,
    /// How many events of each lane the block at hand has; zeros between blocks.
    counts: Vec<u32>,
    precision: Precision,
    value_names: ValueNames,
    stop_at: f64,
    extras: bool,
}

/// Where an event's words are and what to do with them.
#[derive(Clone, Copy, Debug)]
struct Plan {
    action: Action,
    /// How many words a line must have, and how many it has if all is well.
    needed: usize,
    expected: usize,
    time: usize,
    type_: usize,
    container: usize,
    value: usize,
    end: usize,
    key: usize,
    has_extras: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Structural,
    /// An event of a lane.
    Replayed(Op),
}

/// Lanes of one container and type differ by what their events take the type for: only one of them
/// can be right, which is checked when the lane is first used.
pub(crate) const fn lane_context(type_: Symbol, nature: TypeNature) -> u32 {
    type_ << 3 | nature as u32
}

/// The type and the nature of a lane's context.
pub(crate) const fn split_lane_context(context: u32) -> (Symbol, TypeNature) {
    let nature = match context & 7 {
        0 => TypeNature::Container,
        1 => TypeNature::State,
        2 => TypeNature::Variable,
        3 => TypeNature::Event,
        _ => TypeNature::Link,
    };
    (context >> 3, nature)
}

const fn end_context(type_: Symbol, end: LinkEnd) -> u32 {
    type_ << 1 | end as u32
}

/// The type and the end of a link end's context.
pub(crate) const fn split_end_context(context: u32) -> (Symbol, LinkEnd) {
    let end = if context & 1 == LinkEnd::Start as u32 { LinkEnd::Start } else { LinkEnd::End };
    (context >> 1, end)
}

/// Values of one type differ by their quotes only where the options say so.
#[inline]
fn value_context(names: ValueNames, type_: Symbol, padded: &[u8], span: Span) -> u32 {
    let quoting = match names {
        ValueNames::Bare => Quoting::Bare,
        ValueNames::AsWritten => span.of(padded).quoting(),
    };
    type_ << 2 | quoting as u32
}

/// The type of a value's context.
pub(crate) const fn value_type(context: u32) -> Symbol {
    context >> 2
}

impl Decoder {
    pub(crate) fn new(options: &Options) -> Self {
        Decoder {
            types: SymbolTable::default(),
            lanes: SymbolTable::default(),
            link_ends: SymbolTable::default(),
            values: SymbolTable::default(),
            scanner: Scanner::default(),
            spans: Spans::default(),
            plans: Vec::new(),
            counts: Vec::new(),
            precision: options.variable_precision,
            value_names: options.value_names,
            stop_at: options.stop_at.unwrap_or(f64::INFINITY),
            extras: options.user_defined,
        }
    }

    /// Decodes a block; `defs` are the definitions before it, and after it those it added.
    pub(crate) fn decode(&mut self, block: &Block, defs: &mut DefTable, decoded: &mut Decoded) {
        decoded.clear();
        let text = block.text();
        self.scanner.scan(text);
        self.plan(defs);
        let mut start = 0;
        while start < text.len() {
            let end = self.scanner.fields(text, start, &mut self.spans);
            if let Err(fault) = self.line(block, start, end, defs, decoded) {
                decoded.fault = Some((start as u32, fault));
                break;
            }
            start = end + 1;
        }
        self.sort(decoded);
    }

    /// Plans for the definitions that have none yet.
    fn plan(&mut self, defs: &DefTable) {
        let new = &defs.defs()[self.plans.len()..];
        self.plans.extend(new.iter().map(|def| Plan::new(def)));
    }

    #[inline]
    fn line(
        &mut self,
        block: &Block,
        start: usize,
        end: usize,
        defs: &mut DefTable,
        decoded: &mut Decoded,
    ) -> Result<(), Fault> {
        let padded = block.padded();
        let words = self.spans.as_slice();
        let Some(number) = words.first() else {
            return Ok(());
        };
        if padded[number.start as usize] == b'%' {
            defs.header_line(&padded[start..end])
                .map_err(|fault| Fault { at: fault.at + start as u32, ..fault })?;
            self.plan(defs);
            return Ok(());
        }
        let (id_start, id_end) = bare(padded, *number);
        let Some(index) = defs.find(&padded[id_start..id_end]) else {
            return Err(fault(*number, FaultKind::UnknownId));
        };
        if defs.is_open() {
            return Err(fault(*number, FaultKind::UnfinishedDefinition));
        }
        let plan = self.plans[index];
        if words.len() != plan.expected {
            if words.len() < plan.needed {
                return Err(missing(&defs.defs()[index], words));
            }
            decoded.doubtful.push(Doubtful {
                at: start as u32,
                def: index as u32,
                surplus: words.len() > plan.expected,
            });
        }
        decoded.event_count += 1;
        let op = match plan.action {
            Action::Structural => {
                decoded.noted.push((start as u32, Noted::Structural(index as u32)));
                return Ok(());
            }
            Action::Replayed(op) => op,
        };
        let time = parse_time(padded, words[plan.time])?;
        let nature = op.nature();
        let mut argument = 0;
        if nature == TypeNature::Variable {
            argument = self.parse_value(padded, words[plan.value])?.to_bits();
        }
        if time > self.stop_at {
            return Ok(());
        }
        if time > decoded.last_time {
            decoded.last_time = time;
        }
        let type_ = self.types.intern(padded, words[plan.type_], 0);
        let line = start as u32;
        let noted = &mut decoded.noted;
        let context = lane_context(type_, nature);
        let lane =
            note(&mut self.lanes, padded, words[plan.container], context, line, Noted::Lane, noted);
        match op {
            Op::StartLink | Op::EndLink => {
                let side = if op == Op::StartLink { LinkEnd::Start } else { LinkEnd::End };
                let context = end_context(type_, side);
                let end = note(
                    &mut self.link_ends,
                    padded,
                    words[plan.end],
                    context,
                    line,
                    Noted::LinkEnd,
                    noted,
                );
                let span = words[plan.value];
                let context = value_context(self.value_names, type_, padded, span);
                let value =
                    note(&mut self.values, padded, span, context, line, Noted::Value, noted);
                let raw_key = words[plan.key];
                let (key_start, key_end) = bare(padded, raw_key);
                argument = decoded.links.len() as u64;
                decoded.links.push(LinkEvent {
                    value,
                    end,
                    raw_key,
                    key_hash: hash_bytes(&padded[key_start..key_end]),
                });
            }
            Op::SetState | Op::PushState | Op::Event => {
                let span = words[plan.value];
                let context = value_context(self.value_names, type_, padded, span);
                let value =
                    note(&mut self.values, padded, span, context, line, Noted::Value, noted);
                argument = u64::from(value);
            }
            _ => {}
        }
        let extra = if plan.has_extras && self.extras {
            note_extras(&defs.defs()[index], index as u32, padded, self.spans.as_slice(), decoded)
        } else {
            0
        };
        let event =
            LaneEvent { time, argument, at: start as u32, tail: extra << OP_BITS | op as u32 };
        decoded.unsorted.push((lane, event));
        Ok(())
    }

    fn parse_value(&self, padded: &[u8], span: Span) -> Result<f64, Fault> {
        let (start, end) = bare(padded, span);
        let value = match self.precision {
            Precision::Single => number::parse_f32_at(padded, start, end).map(f64::from),
            Precision::Double => number::parse_f64_at(padded, start, end),
        };
        value.ok_or(fault(span, FaultKind::BadNumber))
    }

    /// Brings the events of each lane together, in file order.
    fn sort(&mut self, decoded: &mut Decoded) {
        let Decoded { events, lanes, unsorted, .. } = decoded;
        self.counts.resize(self.lanes.len(), 0);
        for (lane, _) in unsorted.iter() {
            let count = &mut self.counts[*lane as usize];
            if *count == 0 {
                lanes.push((*lane, 0));
            }
            *count += 1;
        }
        let mut next = 0;
        for (lane, count) in lanes.iter_mut() {
            // From here on, the place of the lane's next event.
            *count = std::mem::replace(&mut self.counts[*lane as usize], next);
            next += *count;
        }
        if events.len() < unsorted.len() {
            events.resize(unsorted.len(), LaneEvent::default());
        }
        for (lane, event) in unsorted.iter() {
            let place = &mut self.counts[*lane as usize];
            events[*place as usize] = *event;
            *place += 1;
        }
        for (lane, _) in lanes.iter() {
            self.counts[*lane as usize] = 0;
        }
    }
}

impl Plan {
    fn new(def: &EventDef) -> Self {
        use EventKind as E;
        let action = match def.kind() {
            E::NewEvent => Action::Replayed(Op::Event),
            E::SetState => Action::Replayed(Op::SetState),
            E::PushState => Action::Replayed(Op::PushState),
            E::PopState => Action::Replayed(Op::PopState),
            E::ResetState => Action::Replayed(Op::ResetState),
            E::SetVariable => Action::Replayed(Op::SetVariable),
            E::AddVariable => Action::Replayed(Op::AddVariable),
            E::SubVariable => Action::Replayed(Op::SubVariable),
            E::StartLink => Action::Replayed(Op::StartLink),
            E::EndLink => Action::Replayed(Op::EndLink),
            E::DefineContainerType
            | E::DefineEventType
            | E::DefineStateType
            | E::DefineVariableType
            | E::DefineLinkType
            | E::DefineEntityValue
            | E::CreateContainer
            | E::DestroyContainer
            | E::TraceFile => Action::Structural,
        };
        // Fields that the action does not use point at the event's number, which is always there.
        let word = |field| def.word_of(field).unwrap_or(0);
        let end = match def.kind() {
            E::StartLink => FieldName::StartContainer,
            _ => FieldName::EndContainer,
        };
        Plan {
            action,
            needed: def.needed_words(),
            expected: def.fields().len() + 1,
            time: word(FieldName::Time),
            type_: word(FieldName::Type),
            container: word(FieldName::Container),
            value: word(FieldName::Value),
            end: word(end),
            key: word(FieldName::Key),
            has_extras: def.extras().next().is_some(),
        }
    }
}

/// The symbol of a field; its first use is noted.
#[inline]
fn note(
    table: &mut SymbolTable,
    padded: &[u8],
    span: Span,
    context: u32,
    line: u32,
    kind: fn(Symbol) -> Noted,
    noted: &mut Vec<(u32, Noted)>,
) -> Symbol {
    let known = table.len();
    let symbol = table.intern(padded, span, context);
    if symbol as usize == known {
        noted.push((line, kind(symbol)));
    }
    symbol
}

const fn fault(word: Span, kind: FaultKind) -> Fault {
    Fault { at: word.start, kind }
}

#[cold]
fn missing(def: &EventDef, words: &[Span]) -> Fault {
    // `needed_words` is what makes it fail, so there is an error to take.
    let failed = paje_parser::RawEvent::new(def, &[], words).err();
    failed.unwrap_or(Fault { at: 0, kind: FaultKind::MissingField(FieldName::Type) })
}

#[inline]
fn parse_time(padded: &[u8], span: Span) -> Result<f64, Fault> {
    let (start, end) = bare(padded, span);
    let time = number::parse_f64_at(padded, start, end).filter(|time| time.is_finite());
    time.ok_or(fault(span, FaultKind::BadTime))
}

/// Copies an event's user-defined fields; returns their number in the block, from 1.
#[inline(never)]
fn note_extras(
    def: &EventDef,
    index: u32,
    padded: &[u8],
    words: &[Span],
    decoded: &mut Decoded,
) -> u32 {
    let start = decoded.extra_text.len() as u32;
    for (_, word) in def.extras() {
        if let Some(span) = words.get(word) {
            decoded.extra_text.extend_from_slice(span.of(padded).raw());
        }
        decoded.extra_text.push(b'\n');
    }
    decoded.extras.push((index, start, decoded.extra_text.len() as u32));
    decoded.extras.len() as u32
}

//! One block of lines to columns of small, plain events, sorted by lane.
//!
//! Nothing here depends on other blocks but the event definitions. Names become symbols of this
//! decoder; what a symbol stands for is resolved afterwards, in file order, once per symbol.
//! Structural events (definitions of types and values, creations and destructions of containers)
//! are only noted: they are few, and are read again when it is their turn.

mod line;
mod plan;
mod short;

use paje_parser::scan::{Scanner, Spans};
use paje_parser::{DefTable, EntityOp, Fault, LinkEnd, Quoting, Span, TypeNature};
use splitter::Block;

use super::symbols::{Symbol, SymbolTable, WordTable, word};
use crate::options::{Options, Precision, ValueNames};
use plan::Plan;

/// What a lane's event does.
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
    /// By number; there are as many as [`OP_BITS`] can tell apart.
    const ALL: [Op; 1 << OP_BITS] = [
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
        Op::Event,
        Op::Event,
        Op::Event,
        Op::Event,
        Op::Event,
        Op::Event,
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
#[derive(Clone, Copy, Debug)]
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
    const NONE: LaneEvent = LaneEvent::new(0.0, 0, 0, Op::Event, 0);

    const fn new(time: f64, argument: u64, at: u32, op: Op, extra: u32) -> Self {
        LaneEvent { time, argument, at, tail: extra << OP_BITS | op as u32 }
    }

    #[inline]
    pub(crate) const fn op(&self) -> Op {
        Op::ALL[(self.tail & ((1 << OP_BITS) - 1)) as usize]
    }

    /// The number of the event's extra fields in the block, from 1; 0 for none.
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
    /// The lane and the event of each line, by its ordinal; what is beyond the lines at hand is old.
    unsorted: Vec<(Symbol, LaneEvent)>,
}

/// In place of a lane: the line has no event that is replayed.
const NO_LANE: Symbol = Symbol::MAX;

/// No event.
const NOTHING: (Symbol, LaneEvent) = (NO_LANE, LaneEvent::NONE);

/// A line that waits to be decoded.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Where it begins in the block.
    start: u32,
    /// How many lines with words come before it.
    ordinal: u32,
    /// Its fields: see [`paje_parser::scan::ShortLine`].
    edges: u64,
}

impl Decoded {
    fn clear(&mut self) {
        self.lanes.clear();
        self.links.clear();
        self.noted.clear();
        self.doubtful.clear();
        self.extras.clear();
        self.extra_text.clear();
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
    /// Plans by the texts of their numbers: see [`short`].
    plans_by_id: WordTable,
    /// Lanes by the texts of a type and a container: see [`short`].
    lanes_by_pair: WordTable,
    /// The type of each lane.
    lane_types: Vec<Symbol>,
    /// Short lines by their plans, and all others.
    batches: Vec<Vec<Waiting>>,
    rest: Vec<Waiting>,
    /// How many lines with words the block at hand has so far.
    lines: u32,
    /// How many events of each lane the block at hand has; zeros between blocks.
    counts: Vec<u32>,
    precision: Precision,
    value_names: ValueNames,
    stop_at: f64,
    extras: bool,
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
            plans_by_id: WordTable::default(),
            lanes_by_pair: WordTable::default(),
            lane_types: Vec::new(),
            batches: Vec::new(),
            rest: Vec::new(),
            lines: 0,
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
        while start < text.len() && decoded.fault.is_none() {
            // Up to the next line of a definition, which changes what the lines after it are.
            start = self.sort_out(text, block.padded(), start, defs.is_open());
            self.decode_batches(block.padded(), decoded);
            self.decode_rest(block, defs, decoded);
            if start < text.len() && decoded.fault.is_none() {
                start = self.header_line(block, start, defs, decoded);
            }
        }
        self.sort(decoded);
    }

    /// Takes in the line of a definition at `start`; returns where the next line begins.
    fn header_line(
        &mut self,
        block: &Block,
        start: usize,
        defs: &mut DefTable,
        decoded: &mut Decoded,
    ) -> usize {
        let text = block.text();
        let end = self.scanner.line_end(text, start);
        match defs.header_line(&text[start..end]) {
            Ok(()) => self.plan(defs),
            Err(fault) => {
                let fault = Fault { at: fault.at + start as u32, ..fault };
                decoded.fault = Some((start as u32, fault));
            }
        }
        end + 1
    }

    /// Decodes the lines that no batch took, in file order, up to the first that is wrong.
    fn decode_rest(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        let mut rest = std::mem::take(&mut self.rest);
        rest.sort_unstable_by_key(|line| line.start);
        for line in rest.drain(..) {
            // What stands there is of a block before; nothing is decoded after a wrong line.
            decoded.unsorted[line.ordinal as usize] = NOTHING;
            if decoded.fault.is_some() {
                continue;
            }
            self.scanner.fields(block.text(), line.start as usize, &mut self.spans);
            match self.line(block.padded(), line.start as usize, defs, decoded) {
                Ok(event) => decoded.unsorted[line.ordinal as usize] = event,
                Err(fault) => decoded.fault = Some((line.start, fault)),
            }
        }
        self.rest = rest;
    }

    /// Plans for the definitions that have none yet.
    fn plan(&mut self, defs: &DefTable) {
        for def in &defs.defs()[self.plans.len()..] {
            let mut padded = def.id().to_vec();
            padded.resize(padded.len() + 16, 0);
            if let Some(word) = word(&padded, 0, def.id().len()) {
                self.plans_by_id.insert(word, def.id().len() as u64, self.plans.len() as u32);
            }
            self.plans.push(Plan::new(def, self.extras));
            self.batches.push(Vec::new());
        }
    }

    /// Brings the events of each lane together, in file order.
    fn sort(&mut self, decoded: &mut Decoded) {
        let Decoded { events, lanes, unsorted, .. } = decoded;
        // What a wrong line kept from being decoded has no event; nor have lines without a lane.
        let unsorted = &unsorted[..self.lines as usize];
        self.lines = 0;
        self.counts.resize(self.lanes.len(), 0);
        for (lane, _) in unsorted {
            if *lane == NO_LANE {
                continue;
            }
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
        if events.len() < next as usize {
            events.resize(next as usize, LaneEvent::NONE);
        }
        for (lane, event) in unsorted {
            if *lane == NO_LANE {
                continue;
            }
            let place = &mut self.counts[*lane as usize];
            events[*place as usize] = *event;
            *place += 1;
        }
        for (lane, _) in lanes.iter() {
            self.counts[*lane as usize] = 0;
        }
    }
}

//! One block of lines to columns of small, plain events, sorted by lane.
//!
//! Nothing here depends on other blocks but the event definitions. Names become symbols of this
//! decoder; what a symbol stands for is resolved afterwards, in file order, once per symbol.
//! Structural events (definitions of types and values, creations and destructions of containers)
//! are only noted: they are few, and are read again when it is their turn.

mod line;
mod plan;
mod short;

use std::sync::Arc;

use paje_parser::color::Color;
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
    /// A structural event: its number among the block's.
    Structural(u32),
    /// The first use of a lane.
    Lane(Symbol),
    /// The first use of a value, and the hash of its text.
    Value(Symbol, u64),
    /// The first use of a container as a link's end.
    LinkEnd(Symbol),
}

/// A structural event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Structure {
    pub(crate) def: u32,
    /// Where its words begin among those of all of the block's structural events, and how many it has.
    pub(crate) words: (u32, u32),
    /// If it defines a value and all is well with it, what it says.
    pub(crate) value: Option<ValueDefinition>,
}

/// What the definition of a value says: the words of its fields, and what can be made of them without
/// knowing what came before. Some traces define a value for each of their tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueDefinition {
    pub(crate) name: u32,
    pub(crate) alias: Option<u32>,
    /// Not a word, but the symbol of its text.
    pub(crate) type_: Symbol,
    pub(crate) color: Option<Color>,
    /// Of what will identify it.
    pub(crate) hash: u64,
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
    /// Lane events, the strands in the order of `strands`, in file order within each.
    pub(crate) events: Vec<LaneEvent>,
    /// Each strand that has events here, and how many; shard by shard.
    pub(crate) strands: Vec<(StrandSymbol, u32)>,
    /// For each shard, how many strands and how many events come before its own.
    pub(crate) shards: Vec<(u32, u32)>,
    pub(crate) links: Vec<LinkEvent>,
    /// In file order, each with the beginning of its line in the block.
    pub(crate) noted: Vec<(u32, Noted)>,
    pub(crate) structures: Vec<Structure>,
    pub(crate) words: Vec<Span>,
    pub(crate) doubtful: Vec<Doubtful>,
    /// Extra fields of events: definition, and where in `extra_text`; fields end with newlines.
    pub(crate) extras: Vec<(u32, u32, u32)>,
    pub(crate) extra_text: Vec<u8>,
    /// The first line that could not be decoded; decoding stopped there.
    pub(crate) fault: Option<(u32, Fault)>,
    pub(crate) last_time: f64,
    /// How many lines hold an event.
    pub(crate) event_count: u64,
    /// How many lines there are, empty ones and comments included.
    pub(crate) lines: u64,
    /// The definitions up to the end of the block, if it holds a line of one.
    pub(crate) defs: Option<Arc<DefTable>>,
}

/// In place of a strand: the line has no event that is replayed.
const NO_STRAND: StrandSymbol = StrandSymbol::MAX;

/// No event.
const NOTHING: (StrandSymbol, LaneEvent) = (NO_STRAND, LaneEvent::NONE);

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
        self.strands.clear();
        self.links.clear();
        self.noted.clear();
        self.structures.clear();
        self.words.clear();
        self.doubtful.clear();
        self.extras.clear();
        self.extra_text.clear();
        self.fault = None;
        self.last_time = f64::NEG_INFINITY;
        self.event_count = 0;
        self.defs = None;
    }
}

/// A strand as a decoder numbers it.
pub(crate) type StrandSymbol = u32;

/// What a decoder knows of a lane.
#[derive(Clone, Copy, Debug)]
struct KnownLane {
    type_: Symbol,
    /// Its first strand; a link lane has as many as [`Strands`] says, one after the other.
    strand: StrandSymbol,
}

/// How lanes are spread over shards, which is how several workers replay them at the same time. A lane
/// is replayed as one strand; a lane of links as several, by the hashes of their keys, for it can be
/// a quarter of a trace. The text of a lane decides on the shard, so that all decoders agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strands {
    pub(crate) shards: u32,
    /// Strands of a link lane; a power of two.
    pub(crate) per_link_lane: u32,
}

impl Strands {
    /// So many that they can be numbered in a byte.
    pub(crate) const MOST_SHARDS: u32 = 256;
    pub(crate) const MOST_PARTS: u32 = 16;

    /// How lanes are spread for so many workers.
    pub(crate) fn for_workers(workers: usize) -> Self {
        let workers = workers.min(Strands::MOST_SHARDS as usize) as u32;
        match workers {
            0 | 1 => Strands { shards: 1, per_link_lane: 1 },
            _ => Strands {
                shards: (workers * 8).min(Strands::MOST_SHARDS),
                per_link_lane: workers.next_power_of_two().min(Strands::MOST_PARTS),
            },
        }
    }

    /// How many strands a lane has.
    pub(crate) const fn of(self, nature: TypeNature) -> u32 {
        if matches!(nature, TypeNature::Link) { self.per_link_lane } else { 1 }
    }

    /// The shard of a strand of the lane whose texts have this hash.
    pub(crate) const fn shard(self, lane_hash: u64, part: u32) -> u32 {
        ((lane_hash >> 32) as u32).wrapping_add(part) % self.shards
    }

    /// Which strand of its lane a link is in.
    #[inline]
    pub(crate) const fn part(self, key_hash: u64) -> u32 {
        // Other bits than those that find the key in its strand's table.
        (key_hash >> 52) as u32 & (self.per_link_lane - 1)
    }
}

/// Values that a decoder may know before it is [crowded](Decoder::is_crowded): their table still fits
/// in a core's second-level cache.
const MOST_VALUES: usize = 1 << 14;

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
    known_lanes: Vec<KnownLane>,
    /// The shard of each strand.
    strand_shards: Vec<u32>,
    spread: Strands,
    /// Short lines by their plans, and all others.
    batches: Vec<Vec<Waiting>>,
    rest: Vec<Waiting>,
    /// How many lines with words the block at hand has so far.
    lines: u32,
    /// The strand and the event of each line, by its ordinal; what is beyond the lines at hand is old.
    unsorted: Vec<(StrandSymbol, LaneEvent)>,
    /// How many events of each strand the block at hand has; zeros between blocks.
    counts: Vec<u32>,
    /// The block's strands before they are brought together by shard.
    met: Vec<(StrandSymbol, u32)>,
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
    pub(crate) fn new(options: &Options, spread: Strands) -> Self {
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
            known_lanes: Vec::new(),
            strand_shards: Vec::new(),
            spread,
            batches: Vec::new(),
            rest: Vec::new(),
            lines: 0,
            unsorted: Vec::new(),
            counts: Vec::new(),
            met: Vec::new(),
            precision: options.variable_precision,
            value_names: options.value_names,
            stop_at: options.stop_at.unwrap_or(f64::INFINITY),
            extras: options.user_defined,
        }
    }

    /// Whether so many values have come up, most of them once it seems, that starting again with an empty
    /// table is better than to look for each in a large one.
    pub(crate) fn is_crowded(&self) -> bool {
        self.values.len() > MOST_VALUES && self.values.len() > 4 * self.lanes.len()
    }

    /// The shards of a lane's strands.
    pub(crate) fn shards_of(&self, lane: Symbol) -> &[u32] {
        let first = self.known_lanes[lane as usize].strand as usize;
        let next = self.known_lanes.get(lane as usize + 1);
        let end = next.map_or(self.strand_shards.len(), |next| next.strand as usize);
        &self.strand_shards[first..end]
    }

    /// Decodes a block; `defs` are the definitions before it.
    pub(crate) fn decode(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        decoded.clear();
        let text = block.text();
        decoded.lines = memchr::memchr_iter(b'\n', text).count() as u64;
        self.scanner.scan(text);
        self.plan(defs);
        let mut start = 0;
        while start < text.len() && decoded.fault.is_none() {
            // Up to the next line of a definition, which changes what the lines after it are.
            let changed = decoded.defs.take();
            let at_hand = changed.as_deref().unwrap_or(defs);
            start = self.sort_out(text, block.padded(), start, at_hand.is_open());
            self.decode_batches(block.padded(), decoded);
            self.decode_rest(block, at_hand, decoded);
            decoded.defs = changed;
            if start < text.len() && decoded.fault.is_none() {
                let changed = decoded.defs.get_or_insert_with(|| Arc::new(defs.clone()));
                let changed = Arc::make_mut(changed);
                let end = self.scanner.line_end(text, start);
                match changed.header_line(&text[start..end]) {
                    Ok(()) => self.plan(changed),
                    Err(fault) => {
                        let fault = Fault { at: fault.at + start as u32, ..fault };
                        decoded.fault = Some((start as u32, fault));
                    }
                }
                start = end + 1;
            }
        }
        self.sort(decoded);
    }

    /// Decodes the lines that no batch took, in file order, up to the first that is wrong.
    fn decode_rest(&mut self, block: &Block, defs: &DefTable, decoded: &mut Decoded) {
        let mut rest = std::mem::take(&mut self.rest);
        // In order already but for what batches left, so that this merges.
        rest.sort_by_key(|line| line.start);
        for line in rest.drain(..) {
            // What stands there is of a block before; nothing is decoded after a wrong line.
            self.unsorted[line.ordinal as usize] = NOTHING;
            if decoded.fault.is_some() {
                continue;
            }
            self.scanner.fields(block.text(), line.start as usize, &mut self.spans);
            match self.line(block.padded(), line.start as usize, defs, decoded) {
                Ok(event) => self.unsorted[line.ordinal as usize] = event,
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

    /// Brings the events of each strand together, in file order.
    fn sort(&mut self, decoded: &mut Decoded) {
        // What a wrong line kept from being decoded has no event; nor have lines without a lane.
        let lines = std::mem::take(&mut self.lines) as usize;
        self.counts.resize(self.strand_shards.len(), 0);
        self.met.clear();
        for (strand, _) in &self.unsorted[..lines] {
            if *strand == NO_STRAND {
                continue;
            }
            let count = &mut self.counts[*strand as usize];
            if *count == 0 {
                self.met.push((*strand, 0));
            }
            *count += 1;
        }
        let count = self.sort_strands(decoded);
        let events = &mut decoded.events;
        if events.len() < count {
            events.resize(count, LaneEvent::NONE);
        }
        for (strand, event) in &self.unsorted[..lines] {
            if *strand == NO_STRAND {
                continue;
            }
            let place = &mut self.counts[*strand as usize];
            events[*place as usize] = *event;
            *place += 1;
        }
        for (strand, _) in &decoded.strands {
            self.counts[*strand as usize] = 0;
        }
    }

    /// Brings the strands of each shard together; `counts` are then the places of their first events.
    /// Returns how many events there are.
    fn sort_strands(&mut self, decoded: &mut Decoded) -> usize {
        let Decoded { strands, shards, .. } = decoded;
        shards.clear();
        shards.resize(self.spread.shards as usize + 1, (0, 0));
        for (strand, count) in &mut self.met {
            *count = self.counts[*strand as usize];
            let shard = &mut shards[self.strand_shards[*strand as usize] as usize + 1];
            shard.0 += 1;
            shard.1 += *count;
        }
        let mut before = (0, 0);
        for shard in shards.iter_mut() {
            before = (before.0 + shard.0, before.1 + shard.1);
            *shard = before;
        }
        strands.resize(self.met.len(), (0, 0));
        for (strand, count) in &self.met {
            // What comes before a shard's own is counted up here, and is then what comes before the
            // next shard's.
            let shard = &mut shards[self.strand_shards[*strand as usize] as usize];
            strands[shard.0 as usize] = (*strand, *count);
            self.counts[*strand as usize] = shard.1;
            shard.0 += 1;
            shard.1 += count;
        }
        shards.rotate_right(1);
        if let Some(first) = shards.first_mut() {
            *first = (0, 0);
        }
        before.1 as usize
    }
}

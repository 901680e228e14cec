//! Decoded form of a block.

use std::sync::Arc;

use paje_parser::color::Color;
use paje_parser::{DefTable, EntityOp, Fault, Span, TypeNature};

use crate::decode::symbols::Symbol;
use crate::decode::usage_notes::UsageNotes;
use crate::lanes::links::PairNumber;
use crate::names::hash::ShortText;

/// A strand as a decoder numbers it.
pub(crate) type StrandSymbol = u32;

/// In place of a strand: the line has no event that is replayed.
pub(super) const NO_STRAND: StrandSymbol = StrandSymbol::MAX;

/// Not of a strand: a structural line, a line of a definition of an event, and a line without words.
pub(crate) const STRUCTURAL: StrandSymbol = StrandSymbol::MAX - 1;
pub(crate) const HEADER: StrandSymbol = StrandSymbol::MAX - 2;
pub(crate) const WORDLESS: StrandSymbol = StrandSymbol::MAX - 3;

/// No event.
pub(super) const NOTHING: (StrandSymbol, LaneEvent) = (NO_STRAND, LaneEvent::NONE);

/// Operation of an event on its lane.
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
    pub(super) const ALL: [Op; 1 << OP_BITS] = [
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

    /// Tells whether it is the start or the end of a link.
    #[inline(always)]
    pub(super) const fn is_link(self) -> bool {
        matches!(self, Op::StartLink | Op::EndLink)
    }

    pub(super) const fn nature(self) -> TypeNature {
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
    /// Start of its line in the block.
    pub(crate) at: u32,
    /// The [`Op`], and above it the number of the event's extra fields in the block, from 1; 0 for none.
    pub(super) tail: u32,
}

const OP_BITS: u32 = 4;

impl LaneEvent {
    pub(super) const NONE: LaneEvent = LaneEvent::new(0.0, 0, 0, Op::Event, 0);

    pub(super) const fn new(time: f64, argument: u64, at: u32, op: Op, extra: u32) -> Self {
        LaneEvent { time, argument, at, tail: extra << OP_BITS | op as u32 }
    }

    #[inline]
    pub(crate) const fn op(&self) -> Op {
        Op::ALL[(self.tail & ((1 << OP_BITS) - 1)) as usize]
    }

    /// Tells whether the operation is that one: without a look at a table.
    #[inline(always)]
    pub(crate) const fn is(&self, op: Op) -> bool {
        self.tail & ((1 << OP_BITS) - 1) == op as u32
    }

    /// The number of the event's extra fields in the block, from 1; 0 for none.
    #[inline]
    pub(crate) const fn extra(&self) -> u32 {
        self.tail >> OP_BITS
    }
}

/// Fields of a link's event beyond those of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEvent {
    pub(crate) value: Symbol,
    /// The container at this end.
    pub(crate) end: Symbol,
    /// Where the key is with its quotes, as it was written. The text at hand may have that of its [pair](LinkEvent::pair) alone.
    pub(crate) raw_key: Span,
    /// Without them, and the hash of that.
    pub(crate) key: ShortText,
    pub(crate) key_hash: u64,
    /// The number, among the block's links, of the beginning of the link that it ends, if that is known without a look at its key. That
    /// one has the key, with its hash.
    pub(crate) pair: PairNumber,
}

impl LinkEvent {
    /// Looks at all of it: it may lie on two cache lines, and its hash and the length of its key are at its ends.
    #[inline(always)]
    pub(crate) fn look(&self) -> u64 {
        self.key_hash ^ self.key.bytes().1 as u64
    }
}

/// Something in a block that its order in the file matters for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OrderedItem {
    /// A structural event: its number among the block's.
    Structural(u32),
    /// The first use of a lane, and the hash of its container's text.
    Lane(Symbol, u64),
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
    pub(super) kind: StructuralKind,
}

/// Meaning of a structural event, as far as its line tells by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StructuralKind {
    /// Its words, which are read when it is its turn: all that is rare, and all that may be wrong.
    Words,
    /// The number of a value's definition among the block's.
    Value(u32),
    /// The number of a container's beginning or end among the block's.
    Lifetime(u32),
}

/// Contents of a value's definition: the words of its fields, and what can be made of them without
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

/// Beginning or end of a container: the words of its names, and what can be made of the line without knowing what came
/// before. Some traces have a container for each of their tasks: small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    /// In seconds.
    pub(crate) time: f64,
    /// Not a word, but the symbol of its text.
    pub(crate) type_: Symbol,
    pub(crate) name: u8,
    /// The word of its alias; [`Lifetime::NO_WORD`] for none.
    pub(super) alias: u8,
    /// Of a beginning: the word of what it is in.
    pub(super) parent: u8,
    /// Of the text that events call it by.
    pub(crate) hash: u64,
    /// Of what it is in.
    pub(super) parent_hash: u64,
}

impl Lifetime {
    pub(super) const NO_WORD: u8 = u8::MAX;

    /// The word of the alias, if there is one.
    pub(crate) fn alias(&self) -> Option<u8> {
        (self.alias != Lifetime::NO_WORD).then_some(self.alias)
    }

    /// Of a beginning: the word of what the container is in, and the hash of that.
    pub(crate) fn parent(&self) -> Option<(u8, u64)> {
        (self.parent != Lifetime::NO_WORD).then_some((self.parent, self.parent_hash))
    }
}

/// A line that deserves a warning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doubtful {
    pub(crate) at: u32,
    pub(crate) def: u32,
    pub(crate) surplus: bool,
}

/// Contents of one block, decoded; kept and filled again.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    /// Lane events, the strands in the order of `strands`, in file order within each.
    pub(crate) events: Vec<LaneEvent>,
    /// Each strand that has events here, and how many; shard by shard.
    pub(crate) strands: Vec<(StrandSymbol, u32)>,
    /// For each shard, how many strands and how many events come before its own.
    pub(crate) shards: Vec<(u32, u32)>,
    pub(crate) links: Vec<LinkEvent>,
    /// Some of these have pair numbers.
    pub(crate) has_pairs: bool,
    /// In file order, each with the beginning of its line in the block.
    pub(crate) ordered: Vec<(u32, OrderedItem)>,
    pub(crate) structures: Vec<Structure>,
    pub(super) values: Vec<ValueDefinition>,
    pub(super) lifetimes: Vec<Lifetime>,
    pub(crate) words: Vec<Span>,
    pub(crate) doubtful: Vec<Doubtful>,
    /// Extra fields of events: definition, and where in `extra_text`; fields end with newlines.
    pub(crate) extras: Vec<(u32, u32, u32)>,
    /// If lines are kept, or the block has columns: where they end.
    pub(crate) newlines: Vec<u32>,
    pub(crate) extra_text: Vec<u8>,
    /// The first line that could not be decoded; decoding stopped there.
    pub(crate) fault: Option<(u32, Fault)>,
    /// If it goes on instead, all of them.
    pub(crate) faults: Vec<(u32, Fault)>,
    /// The faults of link lines that lack nothing but their keys, which are then empty.
    pub(crate) keyless: Vec<(u32, Fault)>,
    pub(crate) last_time: f64,
    /// Number of lines that hold an event.
    pub(crate) event_count: u64,
    /// Number of lines, empty ones and comments included.
    pub(crate) lines: u64,
    /// If that is asked for: every line, where it begins, and whose it is.
    pub(crate) lines_of: Vec<(u32, StrandSymbol)>,
    /// The definitions up to the end of the block, if it holds a line of one.
    pub(crate) defs: Option<Arc<DefTable>>,
    /// The definitions that lines before the first of these have used.
    pub(crate) used: Vec<u32>,
    /// Start of the first of these lines.
    pub(crate) defs_from: u32,
    /// Lines of the same file behind the block can mean what they could not with the definitions before
    /// it.
    pub(crate) changes: bool,
    /// Further notes on the lines, if they are asked for.
    pub(crate) usage: UsageNotes,
}

impl Decoded {
    /// True if any line could not be decoded.
    pub(crate) const fn has_faults(&self) -> bool {
        self.fault.is_some() || !self.faults.is_empty() || !self.keyless.is_empty()
    }

    /// The value that a structural event defines, if it defines one and all is well with it.
    pub(crate) fn value_of(&self, structure: Structure) -> Option<&ValueDefinition> {
        match structure.kind {
            StructuralKind::Value(number) => self.values.get(number as usize),
            _ => None,
        }
    }

    /// The beginning or the end of a container, if a structural event is one and all is well with it.
    pub(crate) fn lifetime_of(&self, structure: Structure) -> Option<&Lifetime> {
        match structure.kind {
            StructuralKind::Lifetime(number) => self.lifetimes.get(number as usize),
            _ => None,
        }
    }

    /// Bytes of the events that are for a shard.
    pub(crate) fn bytes_for(&self, shard: usize) -> u64 {
        let events = self.shards[shard + 1].1 - self.shards[shard].1;
        u64::from(events) * size_of::<LaneEvent>() as u64
    }

    /// The events of all lanes.
    pub(crate) fn lane_events(&self) -> &[LaneEvent] {
        let count = self.shards.last().map_or(0, |(_, events)| *events as usize);
        &self.events[..count]
    }

    /// Swaps the memory of what only resolving looks at, where this one has less of it.
    pub(crate) fn take_resolved(&mut self, other: &mut Decoded) {
        fn larger<T>(own: &mut Vec<T>, other: &mut Vec<T>) {
            if own.capacity() < other.capacity() {
                std::mem::swap(own, other);
            }
        }
        larger(&mut self.ordered, &mut other.ordered);
        larger(&mut self.structures, &mut other.structures);
        larger(&mut self.values, &mut other.values);
        larger(&mut self.lifetimes, &mut other.lifetimes);
        larger(&mut self.words, &mut other.words);
    }

    pub(super) fn clear(&mut self) {
        self.strands.clear();
        self.links.clear();
        self.has_pairs = false;
        self.ordered.clear();
        self.structures.clear();
        self.values.clear();
        self.lifetimes.clear();
        self.words.clear();
        self.doubtful.clear();
        self.lines_of.clear();
        self.extras.clear();
        self.newlines.clear();
        self.extra_text.clear();
        self.fault = None;
        self.faults.clear();
        self.keyless.clear();
        self.last_time = f64::NEG_INFINITY;
        self.event_count = 0;
        self.defs = None;
        self.changes = false;
        self.used.clear();
        self.usage.clear();
    }
}

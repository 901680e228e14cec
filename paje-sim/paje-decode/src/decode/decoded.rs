use std::sync::Arc;

use paje_parser::color::Color;
use paje_parser::{DefTable, EntityOp, Fault, Span, TypeNature};

use crate::decode::symbols::Symbol;
use crate::decode::usage_notes::UsageNotes;
use paje_model::names::hash::ShortText;

pub type StrandSymbol = u32;

/// Marks a line that has no event to replay.
pub(super) const NO_STRAND: StrandSymbol = StrandSymbol::MAX;

/// Marks a structural line, a line of an event definition, or a line without words.
pub const STRUCTURAL: StrandSymbol = StrandSymbol::MAX - 1;
pub const HEADER: StrandSymbol = StrandSymbol::MAX - 2;
pub const WORDLESS: StrandSymbol = StrandSymbol::MAX - 3;

pub(super) const NOTHING: (StrandSymbol, LaneEvent) = (NO_STRAND, LaneEvent::NONE);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
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
    /// All operations, indexed by their numbers, and padded to the range of [`OP_BITS`].
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

#[derive(Clone, Copy, Debug)]
pub struct LaneEvent {
    pub time: f64,
    /// Symbol of a value, bits of a variable's number, or index of a link in [`Decoded::links`].
    pub argument: u64,
    pub at: u32,
    /// The [`Op`] in the low bits. The remaining bits hold the number that [`LaneEvent::extra`] returns.
    pub(super) tail: u32,
}

const OP_BITS: u32 = 4;

impl LaneEvent {
    pub(super) const NONE: LaneEvent = LaneEvent::new(0.0, 0, 0, Op::Event, 0);

    pub(super) const fn new(time: f64, argument: u64, at: u32, op: Op, extra: u32) -> Self {
        LaneEvent { time, argument, at, tail: extra << OP_BITS | op as u32 }
    }

    #[inline]
    pub const fn op(&self) -> Op {
        Op::ALL[(self.tail & ((1 << OP_BITS) - 1)) as usize]
    }

    /// Returns whether the event has this operation. This is faster than comparing [`LaneEvent::op`].
    #[inline(always)]
    pub const fn is(&self, op: Op) -> bool {
        self.tail & ((1 << OP_BITS) - 1) == op as u32
    }

    /// Returns the number of the entry in [`Decoded::extras`] for this event, counted from 1. Returns 0 if the event
    /// has no user-defined fields.
    #[inline]
    pub const fn extra(&self) -> u32 {
        self.tail >> OP_BITS
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LinkEvent {
    pub value: Symbol,
    pub end: Symbol,
    /// Position of the key as written, with its quotes. In a segment, this may be the position of the key at the link's
    /// other end.
    pub raw_key: Span,
    /// Key without quotes, and its hash.
    pub key: ShortText,
    pub key_hash: u64,
    pub key_at: u32,
}

impl LinkEvent {
    /// Prefetches the whole link. It may cross a cache line, so this reads the fields at both ends.
    #[inline(always)]
    pub fn look(&self) -> u64 {
        self.key_hash ^ self.key.bytes().1 as u64
    }
}

/// A part of a block that must be resolved in file order.
#[derive(Clone, Copy, Debug)]
pub enum OrderedItem {
    Structural(u32),
    /// First use of a lane, and the hash of its container's text.
    Lane(Symbol, u64),
    /// First use of a value, and the hash of its text.
    Value(Symbol, u64),
    LinkEnd(Symbol),
}

#[derive(Clone, Copy, Debug)]
pub struct Structure {
    pub def: u32,
    /// Index of the event's first word among the words of all structural events of the block, and number of the event's
    /// words.
    pub words: (u32, u32),
    pub(super) kind: StructuralKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StructuralKind {
    /// A rare or possibly invalid line, to be parsed when it is resolved.
    Words,
    Value(u32),
    Lifetime(u32),
}

/// Definition of a value: the indices of its words, and everything that can be parsed without earlier lines. Some
/// traces define a value for each task.
#[derive(Clone, Copy, Debug)]
pub struct ValueDefinition {
    pub name: u32,
    pub alias: Option<u32>,
    /// Symbol of the type's name. Unlike the other fields, this is not an index of a word.
    pub type_: Symbol,
    pub color: Option<Color>,
    /// Hash of the identifier, which is the alias or, without an alias, the name.
    pub hash: u64,
}

/// Creation or destruction of a container: the indices of its words, and everything that can be parsed without earlier
/// lines. The struct is small, because some traces have a container for each task.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime {
    pub time: f64,
    /// Symbol of the type's name. Unlike the names below, this is not an index of a word.
    pub type_: Symbol,
    pub name: u8,
    /// Index of the word with the alias, or [`Lifetime::NO_WORD`] without an alias.
    pub(super) alias: u8,
    /// Index of the word with the parent, for a creation.
    pub(super) parent: u8,
    /// Hash of the identifier, which is the alias or, without an alias, the name.
    pub hash: u64,
    pub(super) parent_hash: u64,
}

impl Lifetime {
    pub(super) const NO_WORD: u8 = u8::MAX;

    pub fn alias(&self) -> Option<u8> {
        (self.alias != Lifetime::NO_WORD).then_some(self.alias)
    }

    pub fn parent(&self) -> Option<(u8, u64)> {
        (self.parent != Lifetime::NO_WORD).then_some((self.parent, self.parent_hash))
    }
}

/// A line that may deserve a warning.
#[derive(Clone, Copy, Debug)]
pub struct Doubtful {
    pub at: u32,
    pub def: u32,
    pub surplus: bool,
}

#[derive(Debug, Default)]
pub struct SparseText {
    bytes: Vec<u8>,
    is_used: bool,
}

impl SparseText {
    pub(super) fn fill(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        self.is_used = write(&mut self.bytes);
        self.is_used
    }

    /// Returns the bytes, or `None` if the block was decoded from its text.
    pub fn get(&self) -> Option<&[u8]> {
        self.is_used.then_some(&self.bytes)
    }
}

/// Decoded contents of a block. The memory is reused for the next block.
#[derive(Debug, Default)]
pub struct Decoded {
    pub(crate) sparse: SparseText,
    /// Events of lanes: strand by strand in the order of `strands`, and in file order within each strand.
    pub events: Vec<LaneEvent>,
    /// Strands with events, and the number of events of each, shard by shard.
    pub strands: Vec<(StrandSymbol, u32)>,
    /// For each shard, how many strands and how many events the previous shards have.
    pub shards: Vec<(u32, u32)>,
    pub links: Vec<LinkEvent>,
    /// Items in file order, each with the start of its line in the block.
    pub ordered: Vec<(u32, OrderedItem)>,
    pub structures: Vec<Structure>,
    pub(super) values: Vec<ValueDefinition>,
    pub(super) lifetimes: Vec<Lifetime>,
    pub words: Vec<Span>,
    pub doubtful: Vec<Doubtful>,
    /// User-defined fields of events: index of the definition, and range in `extra_text`, where a newline follows each
    /// field.
    pub extras: Vec<(u32, u32, u32)>,
    /// Ends of the lines. Filled only if lines are kept or the block has columns.
    pub(crate) newlines: Vec<u32>,
    pub extra_text: Vec<u8>,
    pub fault: Option<(u32, Fault)>,
    pub faults: Vec<(u32, Fault)>,
    /// Faults of link lines that lack only their keys. These lines are decoded with empty keys.
    pub keyless: Vec<(u32, Fault)>,
    pub last_time: f64,
    pub event_count: u64,
    /// Number of lines. Empty lines and comments count.
    pub lines: u64,
    /// Start and owner of each line. Filled only for a ledger.
    pub lines_of: Vec<(u32, StrandSymbol)>,
    pub defs: Option<Arc<DefTable>>,
    /// Indices of the definitions that events before the block's first `%` line use.
    pub used: Vec<u32>,
    /// Offset of the first `%` line.
    pub(crate) defs_from: u32,
    /// Whether later lines of the file may need other definitions than this block.
    pub changes: bool,
    pub usage: UsageNotes,
}

impl Decoded {
    pub const fn has_faults(&self) -> bool {
        self.fault.is_some() || !self.faults.is_empty() || !self.keyless.is_empty()
    }

    pub fn value_of(&self, structure: Structure) -> Option<&ValueDefinition> {
        match structure.kind {
            StructuralKind::Value(number) => self.values.get(number as usize),
            _ => None,
        }
    }

    pub fn lifetime_of(&self, structure: Structure) -> Option<&Lifetime> {
        match structure.kind {
            StructuralKind::Lifetime(number) => self.lifetimes.get(number as usize),
            _ => None,
        }
    }

    pub fn lane_events(&self) -> &[LaneEvent] {
        let count = self.shards.last().map_or(0, |(_, events)| *events as usize);
        &self.events[..count]
    }

    /// Takes from another block the memory that only resolving uses, if that block has more of it.
    pub fn take_resolved(&mut self, other: &mut Decoded) {
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
        self.sparse.is_used = false;
        self.strands.clear();
        self.links.clear();
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

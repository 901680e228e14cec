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
    /// All operations by number, padded to the range of [`OP_BITS`].
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
    /// In seconds.
    pub time: f64,
    /// Symbol of a value, bits of a variable's number, or index in the block's links.
    pub argument: u64,
    pub at: u32,
    /// The [`Op`] in the low bits. Above it is the number of the event's extra fields in the block, from 1, or 0 if
    /// there are none.
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

    /// Returns the number of the event's extra fields in the block, from 1, or 0 if there are none.
    #[inline]
    pub const fn extra(&self) -> u32 {
        self.tail >> OP_BITS
    }
}

#[derive(Clone, Copy, Debug)]
pub struct LinkEvent {
    pub value: Symbol,
    pub end: Symbol,
    /// Key as written, with its quotes. In a segment, this may be the position of the key at the link's other end.
    pub raw_key: Span,
    /// Key without quotes, and its hash.
    pub key: ShortText,
    pub key_hash: u64,
    /// Position of the key in the event's own line.
    pub key_at: u32,
}

impl LinkEvent {
    /// Prefetches the whole link. It may cross a cache line, so this reads the fields at both ends.
    #[inline(always)]
    pub fn look(&self) -> u64 {
        self.key_hash ^ self.key.bytes().1 as u64
    }
}

/// An item of a block whose order in the file matters.
#[derive(Clone, Copy, Debug)]
pub enum OrderedItem {
    Structural(u32),
    /// First use of a lane, and the hash of its container's text.
    Lane(Symbol, u64),
    /// First use of a value, and the hash of its text.
    Value(Symbol, u64),
    /// First use of a container as a link's end.
    LinkEnd(Symbol),
}

#[derive(Clone, Copy, Debug)]
pub struct Structure {
    pub def: u32,
    /// Index of the event's first word among the words of the block's structural events, and the number of its words.
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

/// Definition of a value: the words of its fields, and what can be parsed without earlier lines. Some traces define a
/// value for each task.
#[derive(Clone, Copy, Debug)]
pub struct ValueDefinition {
    pub name: u32,
    pub alias: Option<u32>,
    /// Symbol of the type's name, not a word.
    pub type_: Symbol,
    pub color: Option<Color>,
    /// Hash of the alias, or else of the name.
    pub hash: u64,
}

/// Creation or destruction of a container: the words of its names, and what can be parsed without earlier lines. This
/// struct is small, because some traces have a container for each task.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime {
    /// In seconds.
    pub time: f64,
    /// Symbol of the type's name, not a word.
    pub type_: Symbol,
    pub name: u8,
    /// Word of the alias, or [`Lifetime::NO_WORD`] without an alias.
    pub(super) alias: u8,
    /// Word of the parent, for a creation.
    pub(super) parent: u8,
    /// Hash of the alias or, without an alias, of the name.
    pub hash: u64,
    pub(super) parent_hash: u64,
}

impl Lifetime {
    pub(super) const NO_WORD: u8 = u8::MAX;

    pub fn alias(&self) -> Option<u8> {
        (self.alias != Lifetime::NO_WORD).then_some(self.alias)
    }

    /// Returns the word of the parent and the hash of its text, for a creation.
    pub fn parent(&self) -> Option<(u8, u64)> {
        (self.parent != Lifetime::NO_WORD).then_some((self.parent, self.parent_hash))
    }
}

/// A line that deserves a warning.
#[derive(Clone, Copy, Debug)]
pub struct Doubtful {
    pub at: u32,
    pub def: u32,
    pub surplus: bool,
}

/// The parts of a segment's text that its decoded lines refer to. Other parts were never written.
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
    /// Events of lanes: strand by strand in the order of `strands`, and in file order within each.
    pub events: Vec<LaneEvent>,
    /// Strands with events, and their numbers of events, shard by shard.
    pub strands: Vec<(StrandSymbol, u32)>,
    /// For each shard, the numbers of strands and events of the shards before it.
    pub shards: Vec<(u32, u32)>,
    pub links: Vec<LinkEvent>,
    /// Items in file order, each with the start of its line in the block.
    pub ordered: Vec<(u32, OrderedItem)>,
    pub structures: Vec<Structure>,
    pub(super) values: Vec<ValueDefinition>,
    pub(super) lifetimes: Vec<Lifetime>,
    pub words: Vec<Span>,
    pub doubtful: Vec<Doubtful>,
    /// Extra fields of events: definition and range in `extra_text`, where each field ends with a newline.
    pub extras: Vec<(u32, u32, u32)>,
    /// Ends of lines, if lines are kept or the block has columns.
    pub(crate) newlines: Vec<u32>,
    pub extra_text: Vec<u8>,
    /// First invalid line, where decoding stopped.
    pub fault: Option<(u32, Fault)>,
    /// All invalid lines, if decoding continues after invalid lines.
    pub faults: Vec<(u32, Fault)>,
    /// Faults of link lines that lack only their keys. Their keys are empty.
    pub keyless: Vec<(u32, Fault)>,
    pub last_time: f64,
    pub event_count: u64,
    /// Number of lines, including empty ones and comments.
    pub lines: u64,
    /// Start and owner of every line. Filled only for a ledger.
    pub lines_of: Vec<(u32, StrandSymbol)>,
    /// Definitions at the end of the block, if it has lines of definitions.
    pub defs: Option<Arc<DefTable>>,
    /// Definitions used before the first line of a definition.
    pub used: Vec<u32>,
    /// Start of the first line of a definition.
    pub(crate) defs_from: u32,
    /// Whether the definitions before the block no longer apply to later lines of the file.
    pub changes: bool,
    /// Notes on the use of definitions, if they are kept.
    pub usage: UsageNotes,
}

impl Decoded {
    pub const fn has_faults(&self) -> bool {
        self.fault.is_some() || !self.faults.is_empty() || !self.keyless.is_empty()
    }

    /// Returns the value that a structural event defines, if its line is valid.
    pub fn value_of(&self, structure: Structure) -> Option<&ValueDefinition> {
        match structure.kind {
            StructuralKind::Value(number) => self.values.get(number as usize),
            _ => None,
        }
    }

    /// Returns the creation or destruction of a container, if the structural event is valid.
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

    /// Takes over memory that only resolving uses from another block, if that block has more.
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

//! Decoded form of a block.

use std::sync::Arc;

use paje_parser::color::Color;
use paje_parser::{DefTable, EntityOp, Fault, Span, TypeNature};

use crate::decode::symbols::Symbol;
use crate::decode::usage_notes::UsageNotes;
use crate::names::hash::ShortText;

/// The number of a strand in one decoder.
pub(crate) type StrandSymbol = u32;

/// Stands for no strand: the line has no event that is replayed.
pub(super) const NO_STRAND: StrandSymbol = StrandSymbol::MAX;

/// Stand for no strand: a structural line, a line of an event definition, a line without words.
pub(crate) const STRUCTURAL: StrandSymbol = StrandSymbol::MAX - 1;
pub(crate) const HEADER: StrandSymbol = StrandSymbol::MAX - 2;
pub(crate) const WORDLESS: StrandSymbol = StrandSymbol::MAX - 3;

/// Stands for no event.
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
    /// All operations by number, filled up to what [`OP_BITS`] can hold.
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

    /// Whether it is the start or the end of a link.
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
    /// Symbol of a value, bits of a variable's number, or index into the block's links.
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

    /// Whether the operation is that one; faster than comparing [`LaneEvent::op`].
    #[inline(always)]
    pub(crate) const fn is(&self, op: Op) -> bool {
        self.tail & ((1 << OP_BITS) - 1) == op as u32
    }

    /// Returns the number of the event's extra fields in the block, from 1; 0 for none.
    #[inline]
    pub(crate) const fn extra(&self) -> u32 {
        self.tail >> OP_BITS
    }
}

/// Further fields of a link's event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkEvent {
    pub(crate) value: Symbol,
    /// The container at this end.
    pub(crate) end: Symbol,
    /// Key as written, with its quotes. In a segment this may be where the link's other end wrote it.
    pub(crate) raw_key: Span,
    /// Key without quotes, and its hash.
    pub(crate) key: ShortText,
    pub(crate) key_hash: u64,
    /// Where the key stands in the event's own line.
    pub(crate) key_at: u32,
}

impl LinkEvent {
    /// Looks at all of it: it may lie on two cache lines, and its hash and the length of its key are at its ends.
    #[inline(always)]
    pub(crate) fn look(&self) -> u64 {
        self.key_hash ^ self.key.bytes().1 as u64
    }
}

/// Something in a block whose order in the file matters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OrderedItem {
    /// A structural event: its index among the block's.
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
    /// Index of its first word among those of the block's structural events, and their number.
    pub(crate) words: (u32, u32),
    pub(super) kind: StructuralKind,
}

/// Kind of a structural event, as far as its line alone shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StructuralKind {
    /// Unparsed: rare or possibly invalid lines, which resolving reads.
    Words,
    /// Index of a value's definition in the block.
    Value(u32),
    /// Index of a container's creation or destruction in the block.
    Lifetime(u32),
}

/// Definition of a value: the words of its fields, and what can be read without knowing the lines before.
/// Some traces define a value for each task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueDefinition {
    pub(crate) name: u32,
    pub(crate) alias: Option<u32>,
    /// Symbol of the type's name, not a word.
    pub(crate) type_: Symbol,
    pub(crate) color: Option<Color>,
    /// Hash of the alias, or else of the name.
    pub(crate) hash: u64,
}

/// Creation or destruction of a container: the words of its names, and what can be read without knowing the
/// lines before. Small, for some traces have a container for each task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    /// In seconds.
    pub(crate) time: f64,
    /// Symbol of the type's name, not a word.
    pub(crate) type_: Symbol,
    pub(crate) name: u8,
    /// Word of the alias; [`Lifetime::NO_WORD`] for none.
    pub(super) alias: u8,
    /// For a creation: word of the parent.
    pub(super) parent: u8,
    /// Hash of the alias, or else of the name.
    pub(crate) hash: u64,
    /// Hash of the parent's name.
    pub(super) parent_hash: u64,
}

impl Lifetime {
    pub(super) const NO_WORD: u8 = u8::MAX;

    /// Returns the word of the alias, if there is one.
    pub(crate) fn alias(&self) -> Option<u8> {
        (self.alias != Lifetime::NO_WORD).then_some(self.alias)
    }

    /// For a creation: returns the word of the parent and the hash of its text.
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

/// The bytes of a segment's text that its decoded lines refer to. Others were never written.
#[derive(Debug, Default)]
pub(crate) struct SparseText {
    bytes: Vec<u8>,
    is_used: bool,
}

impl SparseText {
    /// Fills the text, if `write` returns true.
    pub(super) fn fill(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        self.is_used = write(&mut self.bytes);
        self.is_used
    }

    /// Returns the bytes, or `None` if the block was decoded from its text.
    pub(crate) fn get(&self) -> Option<&[u8]> {
        self.is_used.then_some(&self.bytes)
    }
}

/// Decoded contents of a block. The memory is reused for the next one.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) sparse: SparseText,
    /// Events of lanes: strand by strand in the order of `strands`, and in file order within each.
    pub(crate) events: Vec<LaneEvent>,
    /// Strands that have events here, with their numbers of events, shard by shard.
    pub(crate) strands: Vec<(StrandSymbol, u32)>,
    /// For each shard, the numbers of strands and events before its own.
    pub(crate) shards: Vec<(u32, u32)>,
    pub(crate) links: Vec<LinkEvent>,
    /// In file order, each with the start of its line in the block.
    pub(crate) ordered: Vec<(u32, OrderedItem)>,
    pub(crate) structures: Vec<Structure>,
    pub(super) values: Vec<ValueDefinition>,
    pub(super) lifetimes: Vec<Lifetime>,
    pub(crate) words: Vec<Span>,
    pub(crate) doubtful: Vec<Doubtful>,
    /// Extra fields of events: definition and range in `extra_text`, where a newline ends each field.
    pub(crate) extras: Vec<(u32, u32, u32)>,
    /// Ends of lines, if lines are kept or the block has columns.
    pub(crate) newlines: Vec<u32>,
    pub(crate) extra_text: Vec<u8>,
    /// The first invalid line, where decoding stopped.
    pub(crate) fault: Option<(u32, Fault)>,
    /// All invalid lines, if decoding goes on.
    pub(crate) faults: Vec<(u32, Fault)>,
    /// Faults of link lines that only lack their keys, which are then empty.
    pub(crate) keyless: Vec<(u32, Fault)>,
    pub(crate) last_time: f64,
    /// Number of lines that hold an event.
    pub(crate) event_count: u64,
    /// Number of lines, empty ones and comments included.
    pub(crate) lines: u64,
    /// Start and owner of every line; filled only for a ledger.
    pub(crate) lines_of: Vec<(u32, StrandSymbol)>,
    /// The definitions at the end of the block, if it holds a line of one.
    pub(crate) defs: Option<Arc<DefTable>>,
    /// The definitions used before the first of these lines.
    pub(crate) used: Vec<u32>,
    /// Start of the first of these lines.
    pub(crate) defs_from: u32,
    /// Whether lines of the same file behind the block can mean something else than with the definitions
    /// before it.
    pub(crate) changes: bool,
    /// Notes on the use of definitions, if they are kept.
    pub(crate) usage: UsageNotes,
}

impl Decoded {
    /// Whether any line was invalid.
    pub(crate) const fn has_faults(&self) -> bool {
        self.fault.is_some() || !self.faults.is_empty() || !self.keyless.is_empty()
    }

    /// Returns the value that a structural event defines, if its line is valid.
    pub(crate) fn value_of(&self, structure: Structure) -> Option<&ValueDefinition> {
        match structure.kind {
            StructuralKind::Value(number) => self.values.get(number as usize),
            _ => None,
        }
    }

    /// Returns the creation or destruction of a container, if a structural event is a valid one.
    pub(crate) fn lifetime_of(&self, structure: Structure) -> Option<&Lifetime> {
        match structure.kind {
            StructuralKind::Lifetime(number) => self.lifetimes.get(number as usize),
            _ => None,
        }
    }

    /// Returns the events of all lanes.
    pub(crate) fn lane_events(&self) -> &[LaneEvent] {
        let count = self.shards.last().map_or(0, |(_, events)| *events as usize);
        &self.events[..count]
    }

    /// Takes the memory that only resolving uses from another block that has more of it.
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

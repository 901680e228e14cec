//! The names of lines as one text: type, container, value, and the other end of a link.
//!
//! Most lines of a trace have few of them: as many as ranks times functions, or ranks times kinds of messages. Where
//! there are more, each name by itself is in a nearer cache than all of them together, and so tails are given up.

use crate::decode::decoded::{Op, StrandSymbol};
use crate::decode::symbols::{Symbol, WordTable, Words};
use crate::names::hash::Word;

/// The strand and the symbols that the names of a line stand for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineNames {
    /// The first strand of the lane.
    pub(super) strand: StrandSymbol,
    pub(super) value: Symbol,
    /// Of a link.
    pub(super) end: Symbol,
}

impl LineNames {
    /// A tail or none as two numbers, which a function returns in registers: strand and value; the end, or more than any.
    #[inline(always)]
    pub(super) fn halves(names: Option<Self>) -> (u64, u64) {
        let of = |names: LineNames| u64::from(names.strand) | u64::from(names.value) << 32;
        names.map_or((0, u64::MAX), |names| (of(names), u64::from(names.end)))
    }

    /// The tail of these numbers.
    #[inline(always)]
    pub(super) fn of_halves((of_lane, end): (u64, u64)) -> Option<Self> {
        let end = u32::try_from(end).ok()?;
        Some(LineNames { strand: of_lane as u32, value: (of_lane >> 32) as u32, end })
    }
}

/// The tails that a decoder has met.
#[derive(Debug)]
pub(super) struct LineNamesTable {
    known: WordTable<LineNames, true>,
    /// The number of those that may yet come.
    left: usize,
}

/// The tails that a decoder knows at the moment; where they are stays in registers.
#[derive(Clone, Copy)]
pub(super) struct LineNamesSlots<'a> {
    known: Words<'a, LineNames>,
}

impl LineNamesSlots<'_> {
    /// The tail of an event with such an operation, whose names are this text; the context is that of its type and container.
    #[inline(always)]
    pub(super) fn find(self, word: Word, context: u64, op: Op) -> Option<LineNames> {
        self.known.find_salted(word, context, op as u64)
    }
}

impl LineNamesTable {
    /// As many as that, or none.
    pub(super) fn new(most: usize) -> Self {
        LineNamesTable { known: WordTable::default(), left: most }
    }

    /// Looks at all of them.
    pub(super) fn look_at_all(&self) -> u64 {
        self.known.look_at_all()
    }

    /// Tells whether there may be any.
    #[inline(always)]
    pub(super) const fn is_used(&self) -> bool {
        self.left > 0
    }

    /// The tails, to look many up.
    #[inline(always)]
    pub(super) fn at_hand(&self) -> LineNamesSlots<'_> {
        LineNamesSlots { known: self.known.at_hand() }
    }

    /// Adds a tail that is not known.
    pub(super) fn insert(&mut self, word: Word, context: u64, op: Op, names: LineNames) {
        let context = context | (op as u64) << WordTable::<LineNames, true>::SALT;
        self.left = self.left.saturating_sub(1);
        match self.left {
            0 => self.known = WordTable::default(),
            _ => self.known.insert(word, context, names),
        }
    }
}

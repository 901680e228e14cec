//! Looks up all names of a line as one text: type, container, value, and the other end of a link.
//!
//! Most traces have few such texts: about ranks × functions, or ranks × kinds of messages. If there are more,
//! looking names up one by one needs less cache, and this table is given up.

use crate::decode::decoded::{Op, StrandSymbol};
use crate::decode::symbols::{Symbol, WordTable, Words};
use crate::names::hash::Word;

/// The strand and the symbols of a line's names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineNames {
    /// The first strand of the lane.
    pub(super) strand: StrandSymbol,
    pub(super) value: Symbol,
    /// The container at a link's end.
    pub(super) end: Symbol,
}

impl LineNames {
    /// Returns names as two numbers, which fit in registers: strand and value; and the end, or `u64::MAX` for
    /// no names.
    #[inline(always)]
    pub(super) fn halves(names: Option<Self>) -> (u64, u64) {
        let of = |names: LineNames| u64::from(names.strand) | u64::from(names.value) << 32;
        names.map_or((0, u64::MAX), |names| (of(names), u64::from(names.end)))
    }

    /// Returns the names of these numbers.
    #[inline(always)]
    pub(super) fn of_halves((of_lane, end): (u64, u64)) -> Option<Self> {
        let end = u32::try_from(end).ok()?;
        Some(LineNames { strand: of_lane as u32, value: (of_lane >> 32) as u32, end })
    }
}

/// Texts of lines' names that a decoder has met.
#[derive(Debug)]
pub(super) struct LineNamesTable {
    known: WordTable<LineNames, true>,
    /// Number of texts that may still be added.
    left: usize,
}

/// Borrowed slots of the table, so that the pointer stays in a register.
#[derive(Clone, Copy)]
pub(super) struct LineNamesSlots<'a> {
    known: Words<'a, LineNames>,
}

impl LineNamesSlots<'_> {
    /// Returns the names of an event with this operation and this text, in the context of its type and
    /// container.
    #[inline(always)]
    pub(super) fn find(self, word: Word, context: u64, op: Op) -> Option<LineNames> {
        self.known.find_salted(word, context, op as u64)
    }
}

impl LineNamesTable {
    /// Creates a table for at most this many texts.
    pub(super) fn new(most: usize) -> Self {
        LineNamesTable { known: WordTable::default(), left: most }
    }

    /// Whether it has not been given up.
    #[inline(always)]
    pub(super) const fn is_used(&self) -> bool {
        self.left > 0
    }

    /// Borrows the slots, for many lookups.
    #[inline(always)]
    pub(super) fn at_hand(&self) -> LineNamesSlots<'_> {
        LineNamesSlots { known: self.known.at_hand() }
    }

    /// Adds an unknown text.
    pub(super) fn insert(&mut self, word: Word, context: u64, op: Op, names: LineNames) {
        let context = context | (op as u64) << WordTable::<LineNames, true>::SALT;
        self.left = self.left.saturating_sub(1);
        match self.left {
            0 => self.known = WordTable::default(),
            _ => self.known.insert(word, context, names),
        }
    }
}

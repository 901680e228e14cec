//! Looks up all names of a line as one text: type, container, value, and the other end of a link.
//!
//! Most traces have only a small number of such texts: about ranks × functions, or ranks × kinds of messages. If there
//! are more texts, the table is dropped, because looking names up one by one needs less cache.

use crate::decode::decoded::{Op, StrandSymbol};
use crate::decode::symbols::{Symbol, WordTable, Words};
use paje_model::names::hash::Word;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineNames {
    pub(super) strand: StrandSymbol,
    pub(super) value: Symbol,
    pub(super) end: Symbol,
}

impl LineNames {
    /// Packs names into two numbers, which fit in registers. The first number holds the strand and the value. The
    /// second number holds the end, or `u64::MAX` for no names.
    #[inline(always)]
    pub(super) fn halves(names: Option<Self>) -> (u64, u64) {
        let of = |names: LineNames| u64::from(names.strand) | u64::from(names.value) << 32;
        names.map_or((0, u64::MAX), |names| (of(names), u64::from(names.end)))
    }

    #[inline(always)]
    pub(super) fn of_halves((of_lane, end): (u64, u64)) -> Option<Self> {
        let end = u32::try_from(end).ok()?;
        Some(LineNames { strand: of_lane as u32, value: (of_lane >> 32) as u32, end })
    }
}

#[derive(Debug)]
pub(super) struct LineNamesTable {
    known: WordTable<LineNames, true>,
    left: usize,
}

/// Borrowed slots of the table, so that the pointer stays in a register.
#[derive(Clone, Copy)]
pub(super) struct LineNamesSlots<'a> {
    known: Words<'a, LineNames>,
}

impl LineNamesSlots<'_> {
    /// Returns the names of a line, given its operation, its text, and the context of its type and container.
    #[inline(always)]
    pub(super) fn find(self, word: Word, context: u64, op: Op) -> Option<LineNames> {
        self.known.find_salted(word, context, op as u64)
    }
}

impl LineNamesTable {
    pub(super) fn new(most: usize) -> Self {
        LineNamesTable { known: WordTable::default(), left: most }
    }

    #[inline(always)]
    pub(super) const fn is_used(&self) -> bool {
        self.left > 0
    }

    #[inline(always)]
    pub(super) fn slots(&self) -> LineNamesSlots<'_> {
        LineNamesSlots { known: self.known.slots() }
    }

    pub(super) fn insert(&mut self, word: Word, context: u64, op: Op, names: LineNames) {
        let context = context | (op as u64) << WordTable::<LineNames, true>::SALT;
        self.left = self.left.saturating_sub(1);
        match self.left {
            0 => self.known = WordTable::default(),
            _ => self.known.insert(word, context, names),
        }
    }
}

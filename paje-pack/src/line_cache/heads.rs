//! Beginnings of lines, which say where their holes are.

use std::ops::Range;

use super::{COUNT, SPREAD};
use crate::lines::holes;
use crate::template::Roles;
use crate::texts::{Key, SHORT};

/// Places for beginnings of lines; half of them are empty, so that each search ends.
const HEADS: usize = 64;

/// A hole in lines of an event: the number of fields between it and the one before, and its kind.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub(super) skip: u8,
    pub(super) kind: u8,
}

/// Lines that begin with the same word, up to their second field: their holes, in the list of all.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    word: u64,
    first: u32,
    end: u32,
    /// For the second hole and the third: one more than the fields between it and the one before, or 0 if there is none; the first is [`MANY`]
    /// if the first hole is not the second field, or there are more.
    pub(super) others: [u8; 2],
}

/// More holes than a quick look is for.
pub(super) const MANY: u8 = u8::MAX;

/// The beginnings that are known.
pub(crate) struct Heads {
    /// Each where its word says, or behind that.
    heads: [Head; HEADS],
    count: usize,
    nexts: Vec<Next>,
}

impl Default for Heads {
    fn default() -> Self {
        Heads { heads: [Head::default(); HEADS], count: 0, nexts: Vec::new() }
    }
}

impl Heads {
    /// Head of lines with this first word.
    #[inline(always)]
    pub(super) fn get(&self, word: u64) -> Option<&Head> {
        let mut at = place_of(word);
        loop {
            let head = &self.heads[at % HEADS];
            if head.word == word {
                return Some(head);
            }
            if head.word == 0 {
                return None;
            }
            at += 1;
        }
    }

    pub(super) fn holes(&self, head: Head) -> &[Next] {
        &self.nexts[head.first as usize..head.end as usize]
    }

    /// Takes in the first word of a line, in which the code of its event is; none if that is unknown.
    #[cold]
    pub(super) fn learn(&mut self, word: u64, code: Range<usize>, roles: &Roles) -> Option<Head> {
        let len = code.end - code.start;
        let bytes = word >> (8 * code.start) & !(u64::MAX << (8 * len));
        // Such lines are parts of definitions.
        if len > SHORT || bytes as u8 == b'%' {
            return None;
        }
        let given = roles.holes(Key::short(bytes, len))?;
        if self.count >= HEADS / 2 {
            *self = Heads::default();
        }
        let (first, mut skip) = (self.nexts.len(), 0);
        for role in given {
            if *role > holes::LANE {
                self.nexts.push(Next { skip, kind: *role });
                skip = 0;
            } else {
                skip = u8::checked_add(skip, 1).filter(|skip| *skip < MANY - 1)?;
            }
        }
        let others = match self.nexts[first..] {
            [Next { skip: 0, .. }] => [0; 2],
            [Next { skip: 0, .. }, Next { skip, .. }] => [skip + 1, 0],
            [Next { skip: 0, .. }, Next { skip: second, .. }, Next { skip, .. }] => {
                [second + 1, skip + 1]
            }
            _ => [MANY, 0],
        };
        let head = Head { word, first: first as u32, end: self.nexts.len() as u32, others };
        let mut at = place_of(word);
        while self.heads[at % HEADS].word != 0 {
            at += 1;
        }
        self.heads[at % HEADS] = head;
        self.count += 1;
        Some(head)
    }
}

/// Returns the first `len` bytes of a line as a word, up to its second field.
#[inline(always)]
pub(super) const fn word_of(bytes: u64, len: usize) -> u64 {
    bytes & !(u64::MAX << (8 * len)) | (len as u64) << COUNT
}

/// Place where a first word is looked for.
#[inline(always)]
const fn place_of(word: u64) -> usize {
    (word.wrapping_mul(SPREAD) >> 58) as usize
}

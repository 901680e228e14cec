//! First words of lines, which determine where the holes are.

use super::{BYTES, COUNT, SPREAD};
use crate::lines::holes;
use crate::template::Definitions;

/// Size of the table of first words. Half of the entries stay empty, so each search ends.
const HEADS: usize = 64;

/// A hole: its kind, and the number of fields between it and the previous hole.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub(super) skip: u8,
    pub(super) kind: u8,
}

/// Lines that are equal up to their second field. `first..end` is the range of their holes in the
/// list of all holes.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    word: u64,
    first: u32,
    end: u32,
    /// For the second and the third hole: one plus the number of fields between the hole and the
    /// previous hole, or 0 if the hole does not exist. The first number is [`MANY`] if the second
    /// field is not a hole, or if there are more than three holes.
    pub(super) others: [u8; 2],
}

/// Marks lines with more holes than the fast path supports.
pub(super) const MANY: u8 = u8::MAX;

pub(crate) struct Heads {
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

    /// Adds the first word of a line of the usual form, if its event is known. `bytes` are the
    /// first bytes of the line, and the bits of `ends` mark the ends of its fields.
    pub(crate) fn learn(&mut self, bytes: &[u8; 8], ends: u64, roles: &Definitions) {
        let len = ends.trailing_zeros() as usize;
        if len < BYTES {
            let word = word_of(u64::from_le_bytes(*bytes), len + 1);
            if self.get(word).is_none() {
                let _ = self.put(word, len, roles);
            }
        }
    }

    /// Adds a first word that begins with an event number of `len` bytes. Returns `None` if the
    /// fast path does not support the event.
    #[cold]
    fn put(&mut self, word: u64, len: usize, roles: &Definitions) -> Option<()> {
        // Lines that begin with a percent sign are parts of definitions.
        if len > BYTES || word as u8 == b'%' {
            return None;
        }
        let given = roles.holes(&word.to_le_bytes()[..len])?;
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
        Some(())
    }
}

/// Returns the first `len` bytes of a line, up to its second field, as a word.
#[inline(always)]
pub(super) const fn word_of(bytes: u64, len: usize) -> u64 {
    bytes & !(u64::MAX << (8 * len)) | (len as u64) << COUNT
}

/// Returns the index in the table where the search for a first word begins.
#[inline(always)]
const fn place_of(word: u64) -> usize {
    (word.wrapping_mul(SPREAD) >> 58) as usize
}

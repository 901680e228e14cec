//! Types and containers that stand side by side, as one text, to the lanes that they name.
//!
//! A decoder asks this of almost every line, and a trace may have a million lanes: a slot is three words, and a large
//! table is filled to four fifths and grows by half. There, each look-up is a line of memory that nothing has looked
//! at for long, so those of many lines are [fetched](PairTable::look) side by side before the lines are decoded.

use crate::decode::decoded::StrandSymbol;
use crate::decode::symbols::Symbol;
use crate::names::hash::{Word, hash_salted};

/// Lane as a decoder knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownLane {
    pub(super) type_: Symbol,
    /// Its first strand; a link lane has as many as [`Partitioning`](crate::decode::partitioning::Partitioning) says, one after the
    /// other.
    pub(super) strand: StrandSymbol,
}

/// A text's two words; then its context, the lane's type and its first strand, or 0 in a free slot.
type Slot = [u64; 3];

/// Bits of a slot's last word for the [context](crate::decode::plan::Plan::pair_context), and for the type.
const CONTEXT: u32 = 9;
const TYPE: u32 = 32 - CONTEXT;

/// With more slots than this, the table does not stay in a core's second-level cache.
const LARGE: usize = 1 << 14;

/// Lanes by the texts of their types and containers.
#[derive(Clone, Debug)]
pub(super) struct PairTable {
    slots: Vec<Slot>,
    len: usize,
}

/// The pairs of a table; where they are stays in registers.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'a> {
    slots: &'a [Slot],
}

impl Pairs<'_> {
    /// The first slot to look at.
    #[inline(always)]
    fn home(self, word: Word) -> usize {
        // Contexts are few, and hardly ever two of one text.
        let hash = u128::from(hash_salted(word, 0));
        ((hash * self.slots.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    const fn next(self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// The lane of a pair.
    #[inline(always)]
    pub(super) fn find(self, word: Word, context: u64) -> Option<KnownLane> {
        let mut at = self.home(word);
        loop {
            let slot = self.slots.get(at)?;
            let other = (slot[2] ^ context) & ((1 << CONTEXT) - 1);
            // One question of all that must be equal. No pair has the context of a free slot.
            if (slot[0] ^ word[0]) | (slot[1] ^ word[1]) | other == 0 {
                let type_ = (slot[2] as u32) >> CONTEXT;
                return Some(KnownLane { type_, strand: (slot[2] >> 32) as u32 });
            }
            if slot[2] == 0 {
                return None;
            }
            at = self.next(at);
        }
    }
}

impl Default for PairTable {
    fn default() -> Self {
        PairTable { slots: vec![[0; 3]; 64], len: 0 }
    }
}

impl PairTable {
    /// The pairs, to look many up.
    #[inline(always)]
    pub(super) fn at_hand(&self) -> Pairs<'_> {
        Pairs { slots: &self.slots }
    }

    /// The lane of a pair.
    #[inline(always)]
    pub(super) fn find(&self, word: Word, context: u64) -> Option<KnownLane> {
        self.at_hand().find(word, context)
    }

    /// Tells whether looks ahead pay.
    pub(super) const fn is_large(&self) -> bool {
        self.slots.len() > LARGE
    }

    /// Looks at where [`PairTable::find`] will.
    #[inline(always)]
    pub(super) fn look(&self, word: Word) -> u64 {
        let slot = self.slots.get(self.at_hand().home(word));
        // The slot may lie in two lines of the cache.
        slot.map_or(0, |slot| slot[0] ^ slot[2])
    }

    /// Number of pairs.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Adds a pair that is not known; returns whether it did: one of a type with too large a number goes on being looked
    /// up by names.
    pub(super) fn insert(&mut self, word: Word, context: u64, lane: KnownLane) -> bool {
        if lane.type_ >> TYPE != 0 {
            return false;
        }
        // While the table is small, sparse: a second look costs a wrong guess of the processor. A large one
        // is not in the caches anyway, and the next slots come with the first.
        let size = self.slots.len();
        let (full, larger) = match size {
            ..=4096 => (size / 4, 2 * size),
            4097..=65_536 => (size / 2, 2 * size),
            _ => (size / 5 * 4, size / 2 * 3),
        };
        if self.len + 1 > full {
            let larger = vec![[0; 3]; larger];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot[2] != 0 {
                    self.place(slot);
                }
            }
        }
        self.len += 1;
        let type_ = u64::from(lane.type_) << CONTEXT;
        self.place([word[0], word[1], context | type_ | u64::from(lane.strand) << 32]);
        true
    }

    fn place(&mut self, slot: Slot) {
        let mut at = self.at_hand().home([slot[0], slot[1]]);
        while self.slots[at][2] != 0 {
            at = self.at_hand().next(at);
        }
        self.slots[at] = slot;
    }

    /// Forgets all pairs, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.slots.fill([0; 3]);
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn context(number: u64) -> u64 {
        ((3 + number % 14) << 4) | (number % 10)
    }

    #[test]
    fn equals_a_plain_map() {
        let mut table = PairTable::default();
        let mut plain = HashMap::new();
        for round in 0..2 {
            for number in 0..150_000_u64 {
                let number = number * number % 130_003;
                let (word, context) = ([number / 3, number % 5], context(number));
                let known = table.find(word, context).map(|lane| (lane.type_, lane.strand));
                assert_eq!(known, plain.get(&(word, context)).copied(), "round {round}");
                if known.is_none() {
                    let (type_, strand) = (number as u32 % (1 << TYPE), u32::MAX - number as u32);
                    table.insert(word, context, KnownLane { type_, strand });
                    plain.insert((word, context), (type_, strand));
                }
            }
            assert!(table.is_large());
            table.clear();
            plain.clear();
        }
    }

    #[test]
    fn a_type_with_too_large_a_number_is_not_kept() {
        let mut table = PairTable::default();
        table.insert([1, 2], context(0), KnownLane { type_: 1 << TYPE, strand: 7 });
        assert!(table.find([1, 2], context(0)).is_none());
        table.insert([1, 2], context(0), KnownLane { type_: (1 << TYPE) - 1, strand: 7 });
        let found = table.find([1, 2], context(0)).map(|lane| (lane.type_, lane.strand));
        assert_eq!(found, Some(((1 << TYPE) - 1, 7)));
    }
}

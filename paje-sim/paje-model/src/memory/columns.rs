//! Rows of a lane as columns, in chunks that never move.
//!
//! A chunk holds some objects column by column, in one piece of its shard's arena. Growing copies nothing, so each page
//! is touched once. This matters because a new page costs more than replaying the events that fill it. The first chunks
//! of a lane are small, to save memory in traces with many short lanes. A chunk stores numbers of values, containers
//! and levels in one or two bytes each until a number needs more.

use crate::memory::{Arena, Place};

/// Largest number of objects in a chunk. The columns of such a chunk fit into the first-level cache during export. The
/// chunks of a lane have room for 2, 4, 4, 8, 8 and 16 objects. Each further chunk is twice as large as the previous
/// one. Lanes of a few objects use two thirds of their room on average.
pub const LARGEST: usize = 1024;

const SIZES: usize = LARGEST.ilog2() as usize;

const SMALLER: usize = SIZES - 1 + TWICE;

/// Number of chunk sizes that occur twice in a lane, from the second size on.
const TWICE: usize = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    #[default]
    Byte,
    Narrow,
    Wide,
}

impl Width {
    /// Returns the width for a number. `bits` may also be several numbers, combined with a bitwise "or".
    #[inline(always)]
    pub(crate) const fn of(bits: u32) -> Self {
        match bits {
            0..=0xff => Width::Byte,
            0x100..=0xffff => Width::Narrow,
            _ => Width::Wide,
        }
    }

    pub const fn words(self, size: usize) -> usize {
        // A word holds 8, 4 or 2 numbers.
        let in_word = 3 - self as u32;
        (size + (1 << in_word) - 1) >> in_word
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Chunk {
    pub place: Place,
    count: u16,
    /// Base-2 logarithm of the chunk's capacity, or 0 without a chunk.
    size: u8,
    pub width: Width,
}

impl Chunk {
    #[inline(always)]
    pub const fn size(&self) -> usize {
        (1 << self.size) & !1
    }

    #[inline(always)]
    pub const fn count(&self) -> usize {
        self.count as usize
    }
}

/// Rows of a lane. There may be millions of lanes, so a lane with a single chunk has no list. The struct is packed, so
/// that the lane's number fits beside it.
#[derive(Debug, Default)]
#[repr(C, packed(4))]
pub struct Rows {
    last: Chunk,
    /// Place of the list of all chunks except the last one. The list consists of its [head](Head) and a word for each
    /// chunk. Its capacity is [`FIRST_LIST`] times a power of two. A vector would take more memory.
    before: Option<Listed>,
}

/// Place of a list, with inverted bits, so that it is never 0.
type Listed = std::num::NonZeroU64;

#[derive(Clone, Copy, Debug, Default)]
struct Head {
    chunks: usize,
    len: u64,
}

/// Capacity of a new list. It is enough for lanes of up to ten objects.
const FIRST_LIST: usize = 3;

impl Head {
    /// Number of bits of `len` in a head's word. The other bits hold `chunks`.
    const LEN: u32 = 40;

    const fn word(self) -> u64 {
        (self.chunks as u64) << Head::LEN | self.len
    }

    const fn from_word(word: u64) -> Self {
        Head { chunks: (word >> Head::LEN) as usize, len: word & ((1 << Head::LEN) - 1) }
    }

    const fn is_full(self) -> bool {
        self.chunks.is_multiple_of(FIRST_LIST) && (self.chunks / FIRST_LIST).count_ones() <= 1
    }
}

/// Number of bits for the count in a listed chunk's word. The next two bits hold the width, and the remaining bits the
/// place.
const COUNT: u32 = LARGEST.ilog2() + 1;

impl Chunk {
    /// Returns the logarithm of a chunk's size, given the number of chunks before it.
    const fn size_of(before: usize) -> u8 {
        let again = if before < 2 * TWICE { before / 2 } else { TWICE };
        if before < SMALLER { (1 + before - again) as u8 } else { SIZES as u8 }
    }

    /// Packs a chunk into a word, without its size. The position on the list determines the size.
    const fn to_word(self) -> u64 {
        (self.place.to_bits() << 2 | self.width as u64) << COUNT | self.count as u64
    }

    const fn from_word(word: u64, before: usize) -> Self {
        let width = match word >> COUNT & 3 {
            0 => Width::Byte,
            1 => Width::Narrow,
            _ => Width::Wide,
        };
        let place = Place::from_bits(word >> (COUNT + 2));
        let count = (word & ((1 << COUNT) - 1)) as u16;
        Chunk { place, size: Chunk::size_of(before), count, width }
    }
}

impl Rows {
    /// Adds an object whose small numbers need `width`. Returns the object's chunk and its index in that chunk. `words`
    /// returns the number of words that a chunk needs.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        arena: &mut Arena,
        width: Width,
        words: impl FnOnce(usize, Width) -> usize,
    ) -> (Chunk, usize) {
        if self.last.count() >= self.last.size() || width > self.last.width {
            self.extend(arena, width, words);
        }
        let index = self.last.count();
        self.last.count += 1;
        (self.last, index)
    }

    pub fn is_large(&self, arena: &Arena) -> bool {
        self.last.count > 0 && self.head(arena).chunks + 1 >= SMALLER
    }

    /// Returns rows with one chunk of the largest size, which other rows can [take over](Rows::take_over).
    pub const fn in_largest(place: Place, width: Width) -> Self {
        Rows { last: Chunk { place, size: SIZES as u8, count: 0, width }, before: None }
    }

    /// Appends a chunk of the largest size. The rows must be [large](Rows::is_large).
    pub fn take_over(&mut self, arena: &mut Arena, other: Rows, pieces_before: u32) {
        debug_assert!(self.is_large(arena));
        self.list_last(arena);
        let place = other.last.place.taken_over(pieces_before);
        self.last = Chunk { place, ..other.last };
    }

    #[cold]
    #[inline(never)]
    fn extend(
        &mut self,
        arena: &mut Arena,
        width: Width,
        words: impl FnOnce(usize, Width) -> usize,
    ) {
        let before = if self.last.count > 0 { self.list_last(arena) } else { 0 };
        let size = Chunk::size_of(before);
        // A lane that needed two bytes for a number will need them again. A chunk with one byte per number would be
        // abandoned half empty.
        let width = match self.last.width {
            Width::Narrow if self.last.count > 0 => width.max(Width::Narrow),
            _ => width,
        };
        let last = Chunk { place: Place::default(), size, count: 0, width };
        self.last = Chunk { place: arena.take(words(last.size(), width)), ..last };
    }

    /// Puts the last chunk on the list. Returns the length of the list.
    fn list_last(&mut self, arena: &mut Arena) -> usize {
        let mut head = self.head(arena);
        let list = match self.list().filter(|_| !head.is_full()) {
            Some(list) => list,
            None => {
                let longer = arena.take(1 + (2 * head.chunks).max(FIRST_LIST));
                if let Some(list) = self.list() {
                    for word in 1..=head.chunks {
                        arena.set(longer, word, arena.get(list.after(word)));
                    }
                }
                self.before = Listed::new(!longer.to_word());
                longer
            }
        };
        head.chunks += 1;
        arena.set(list, head.chunks, self.last.to_word());
        head.len += u64::from(self.last.count);
        arena.set(list, 0, head.word());
        head.chunks
    }

    fn list(&self) -> Option<Place> {
        { self.before }.map(|list| Place::from_word(!list.get()))
    }

    fn head(&self, arena: &Arena) -> Head {
        self.list().map_or(Head::default(), |list| Head::from_word(arena.get(list)))
    }

    fn listed<'a>(&self, arena: &'a Arena) -> &'a [u64] {
        let Some(list) = self.list() else { return &[] };
        arena.words(list, 1, self.head(arena).chunks)
    }

    /// Prefetches what the next object will write: its place in the first column, and two words chosen by `others`. If
    /// the last chunk is full, prefetches the list instead.
    #[inline]
    pub fn prefetch(&self, arena: &Arena, others: impl FnOnce(&Chunk) -> [usize; 2]) -> u64 {
        let chunk = &self.last;
        if chunk.count() == 0 {
            return 0;
        }
        let words = arena.words_from(chunk.place);
        let look = |word: usize| words.get(word).copied().unwrap_or(0);
        let [value, changed] = others(chunk);
        look(changed)
            ^ match chunk.count() < chunk.size() {
                true => look(chunk.count()) ^ look(value),
                false => self.head(arena).len,
            }
    }

    /// Returns the last chunk and its count, so that objects can be added.
    #[inline(always)]
    pub(super) const fn last_mut(&mut self) -> (Chunk, &mut u16) {
        (self.last, &mut self.last.count)
    }

    pub fn len(&self, arena: &Arena) -> u64 {
        self.head(arena).len + u64::from(self.last.count)
    }

    pub const fn is_empty(&self) -> bool {
        self.last.count == 0
    }

    #[inline]
    pub fn only(&self) -> Option<Chunk> {
        ({ self.before }.is_none() && self.last.count > 0).then_some(self.last)
    }

    /// Returns the chunk of the last object, and the object's index in that chunk. The lane must not be empty.
    #[inline(always)]
    pub const fn last(&self) -> (Chunk, usize) {
        (self.last, self.last.count().saturating_sub(1))
    }

    /// Returns the chunk of row `row` of the lane, and the row's index in that chunk.
    pub fn find(&self, arena: &Arena, mut row: u64) -> Option<(Chunk, usize)> {
        for chunk in self.chunks_from(arena, 0) {
            if row < chunk.count() as u64 {
                return Some((chunk, row as usize));
            }
            row -= chunk.count() as u64;
        }
        None
    }

    /// Iterates over the chunks from number `first` on. No chunk is empty.
    pub fn chunks_from<'a>(
        &self,
        arena: &'a Arena,
        first: usize,
    ) -> impl Iterator<Item = Chunk> + use<'a> {
        let before = self.listed(arena);
        let last = (first <= before.len() && self.last.count > 0).then_some(self.last);
        let before = before.get(first..).unwrap_or_default().iter().zip(first..);
        before.map(|(word, index)| Chunk::from_word(*word, index)).chain(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::set_small;

    /// Returns the number of words of a chunk with a column of words and a column of small numbers.
    fn words(size: usize, width: Width) -> usize {
        size + width.words(size)
    }

    #[test]
    fn a_chunk_fits_in_a_word() {
        let sizes = [2, 4, 4, 8, 8, 16, 32, 64, 128, 256, 512, 1024, 1024];
        for (before, wanted) in sizes.into_iter().enumerate() {
            for width in [Width::Byte, Width::Narrow, Width::Wide] {
                let (count, size) = (wanted, Chunk::size_of(before));
                let place = Place::from_bits((1 << 50) - 1 - before as u64);
                let chunk = Chunk { place, size, count, width };
                assert_eq!(chunk.size(), chunk.count());
                let same = Chunk::from_word(chunk.to_word(), before);
                assert_eq!((same.place, same.size, same.count), (place, size, count));
                assert_eq!(same.width, width);
            }
        }
    }

    #[test]
    fn lanes_keep_their_order() {
        let lane_of = |i: u32| (u64::from(i) * u64::from(i) % 50) as usize;
        // Some numbers need four bytes.
        let small = |i: u32| if i.is_multiple_of(997) { i + 70_000 } else { i % 60_000 };
        let mut arena = Arena::default();
        let mut lanes: Vec<Rows> = (0..50).map(|_| Rows::default()).collect();
        for i in 0..200_000u32 {
            let (chunk, index) = lanes[lane_of(i)].push(&mut arena, Width::of(small(i)), words);
            arena.set(chunk.place, index, u64::from(i));
            let words = &mut arena.words_mut(chunk.place)[chunk.size()..];
            set_small(words, chunk.width, index, small(i));
        }
        let mut total = 0;
        for (lane, rows) in (0..50).zip(&lanes) {
            let expected: Vec<u32> = (0..200_000).filter(|i| lane_of(*i) == lane).collect();
            let mut found = Vec::new();
            for chunk in rows.chunks_from(&arena, 0) {
                let mut room = [0; LARGEST];
                let words = arena.words(chunk.place, 0, chunk.count());
                let smalls =
                    arena.small(chunk.place, chunk.size(), chunk.width, chunk.count(), &mut room);
                for (word, number) in words.iter().zip(smalls) {
                    assert_eq!(*number, small(*word as u32));
                    found.push(*word as u32);
                }
            }
            assert_eq!(found, expected);
            for (row, wanted) in expected.iter().enumerate() {
                let (chunk, index) = rows.find(&arena, row as u64).expect("row exists");
                assert_eq!(arena.words(chunk.place, 0, chunk.count())[index], u64::from(*wanted));
            }
            assert!(rows.find(&arena, rows.len(&arena)).is_none());
            assert_eq!(rows.len(&arena), expected.len() as u64);
            total += found.len();
        }
        assert_eq!(total, 200_000);
    }
}

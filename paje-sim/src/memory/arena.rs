//! The memory of a shard's objects.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use memmap2::MmapMut;

use crate::memory::overflow::let_go;
use crate::memory::{Overflow, Width};

/// Memory that grows by pieces and is given back as a whole. Everything is in words of eight bytes.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pieces: Vec<Piece>,
    /// Where further pieces lie when memory is short.
    overflow: Option<Arc<Overflow>>,
    /// Words of the last piece that have been taken.
    taken: usize,
    /// Words of all pieces.
    total: usize,
}

/// A place in an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    piece: u32,
    word: u32,
}

impl Place {
    /// A place some words behind this one, in the same piece.
    #[inline(always)]
    pub(crate) const fn behind(self, words: usize) -> Self {
        Place { piece: self.piece, word: self.word + words as u32 }
    }

    /// Number of words from another place to this one, if it is and both are in the same piece.
    #[inline(always)]
    pub(crate) const fn words_behind(self, other: Place) -> Option<usize> {
        match self.piece == other.piece {
            true => Some((self.word as usize).wrapping_sub(other.word as usize)),
            false => None,
        }
    }

    /// A place some words before this one, in the same piece.
    pub(crate) const fn before(self, words: usize) -> Self {
        Place { piece: self.piece, word: self.word - words as u32 }
    }

    /// The place in one word.
    pub(super) const fn to_word(self) -> u64 {
        self.word as u64 | (self.piece as u64) << 32
    }

    pub(super) const fn from_word(word: u64) -> Self {
        Place { piece: (word >> 32) as u32, word: word as u32 }
    }

    /// The place in as few bits as there are memories for: 2 GB for a piece, and 16 TB in all.
    pub(super) const fn to_bits(self) -> u64 {
        debug_assert!(self.word >> Place::IN_PIECE == 0 && self.piece >> Place::PIECES == 0);
        self.word as u64 | (self.piece as u64) << Place::IN_PIECE
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        let word = bits & ((1 << Place::IN_PIECE) - 1);
        Place { piece: (bits >> Place::IN_PIECE) as u32, word: word as u32 }
    }

    const IN_PIECE: u32 = 28;
    const PIECES: u32 = 22;
}

#[derive(Debug)]
enum Piece {
    Memory(Vec<u64>),
    /// The same in huge pages.
    Huge(MmapMut),
    /// Of a temporary file.
    File(MmapMut),
}

impl Deref for Piece {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        match self {
            Piece::Memory(words) => words,
            Piece::Huge(map) | Piece::File(map) => bytemuck::cast_slice(map),
        }
    }
}

impl DerefMut for Piece {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Piece::Memory(words) => words,
            Piece::Huge(map) | Piece::File(map) => bytemuck::cast_slice_mut(map),
        }
    }
}

impl Piece {
    fn let_go(&self) {
        if let Piece::File(map) = self {
            let_go(map);
        }
    }
}

/// Words of the first piece, and of the largest. What the system's allocator keeps before a large
/// piece fits in the page that remains.
const FIRST: usize = 2048;
const LARGEST: usize = (4 << 20) / 8 - 512;

/// From this total size on, in words, pieces lie in huge pages, if the system has any: clearing one is
/// three times cheaper than clearing its small pages one by one, as each is touched.
const HUGE_FROM: usize = (4 << 20) / 8;

/// Words of these pieces: two huge pages of most systems.
const HUGE: usize = (4 << 20) / 8;

/// Words of a piece of a file. There can be some ten thousand mappings.
const IN_FILE: usize = (16 << 20) / 8;

impl Arena {
    /// An arena whose further pieces lie elsewhere when memory is short.
    pub(crate) fn new(overflow: Option<Arc<Overflow>>) -> Self {
        Arena { overflow, ..Arena::default() }
    }

    /// The place of so many new words.
    pub(crate) fn take(&mut self, words: usize) -> Place {
        let room = self.pieces.last().map_or(0, |piece| piece.len()) - self.taken;
        if room < words {
            self.grow(words);
        }
        let place = Place { piece: self.pieces.len() as u32 - 1, word: self.taken as u32 };
        self.taken += words;
        place
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        let size = self.total.clamp(FIRST, LARGEST).max(words);
        if let Some(overflow) = &self.overflow
            && overflow.is_needed(size * 8)
            && let Some(map) = overflow.map(words.max(IN_FILE).next_multiple_of(IN_FILE) * 8)
        {
            let size = map.len() / 8;
            self.push(Piece::File(map), size);
            return;
        }
        // Zeroed memory of this size comes from the system untouched: a page is there when it is
        // first written.
        if self.total >= HUGE_FROM
            && let Some(map) = in_huge_pages(words)
        {
            let size = map.len() / 8;
            self.push(Piece::Huge(map), size);
            return;
        }
        self.push(Piece::Memory(vec![0; size]), size);
    }

    fn push(&mut self, piece: Piece, size: usize) {
        self.pieces.push(piece);
        self.taken = 0;
        self.total += size;
    }

    /// Lets go of what memory has of pieces that lie in a file, if it is too much: for who reads much of
    /// an arena at a time.
    pub(crate) fn relieve(&self) {
        if let Some(overflow) = &self.overflow {
            overflow.relieve(|| std::iter::once(self));
        }
    }

    /// Lets go of what memory has of pieces that lie in a file: the `last` ones.
    pub(crate) fn let_go(&self, last: usize) {
        self.pieces.iter().rev().take(last).for_each(Piece::let_go);
    }

    /// Moves a piece from memory to the file; whether there was one, and room for it.
    pub(crate) fn evict(&mut self, overflow: &Overflow) -> bool {
        // The last is small, or will be full soon.
        let full = self.pieces.len().saturating_sub(1);
        let in_memory = |piece: &&mut Piece| match piece {
            Piece::Memory(words) => words.len() >= LARGEST,
            Piece::Huge(_) => true,
            Piece::File(_) => false,
        };
        let Some(piece) = self.pieces[..full].iter_mut().find(in_memory) else { return false };
        let Some(mut map) = overflow.map(size_of_val(&piece[..]).next_multiple_of(1 << 16)) else {
            return false;
        };
        map[..size_of_val(&piece[..])].copy_from_slice(bytemuck::cast_slice(piece));
        *piece = Piece::File(map);
        piece.let_go();
        true
    }

    /// Stores a word; the place must have come from this arena.
    #[inline(always)]
    pub(crate) fn set(&mut self, place: Place, index: usize, value: u64) {
        self.pieces[place.piece as usize][place.word as usize + index] = value;
    }

    /// A word.
    #[inline(always)]
    pub(crate) fn get(&self, place: Place) -> u64 {
        self.pieces[place.piece as usize][place.word as usize]
    }

    /// The words from a place to the end of its piece, to be written.
    #[inline(always)]
    pub(crate) fn words_mut(&mut self, place: Place) -> &mut [u64] {
        &mut self.pieces[place.piece as usize][place.word as usize..]
    }

    /// `count` words from `column` words behind a place on.
    #[inline]
    pub(crate) fn words(&self, place: Place, column: usize, count: usize) -> &[u64] {
        let start = place.word as usize + column;
        &self.pieces[place.piece as usize][start..start + count]
    }

    /// The first `count` of a column of small numbers; narrow ones are widened into `room`.
    #[inline]
    pub(crate) fn small<'a>(
        &'a self,
        place: Place,
        column: usize,
        width: Width,
        count: usize,
        room: &'a mut [u32],
    ) -> &'a [u32] {
        let words = self.words(place, column, width.words(count));
        match width {
            Width::Wide => &bytemuck::cast_slice(words)[..count],
            Width::Narrow => {
                let numbers: &[u16] = bytemuck::cast_slice(words);
                for (wide, narrow) in room.iter_mut().zip(&numbers[..count]) {
                    *wide = u32::from(*narrow);
                }
                &room[..count]
            }
        }
    }
}

impl Arena {
    /// Number `index` of the column of small numbers at a place.
    pub(crate) fn small_at(&self, column: Place, width: Width, index: usize) -> u32 {
        let words = self.words(column, 0, width.words(index + 1));
        match width {
            Width::Narrow => u32::from(bytemuck::cast_slice::<u64, u16>(words)[index]),
            Width::Wide => bytemuck::cast_slice::<u64, u32>(words)[index],
        }
    }
}

/// Stores number `index` of a column of small numbers, which `words` begin with.
#[inline(always)]
pub(crate) fn set_small(words: &mut [u64], width: Width, index: usize, value: u32) {
    match width {
        Width::Narrow => {
            let numbers: &mut [u16] = bytemuck::cast_slice_mut(words);
            numbers[index] = value as u16;
        }
        Width::Wide => {
            let numbers: &mut [u32] = bytemuck::cast_slice_mut(words);
            numbers[index] = value;
        }
    }
}

/// Zeros in huge pages, as far as the system has any and gives them. A mapping of our own, which nothing has touched
/// before we ask: the allocator writes in front of what it gives away, which makes the first page of it a small one, and
/// then all that would be in a huge page with it.
fn in_huge_pages(words: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(words.max(HUGE).next_multiple_of(HUGE) * 8).ok()?;
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small pieces, large ones, and a request that is larger than any.
    #[test]
    fn words_keep_their_places() {
        let mut arena = Arena::default();
        let sizes = (1..3000).chain([HUGE + 1, 5]);
        let places: Vec<(Place, usize)> = sizes.map(|words| (arena.take(words), words)).collect();
        for (number, (place, words)) in (1..).zip(&places) {
            assert!(arena.words(*place, 0, *words).iter().all(|word| *word == 0));
            arena.set(*place, 0, number);
            arena.set(*place, words - 1, number);
        }
        for (number, (place, words)) in (1..).zip(&places) {
            assert_eq!(arena.words(*place, 0, *words)[0], number);
            assert_eq!(arena.words(*place, 0, *words)[words - 1], number);
        }
        assert!(arena.pieces.iter().any(|piece| matches!(piece, Piece::Huge(_))));
    }
}

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
}

#[derive(Debug)]
enum Piece {
    Memory(Vec<u64>),
    /// Of a temporary file.
    File(MmapMut),
}

impl Deref for Piece {
    type Target = [u64];

    #[inline(always)]
    fn deref(&self) -> &[u64] {
        match self {
            Piece::Memory(words) => words,
            Piece::File(map) => bytemuck::cast_slice(map),
        }
    }
}

impl DerefMut for Piece {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Piece::Memory(words) => words,
            Piece::File(map) => bytemuck::cast_slice_mut(map),
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
const HUGE_FROM: usize = (8 << 20) / 8;

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
        let piece = vec![0; size];
        if self.total >= HUGE_FROM {
            advise_huge(&piece);
        }
        self.push(Piece::Memory(piece), size);
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
        let in_memory =
            |piece: &&mut Piece| matches!(piece, Piece::Memory(words) if words.len() >= LARGEST);
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

/// Asks the system to back memory with huge pages. It is free to refuse.
#[cfg(target_os = "linux")]
fn advise_huge(piece: &[u64]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let start = piece.as_ptr().cast_mut();
    let skipped = start.addr().next_multiple_of(page) - start.addr();
    let Some(len) = size_of_val(piece).checked_sub(skipped) else { return };
    // SAFETY: the range lies within one allocation, to whole pages; this advice leaves its content as
    // it is and says only how it may be backed.
    #[allow(unsafe_code)]
    let _ = unsafe {
        madvise(start.byte_add(skipped).cast(), len / page * page, Advice::LinuxHugepage)
    };
}

#[cfg(not(target_os = "linux"))]
fn advise_huge(_: &[u64]) {}

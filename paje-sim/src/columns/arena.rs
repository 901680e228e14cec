//! The memory of a shard's objects.

use super::Width;

/// Memory that grows by pieces and is given back as a whole. Everything is in words of eight bytes.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pieces: Vec<Vec<u64>>,
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
}

/// Words of the first piece, and of the largest. What the system's allocator keeps before a large
/// piece fits in the page that remains.
const FIRST: usize = 2048;
const LARGEST: usize = (4 << 20) / 8 - 512;

/// From this total size on, in words, pieces lie in huge pages, if the system has any: clearing one is
/// three times cheaper than clearing its small pages one by one, as each is touched.
const HUGE_FROM: usize = (8 << 20) / 8;

impl Arena {
    /// The place of so many new words.
    pub(crate) fn take(&mut self, words: usize) -> Place {
        let room = self.pieces.last().map_or(0, Vec::len) - self.taken;
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
        // Zeroed memory of this size comes from the system untouched: a page is there when it is
        // first written.
        let piece = vec![0; size];
        if self.total >= HUGE_FROM {
            advise_huge(&piece);
        }
        self.pieces.push(piece);
        self.taken = 0;
        self.total += size;
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

    /// Stores number `index` of the column of small numbers that begins `column` words behind a place.
    #[inline(always)]
    pub(crate) fn set_small(
        &mut self,
        place: Place,
        column: usize,
        width: Width,
        index: usize,
        value: u32,
    ) {
        let words = &mut self.pieces[place.piece as usize][place.word as usize + column..];
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
        room: &'a mut [u32; super::LARGEST],
    ) -> &'a [u32] {
        let words = self.words(place, column, width.words(count.next_multiple_of(4)));
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

#[cfg(test)]
mod tests;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use memmap2::MmapMut;

use crate::memory::overflow::drop_pages;
use crate::memory::{Overflow, Width};

/// Memory for the rows of a shard. It grows piece by piece and is freed as a whole. Sizes are in
/// words of eight bytes.
#[derive(Debug, Default)]
pub struct Arena {
    pieces: Vec<Piece>,
    /// Pieces of an earlier arena, still to be cleared.
    spare: Vec<Piece>,
    overflow: Option<Arc<Overflow>>,
    /// Index of the piece that is being filled. `taken` of its words are in use.
    filling: usize,
    taken: usize,
    total: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    piece: u32,
    word: u32,
}

impl Place {
    /// Returns the place `words` words after this place in the same piece.
    #[inline(always)]
    pub const fn after(self, words: usize) -> Self {
        Place { piece: self.piece, word: self.word + words as u32 }
    }

    /// Returns how many words this place is after another place, if both are in the same piece.
    #[inline(always)]
    pub const fn words_after(self, other: Place) -> Option<usize> {
        match self.piece == other.piece {
            true => Some((self.word as usize).wrapping_sub(other.word as usize)),
            false => None,
        }
    }

    /// Returns the new place after an arena with `before` pieces has [taken over](Arena::take_over) the arena of this
    /// place.
    pub const fn taken_over(self, before: u32) -> Self {
        Place { piece: self.piece + before, word: self.word }
    }

    /// Returns the place `words` words before this place in the same piece.
    pub const fn before(self, words: usize) -> Self {
        Place { piece: self.piece, word: self.word - words as u32 }
    }

    pub(super) const fn to_word(self) -> u64 {
        self.word as u64 | (self.piece as u64) << 32
    }

    pub(super) const fn from_word(word: u64) -> Self {
        Place { piece: (word >> 32) as u32, word: word as u32 }
    }

    /// Packs the place into 50 bits. This is enough for four million pieces of 2 GB.
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
    Huge(MmapMut),
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
    fn drop_pages(&self) {
        if let Piece::File(map) = self {
            drop_pages(map);
        }
    }
}

/// Sizes in words of the first and of the largest piece. The largest piece leaves room in its last page for the
/// allocator's header.
const FIRST: usize = 2048;
const LARGEST: usize = (4 << 20) / 8 - 512;

/// Number of words of a piece in huge pages. Clearing a huge page is three times cheaper than clearing small pages on
/// first use.
const HUGE: usize = (4 << 20) / 8;

/// Size in words from which an arena uses huge pages, if the system has any. The last piece is half empty on average,
/// which smaller arenas cannot afford: with two workers there are sixteen arenas.
const FROM: usize = 2 * HUGE;

/// Number of words of a piece in the file. Pieces are this large because a process can only have some tens of thousands
/// of mappings.
const IN_FILE: usize = (16 << 20) / 8;

impl Arena {
    pub fn new(overflow: Option<Arc<Overflow>>) -> Self {
        Arena { overflow, ..Arena::default() }
    }

    pub fn take(&mut self, words: usize) -> Place {
        let room = self.pieces.get(self.filling).map_or(0, |piece| piece.len()) - self.taken;
        if room < words {
            self.grow(words);
        }
        let place = Place { piece: self.filling as u32, word: self.taken as u32 };
        self.taken += words;
        place
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        let size = self.total.clamp(FIRST, LARGEST).max(words);
        let piece = self.spare_piece(size).or_else(|| self.piece_of_file(words, size));
        // The system returns zeroed memory of this size without touching it. Each page takes memory on its first write.
        let piece = piece
            .or_else(|| (self.total >= FROM).then(|| in_huge_pages(words)).flatten())
            .unwrap_or_else(|| Piece::Memory(vec![0; size]));
        self.total += piece.len();
        (self.filling, self.taken) = (self.pieces.len(), 0);
        self.pieces.push(piece);
    }

    fn spare_piece(&mut self, size: usize) -> Option<Piece> {
        let index = self.spare.iter().position(|piece| piece.len() >= size)?;
        let mut piece = self.spare.remove(index);
        piece.fill(0);
        Some(piece)
    }

    /// Makes a piece in the file if the memory limit leaves no room for `size` words.
    fn piece_of_file(&self, words: usize, size: usize) -> Option<Piece> {
        let overflow = self.overflow.as_ref().filter(|overflow| overflow.is_needed(size * 8))?;
        overflow.map(words.max(IN_FILE).next_multiple_of(IN_FILE) * 8).map(Piece::File)
    }

    /// Takes the pieces of an arena that is no longer needed. Clearing these pieces takes a third of the time that new
    /// pages take.
    pub fn reuse(&mut self, old: &mut Arena) {
        self.spare = std::mem::take(&mut old.pieces);
        self.spare.retain(|piece| !matches!(piece, Piece::File(_)));
    }

    /// Drops file-backed pages from memory if the limit is exceeded. Called while large parts of the rows are read.
    pub fn relieve(&self) {
        if let Some(overflow) = &self.overflow {
            overflow.relieve(|| std::iter::once(self));
        }
    }

    pub fn drop_pages(&self, last: usize) {
        self.pieces.iter().rev().take(last).for_each(Piece::drop_pages);
    }

    /// Takes over the pieces of another arena. Returns the number with which [`Place::taken_over`] translates the other
    /// arena's places.
    pub fn take_over(&mut self, other: Arena) -> u32 {
        let before = self.pieces.len() as u32;
        if self.pieces.is_empty() {
            // The first piece counts as full.
            self.taken = other.pieces.first().map_or(0, |piece| piece.len());
        }
        self.total += other.total;
        self.pieces.extend(other.pieces);
        before
    }

    /// Moves a piece from memory to the file. Returns `false` if no piece can be moved.
    pub fn evict(&mut self, overflow: &Overflow) -> bool {
        // The piece that is being filled stays in memory.
        let filling = self.filling;
        let in_memory = |piece: &&mut Piece| match piece {
            Piece::Memory(words) => words.len() >= LARGEST,
            Piece::Huge(_) => true,
            Piece::File(_) => false,
        };
        let (before, others) = self.pieces.split_at_mut(filling);
        let others = others.iter_mut().skip(1);
        let Some(piece) = before.iter_mut().chain(others).find(in_memory) else { return false };
        let Some(mut map) = overflow.map(size_of_val(&piece[..]).next_multiple_of(1 << 16)) else {
            return false;
        };
        map[..size_of_val(&piece[..])].copy_from_slice(bytemuck::cast_slice(piece));
        *piece = Piece::File(map);
        piece.drop_pages();
        true
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, place: Place, index: usize, value: u64) {
        self.pieces[place.piece as usize][place.word as usize + index] = value;
    }

    #[inline(always)]
    pub fn get(&self, place: Place) -> u64 {
        self.pieces[place.piece as usize][place.word as usize]
    }

    /// Returns the words from a place to the end of its piece.
    #[inline(always)]
    pub fn words_from(&self, place: Place) -> &[u64] {
        &self.pieces[place.piece as usize][place.word as usize..]
    }

    #[inline(always)]
    pub(crate) fn words_mut(&mut self, place: Place) -> &mut [u64] {
        &mut self.pieces[place.piece as usize][place.word as usize..]
    }

    /// Returns `count` words, from `column` words after a place.
    #[inline]
    pub fn words(&self, place: Place, column: usize, count: usize) -> &[u64] {
        let start = place.word as usize + column;
        &self.pieces[place.piece as usize][start..start + count]
    }

    /// Returns the first `count` small numbers of a column. Uses `room` for numbers that must be widened.
    #[inline]
    pub fn small<'a>(
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
            Width::Narrow => widened::<u16>(bytemuck::cast_slice(words), &mut room[..count]),
            Width::Byte => widened::<u8>(bytemuck::cast_slice(words), &mut room[..count]),
        }
    }
}

impl Arena {
    pub fn small_at(&self, column: Place, width: Width, index: usize) -> u32 {
        let words = self.words(column, 0, width.words(index + 1));
        match width {
            Width::Byte => u32::from(bytemuck::cast_slice::<u64, u8>(words)[index]),
            Width::Narrow => u32::from(bytemuck::cast_slice::<u64, u16>(words)[index]),
            Width::Wide => bytemuck::cast_slice::<u64, u32>(words)[index],
        }
    }
}

/// Maps a piece in huge pages, if the system has any. Memory from the allocator is not suitable, because its header
/// spoils the first huge page.
fn in_huge_pages(words: usize) -> Option<Piece> {
    let map = MmapMut::map_anon(words.next_multiple_of(HUGE) * 8).ok()?;
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(Piece::Huge(map))
}

/// Widens numbers into `room`, as far as they fit.
#[inline(always)]
fn widened<'a, T: Copy + Into<u32>>(numbers: &[T], room: &'a mut [u32]) -> &'a [u32] {
    for (wide, number) in room.iter_mut().zip(numbers) {
        *wide = (*number).into();
    }
    room
}

/// Stores the small number at `index` of the column at the beginning of `words`.
#[inline(always)]
pub fn set_small(words: &mut [u64], width: Width, index: usize, value: u32) {
    match width {
        Width::Byte => {
            let numbers: &mut [u8] = bytemuck::cast_slice_mut(words);
            numbers[index] = value as u8;
        }
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

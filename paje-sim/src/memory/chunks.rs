//! Columns of the chunks of each nature.

use crate::memory::{Arena, Chunk, Rows, Width, set_small};
use crate::names::ids::{ContainerId, ValueId};

/// User-defined fields of the events that opened and closed an object: numbers in `Extras`, 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExtraPair {
    pub(crate) opening: u32,
    pub(crate) closing: u32,
}

impl ExtraPair {
    /// Packs both numbers into a word.
    pub(crate) const fn word(self) -> u64 {
        self.opening as u64 | (self.closing as u64) << 32
    }

    pub(crate) const fn from_word(word: u64) -> Self {
        ExtraPair { opening: word as u32, closing: (word >> 32) as u32 }
    }
}

/// Where a link's key is: the shard of its strand, which also has the user-defined fields, and the place there. With
/// 16 bits of its hash, which usually suffice to tell keys apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyPlace(u64);

impl KeyPlace {
    /// Makes the place of a key from its shard, its place of at most [`KeyPlace::BITS`] bits, and the lower half of
    /// its hash.
    #[inline(always)]
    pub(crate) const fn new(shard: u8, place: u64, hash: u32) -> Self {
        KeyPlace((hash as u64 >> 16) << KeyPlace::TAG | place << 8 | shard as u64)
    }

    /// Bits of a place: enough for a terabyte of keys in a shard.
    pub(crate) const BITS: u32 = 40;
    const TAG: u32 = 8 + KeyPlace::BITS;

    pub(crate) const fn from_word(word: u64) -> Self {
        KeyPlace(word)
    }

    pub(crate) const fn word(self) -> u64 {
        self.0
    }

    pub(crate) const fn shard(self) -> usize {
        (self.0 & 0xff) as usize
    }

    pub(crate) const fn place(self) -> u64 {
        self.0 >> 8 & ((1 << KeyPlace::BITS) - 1)
    }

    /// Returns the place of a key after it was moved within its shard.
    pub(crate) const fn moved(self, place: u64) -> Self {
        KeyPlace(self.0 & !(((1 << KeyPlace::BITS) - 1) << 8) | place << 8)
    }

    /// Returns sixteen bits of the key's hash.
    #[inline(always)]
    pub(crate) const fn tag(self) -> u16 {
        (self.0 >> KeyPlace::TAG) as u16
    }

    /// Returns the tag of a key with this hash.
    pub(crate) const fn tag_of(hash: u64) -> u16 {
        KeyPlace::new(0, 0, hash as u32).tag()
    }
}

/// A state that opens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewState {
    pub(crate) start: f64,
    pub(crate) value: ValueId,
    pub(crate) imbrication: u32,
}

/// A complete link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewLink {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: ValueId,
    pub(crate) from: ContainerId,
    pub(crate) to: ContainerId,
    pub(crate) key: KeyPlace,
    pub(crate) extra: ExtraPair,
}

/// Columns of a chunk of states: start, end, value, imbrication, extras.
pub(crate) struct StateChunk;

impl StateChunk {
    pub(crate) const fn words(size: usize, width: Width, extras: bool) -> usize {
        let kept = if extras { size } else { 0 };
        2 * size + 2 * width.words(size) + kept
    }

    pub(crate) const fn value(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }

    pub(crate) const fn imbrication(chunk: &Chunk) -> usize {
        2 * chunk.size() + chunk.width.words(chunk.size())
    }

    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        2 * chunk.size() + 2 * chunk.width.words(chunk.size())
    }
}

/// Columns of a chunk of variables: start, value, extras. A value lasts until the next start.
pub(crate) struct VariableChunk;

impl VariableChunk {
    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }
}

/// Columns of a chunk of events: time, value, extras.
pub(crate) struct EventChunk;

impl EventChunk {
    pub(crate) const fn value(chunk: &Chunk) -> usize {
        chunk.size()
    }

    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        chunk.size() + chunk.width.words(chunk.size())
    }
}

/// Columns of a chunk of links: start, end, key, value, from, to, extras.
pub(crate) struct LinkChunk;

impl LinkChunk {
    pub(crate) const fn key(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }

    pub(crate) const fn small(chunk: &Chunk, column: usize) -> usize {
        3 * chunk.size() + column * chunk.width.words(chunk.size())
    }

    pub(crate) const fn extras(chunk: &Chunk) -> usize {
        LinkChunk::small(chunk, 3)
    }

    /// Returns the number of words of a chunk.
    pub(crate) const fn words(size: usize, width: Width, extras: bool) -> usize {
        3 * size + 3 * width.words(size) + if extras { size } else { 0 }
    }
}

impl NewLink {
    /// Returns the bits that occur in its small numbers.
    #[inline(always)]
    pub(crate) const fn small_bits(&self) -> u32 {
        self.value.0 | self.from.0 | self.to.0
    }

    /// Returns the width for its small numbers: two bytes at least, as the next link may have another container.
    #[inline(always)]
    pub(crate) fn width(&self) -> Width {
        Width::of(self.small_bits()).max(Width::Narrow)
    }
}

/// Adds a link to the rows of its lane.
#[inline(never)]
pub(crate) fn push_link(arena: &mut Arena, rows: &mut Rows, link: &NewLink, extras: bool) {
    let words = |size, width| LinkChunk::words(size, width, extras);
    let (chunk, index) = rows.push(arena, link.width(), words);
    let (words, size) = (arena.words_mut(chunk.place), chunk.size());
    words[index] = link.start.to_bits();
    words[size + index] = link.end.to_bits();
    words[2 * size + index] = link.key.0;
    for (column, number) in [link.value.0, link.from.0, link.to.0].into_iter().enumerate() {
        set_small(&mut words[LinkChunk::small(&chunk, column)..], chunk.width, index, number);
    }
    if extras {
        words[LinkChunk::extras(&chunk) + index] = link.extra.word();
    }
}

/// Adds a key to a lane of which only keys are kept.
#[inline]
pub(crate) fn push_key(arena: &mut Arena, rows: &mut Rows, key: KeyPlace) {
    let (chunk, index) = rows.push(arena, Width::Narrow, |size, _| size);
    arena.set(chunk.place, index, key.0);
}

/// Returns the places of the keys in a column of a chunk.
pub(crate) fn key_places<'a>(
    arena: &'a Arena,
    chunk: &Chunk,
    column: usize,
) -> impl Iterator<Item = KeyPlace> + use<'a> {
    arena.words(chunk.place, column, chunk.count()).iter().copied().map(KeyPlace::from_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_key_says_all_that_it_was_given() {
        let last = (1 << KeyPlace::BITS) - 1;
        for (shard, place, hash) in [(0, 0, u32::MAX), (255, last, 0), (7, 5, 0x1234_5678)] {
            let key = KeyPlace::new(shard, place, hash);
            assert_eq!((key.shard(), key.place()), (usize::from(shard), place));
            assert_eq!(key.tag(), KeyPlace::tag_of(0xffff_0000_0000 | u64::from(hash)));
            let moved = key.moved(last - place);
            assert_eq!((moved.shard(), moved.place()), (usize::from(shard), last - place));
            assert_eq!(moved.tag(), key.tag());
        }
    }
}

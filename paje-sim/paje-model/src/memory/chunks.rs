//! Columns of the chunks of each nature.

use crate::memory::{Arena, Chunk, Rows, Width, set_small};
use crate::names::ids::{ContainerId, ValueId};

/// User-defined fields of the events that opened and closed an object: their numbers in `Extras`, or 0 for events
/// without such fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraPair {
    pub opening: u32,
    pub closing: u32,
}

impl ExtraPair {
    pub(crate) const fn word(self) -> u64 {
        self.opening as u64 | (self.closing as u64) << 32
    }

    pub const fn from_word(word: u64) -> Self {
        ExtraPair { opening: word as u32, closing: (word >> 32) as u32 }
    }
}

/// Location of a link's key: the shard of its strand, and the key's place in that shard. The shard also holds the
/// link's user-defined fields. The location includes 16 bits of the key's hash, which usually suffice to distinguish
/// keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPlace(u64);

impl KeyPlace {
    /// Creates a location from a shard, a place of at most [`KeyPlace::BITS`] bits, and the lower half of the hash.
    #[inline(always)]
    pub const fn new(shard: u8, place: u64, hash: u32) -> Self {
        KeyPlace((hash as u64 >> 16) << KeyPlace::TAG | place << 8 | shard as u64)
    }

    /// Number of bits of a place, which is enough for a terabyte of keys in a shard.
    pub const BITS: u32 = 40;
    const TAG: u32 = 8 + KeyPlace::BITS;

    pub const fn from_word(word: u64) -> Self {
        KeyPlace(word)
    }

    pub const fn word(self) -> u64 {
        self.0
    }

    pub const fn shard(self) -> usize {
        (self.0 & 0xff) as usize
    }

    pub const fn place(self) -> u64 {
        self.0 >> 8 & ((1 << KeyPlace::BITS) - 1)
    }

    pub const fn moved(self, place: u64) -> Self {
        KeyPlace(self.0 & !(((1 << KeyPlace::BITS) - 1) << 8) | place << 8)
    }

    /// Returns sixteen bits of the key's hash.
    #[inline(always)]
    pub const fn tag(self) -> u16 {
        (self.0 >> KeyPlace::TAG) as u16
    }

    pub const fn tag_of(hash: u64) -> u16 {
        KeyPlace::new(0, 0, hash as u32).tag()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct NewState {
    pub start: f64,
    pub value: ValueId,
    pub imbrication: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct NewLink {
    pub start: f64,
    pub end: f64,
    pub value: ValueId,
    pub from: ContainerId,
    pub to: ContainerId,
    pub key: KeyPlace,
    pub extra: ExtraPair,
}

/// Columns of a chunk of states: start, end, value, imbrication, extras.
pub struct StateChunk;

impl StateChunk {
    pub const fn words(size: usize, width: Width, extras: bool) -> usize {
        let kept = if extras { size } else { 0 };
        2 * size + 2 * width.words(size) + kept
    }

    pub const fn value(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }

    pub const fn imbrication(chunk: &Chunk) -> usize {
        2 * chunk.size() + chunk.width.words(chunk.size())
    }

    pub const fn extras(chunk: &Chunk) -> usize {
        2 * chunk.size() + 2 * chunk.width.words(chunk.size())
    }
}

/// Columns of a chunk of variables: start, value, extras. A value lasts until the next start.
pub struct VariableChunk;

impl VariableChunk {
    pub const fn extras(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }
}

/// Columns of a chunk of events: time, value, extras.
pub struct EventChunk;

impl EventChunk {
    pub const fn value(chunk: &Chunk) -> usize {
        chunk.size()
    }

    pub const fn extras(chunk: &Chunk) -> usize {
        chunk.size() + chunk.width.words(chunk.size())
    }
}

/// Columns of a chunk of links: start, end, key, value, from, to, extras.
pub struct LinkChunk;

impl LinkChunk {
    pub const fn key(chunk: &Chunk) -> usize {
        2 * chunk.size()
    }

    pub const fn small(chunk: &Chunk, column: usize) -> usize {
        3 * chunk.size() + column * chunk.width.words(chunk.size())
    }

    pub const fn extras(chunk: &Chunk) -> usize {
        LinkChunk::small(chunk, 3)
    }

    pub const fn words(size: usize, width: Width, extras: bool) -> usize {
        3 * size + 3 * width.words(size) + if extras { size } else { 0 }
    }
}

impl NewLink {
    /// Returns the bits that are set in any small number of the link.
    #[inline(always)]
    pub(crate) const fn small_bits(&self) -> u32 {
        self.value.0 | self.from.0 | self.to.0
    }

    /// Returns the width for the link's small numbers. It is at least two bytes, because the next link may have a
    /// container with a larger number.
    #[inline(always)]
    pub fn width(&self) -> Width {
        Width::of(self.small_bits()).max(Width::Narrow)
    }
}

#[inline(never)]
pub fn push_link(arena: &mut Arena, rows: &mut Rows, link: &NewLink, extras: bool) {
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

#[inline]
pub fn push_key(arena: &mut Arena, rows: &mut Rows, key: KeyPlace) {
    let (chunk, index) = rows.push(arena, Width::Narrow, |size, _| size);
    arena.set(chunk.place, index, key.0);
}

/// Returns the places of the keys in a column of a chunk.
pub fn key_places<'a>(
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
    fn key_places_keep_their_parts() {
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

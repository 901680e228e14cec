//! Objects as columns, in chunks that never move.
//!
//! The objects of a lane fill chunks; the chunks of all lanes of a worker share slabs, one array a
//! column. Nothing is ever copied to grow, so a page is touched once: a fresh page costs more than
//! replaying the events that fill it. A lane's first chunks are small, so that many lanes of few
//! objects stay small too.

use bytemuck::Pod;

/// Objects in a slab.
pub(crate) const SLAB: usize = 1 << 16;

/// Sizes of a lane's first chunks; then every chunk has the last size. All are multiples of `UNIT`,
/// and the largest keeps a chunk's columns in the first-level cache while it is exported.
const CHUNKS: [usize; 5] = [8, 32, 128, 512, 1024];

/// Chunks begin at multiples of this many objects, so that 32 bits number them.
const UNIT: usize = 8;

/// Where an object stands in the slabs of its nature: slab, and index in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address(u64);

impl Address {
    #[inline]
    pub(crate) const fn slab(self) -> usize {
        (self.0 / SLAB as u64) as usize
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        (self.0 % SLAB as u64) as usize
    }
}

/// Hands out chunks, slab after slab.
#[derive(Debug, Default)]
pub(crate) struct ChunkAllocator {
    next: u64,
}

impl ChunkAllocator {
    fn take(&mut self, size: usize) -> u64 {
        let in_slab = (self.next % SLAB as u64) as usize;
        if in_slab + size > SLAB {
            self.next += (SLAB - in_slab) as u64;
        }
        let start = self.next;
        self.next += size as u64;
        start
    }
}

/// The objects of a lane, in their order.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The start of each chunk, in units.
    chunks: Vec<u32>,
    len: u64,
    next: u64,
    room: u32,
}

impl Rows {
    /// The place for one more object.
    #[inline(always)]
    pub(crate) fn push(&mut self, allocator: &mut ChunkAllocator) -> Address {
        if self.room == 0 {
            self.extend(allocator);
        }
        let at = self.next;
        self.next += 1;
        self.room -= 1;
        self.len += 1;
        Address(at)
    }

    #[cold]
    fn extend(&mut self, allocator: &mut ChunkAllocator) {
        let size = chunk_size(self.chunks.len());
        self.next = allocator.take(size);
        self.room = size as u32;
        self.chunks.push((self.next / UNIT as u64) as u32);
    }

    /// How many objects the lane has.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Where an object is, by its place in the lane.
    pub(crate) fn address(&self, row: u64) -> Address {
        let mut first = 0;
        let mut ordinal = 0;
        while ordinal + 1 < CHUNKS.len() && row >= first + CHUNKS[ordinal] as u64 {
            first += CHUNKS[ordinal] as u64;
            ordinal += 1;
        }
        let size = CHUNKS[ordinal] as u64;
        ordinal += ((row - first) / size) as usize;
        Address(u64::from(self.chunks[ordinal]) * UNIT as u64 + (row - first) % size)
    }

    /// The chunks from the `first` on, none of them empty: where each begins, and how many objects it
    /// holds.
    pub(crate) fn chunks_from(&self, first: usize) -> impl Iterator<Item = (Address, usize)> + '_ {
        let first = first.min(self.chunks.len());
        (first..).zip(&self.chunks[first..]).map(|(ordinal, unit)| {
            // All are full but the last.
            let last = ordinal + 1 == self.chunks.len();
            let count = chunk_size(ordinal) - if last { self.room as usize } else { 0 };
            (Address(u64::from(*unit) * UNIT as u64), count)
        })
    }

    /// All chunks.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (Address, usize)> + '_ {
        self.chunks_from(0)
    }
}

const fn chunk_size(ordinal: usize) -> usize {
    if ordinal < CHUNKS.len() { CHUNKS[ordinal] } else { CHUNKS[CHUNKS.len() - 1] }
}

/// One column of one nature: an array for each slab.
#[derive(Debug)]
pub(crate) struct Column<T> {
    slabs: Vec<Box<[T; SLAB]>>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { slabs: Vec::new() }
    }
}

impl<T: Pod> Column<T> {
    /// Stores a value at a place, which must have come from the allocator of this column.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: Address, value: T) {
        if at.slab() >= self.slabs.len() {
            self.grow(at.slab());
        }
        self.slabs[at.slab()][at.index()] = value;
    }

    /// `count` values from a place on; they must be of one chunk.
    #[inline]
    pub(crate) fn slice(&self, at: Address, count: usize) -> &[T] {
        &self.slabs[at.slab()][at.index()..at.index() + count]
    }

    #[cold]
    fn grow(&mut self, slab: usize) {
        // Zeroed memory of this size comes from the system untouched: a page is there when it is
        // first written.
        self.slabs.resize_with(slab + 1, bytemuck::zeroed_box);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_keep_their_order() {
        let lane_of = |i: u32| (u64::from(i) * u64::from(i) % 50) as usize;
        let mut allocator = ChunkAllocator::default();
        let mut column = Column::<u32>::default();
        let mut lanes: Vec<Rows> = (0..50).map(|_| Rows::default()).collect();
        for i in 0..200_000u32 {
            let lane = &mut lanes[lane_of(i)];
            column.set(lane.push(&mut allocator), i);
        }
        let mut total = 0;
        for (lane, rows) in (0..50).zip(&lanes) {
            let found: Vec<u32> =
                rows.chunks().flat_map(|(at, count)| column.slice(at, count).to_vec()).collect();
            let expected: Vec<u32> = (0..200_000).filter(|i| lane_of(*i) == lane).collect();
            assert_eq!(found, expected);
            let by_row = |row| column.slice(rows.address(row), 1)[0];
            assert_eq!((0..rows.len()).map(by_row).collect::<Vec<_>>(), expected);
            assert_eq!(rows.len(), expected.len() as u64);
            total += found.len();
        }
        assert_eq!(total, 200_000);
    }
}

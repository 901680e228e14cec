//! Fast path for adding rows: the columns of a lane's last chunk, borrowed for many rows.
//!
//! It handles the common case, in which rows have no user-defined fields and small numbers take at
//! most two bytes. In other cases, or if the chunk is full, it writes nothing, and the caller takes
//! the slow path.

use crate::memory::{Arena, Chunk, LinkChunk, NewLink, OpenRow, Place, Rows, Store, Width};
use crate::names::ids::ValueId;

pub trait Small: bytemuck::Pod {
    const WIDTH: Width;
    const MOST: u32;

    fn of(number: u32) -> Self;
}

impl Small for u8 {
    const WIDTH: Width = Width::Byte;
    const MOST: u32 = u8::MAX as u32;

    #[inline(always)]
    fn of(number: u32) -> u8 {
        number as u8
    }
}

impl Small for u16 {
    const WIDTH: Width = Width::Narrow;
    const MOST: u32 = u16::MAX as u32;

    #[inline(always)]
    fn of(number: u32) -> u16 {
        number as u16
    }
}

pub struct StateRoom<'a, N> {
    starts: &'a mut [u64],
    ends: &'a mut [u64],
    values: &'a mut [N],
    imbrications: &'a mut [N],
    /// Number of states in the chunk. It is written back to `count`.
    len: usize,
    count: &'a mut u16,
    chunk: Chunk,
    /// Place of the first state's end.
    first_end: Place,
}

impl<'a, N: Small> StateRoom<'a, N> {
    #[inline(always)]
    pub fn of(rows: &'a mut Rows, store: &'a mut Store) -> Option<Self> {
        let (chunk, count) = plain(rows, store.extras.is_none(), N::WIDTH)?;
        let (size, small) = (chunk.size(), N::WIDTH.words(chunk.size()));
        let words = store.arena.words_mut(chunk.place);
        let (starts, words) = words.split_at_mut_checked(size)?;
        let (ends, words) = words.split_at_mut_checked(size)?;
        let (values, words) = words.split_at_mut_checked(small)?;
        let values = bytemuck::cast_slice_mut(values).get_mut(..size)?;
        let imbrications = bytemuck::cast_slice_mut(words).get_mut(..size)?;
        let (len, first_end) = (chunk.count(), chunk.place.after(size));
        Some(StateRoom { starts, ends, values, imbrications, len, count, chunk, first_end })
    }

    #[inline(always)]
    pub fn open(&mut self, start: f64, value: ValueId, imbrication: u32) -> bool {
        let (i, numbers) = (self.len, value.0 | imbrication);
        let row = (self.starts.get_mut(i), self.values.get_mut(i), self.imbrications.get_mut(i));
        let (Some(to_start), Some(to_value), Some(to_imbrication)) = row else { return false };
        if numbers > N::MOST {
            return false;
        }
        *to_start = start.to_bits();
        *to_value = N::of(value.0);
        *to_imbrication = N::of(imbrication);
        self.len = i + 1;
        *self.count = self.len as u16;
        true
    }

    #[inline(always)]
    pub fn end_last(&mut self, end: f64) {
        if let Some(last) = self.ends.get_mut(self.len.wrapping_sub(1)) {
            *last = end.to_bits();
        }
    }

    /// Ends a state. Returns whether the state is in this chunk.
    #[inline(always)]
    pub fn end(&mut self, row: OpenRow, end: f64) -> bool {
        let index = row.words_after(self.first_end);
        let Some(to_end) = index.and_then(|index| self.ends.get_mut(index)) else { return false };
        *to_end = end.to_bits();
        true
    }

    /// Returns the last state, which must be open.
    #[inline(always)]
    pub fn last(&self) -> OpenRow {
        OpenRow::new(&self.chunk, self.len.saturating_sub(1))
    }
}

pub struct VariableRoom<'a> {
    starts: &'a mut [u64],
    values: &'a mut [u64],
    len: usize,
    count: &'a mut u16,
}

impl<'a> VariableRoom<'a> {
    #[inline(always)]
    pub fn of(rows: &'a mut Rows, store: &'a mut Store) -> Option<Self> {
        let (chunk, count) = plain(rows, store.extras.is_none(), Width::Byte)?;
        let words = store.arena.words_mut(chunk.place);
        let (starts, words) = words.split_at_mut_checked(chunk.size())?;
        let values = words.get_mut(..chunk.size())?;
        Some(VariableRoom { starts, values, len: chunk.count(), count })
    }

    #[inline(always)]
    pub fn push(&mut self, start: f64, value: f64) -> bool {
        let row = (self.starts.get_mut(self.len), self.values.get_mut(self.len));
        let (Some(to_start), Some(to_value)) = row else { return false };
        *to_start = start.to_bits();
        *to_value = value.to_bits();
        self.len += 1;
        *self.count = self.len as u16;
        true
    }
}

pub struct LinkRoom<'a> {
    times: [&'a mut [u64]; 2],
    keys: &'a mut [u64],
    numbers: [&'a mut [u16]; 3],
    len: usize,
    count: &'a mut u16,
}

impl<'a> LinkRoom<'a> {
    #[inline(always)]
    pub fn of(rows: &'a mut Rows, arena: &'a mut Arena) -> Option<Self> {
        let (chunk, count) = plain(rows, true, Width::Narrow)?;
        let (size, small) = (chunk.size(), chunk.width.words(chunk.size()));
        let (wide, words) =
            arena.words_mut(chunk.place).split_at_mut_checked(LinkChunk::small(&chunk, 0))?;
        let (starts, rest) = wide.split_at_mut_checked(size)?;
        let (ends, keys) = rest.split_at_mut_checked(size)?;
        let (values, words) = words.split_at_mut_checked(small)?;
        let (from, to) = words.split_at_mut_checked(small)?;
        let narrow = |words: &'a mut [u64]| bytemuck::cast_slice_mut(words).get_mut(..size);
        let numbers = [narrow(values)?, narrow(from)?, narrow(to)?];
        Some(LinkRoom { times: [starts, ends], keys, numbers, len: chunk.count(), count })
    }

    #[inline(always)]
    pub fn push(&mut self, link: &NewLink) -> bool {
        let i = self.len;
        let ([starts, ends], [values, from, to]) = (&mut self.times, &mut self.numbers);
        let times = (starts.get_mut(i), ends.get_mut(i), self.keys.get_mut(i));
        let (Some(to_start), Some(to_end), Some(to_key)) = times else { return false };
        let small = (values.get_mut(i), from.get_mut(i), to.get_mut(i));
        let (Some(to_value), Some(to_from), Some(to_to)) = small else { return false };
        if link.small_bits() > u16::MOST {
            return false;
        }
        (*to_start, *to_end) = (link.start.to_bits(), link.end.to_bits());
        *to_key = link.key.word();
        *to_value = link.value.0 as u16;
        (*to_from, *to_to) = (link.from.0 as u16, link.to.0 as u16);
        self.len = i + 1;
        *self.count = self.len as u16;
        true
    }
}

/// Returns the last chunk and its count, if the chunk has this width and its rows have no
/// user-defined fields.
#[inline(always)]
fn plain(rows: &mut Rows, without_extras: bool, width: Width) -> Option<(Chunk, &mut u16)> {
    let (chunk, count) = rows.last_mut();
    let is_plain = without_extras && chunk.width == width && chunk.size() > 0;
    is_plain.then_some((chunk, count))
}

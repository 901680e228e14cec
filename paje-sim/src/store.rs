//! Finished objects as columns.

use bytemuck::{Pod, Zeroable};

use crate::columns::{Address, ChunkAllocator, Column, Rows};
use crate::ids::{ContainerId, ValueId};

/// The objects of a shard's lanes, and the texts that hang on them. The rows of links are elsewhere:
/// see `engine::merge`.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) states: StateColumns,
    pub(crate) variables: VariableColumns,
    pub(crate) events: EventColumns,
    pub(crate) keys: Keys,
    /// User-defined fields; `None` when they are not kept.
    pub(crate) extras: Option<Extras>,
}

/// 24 bytes a state.
#[derive(Debug, Default)]
pub(crate) struct StateColumns {
    allocator: ChunkAllocator,
    pub(crate) start: Column<f64>,
    pub(crate) end: Column<f64>,
    pub(crate) value: Column<ValueId>,
    pub(crate) imbrication: Column<u32>,
    pub(crate) extra: Column<ExtraPair>,
}

/// 16 bytes a change: it lasts until the next one's start.
#[derive(Debug, Default)]
pub(crate) struct VariableColumns {
    allocator: ChunkAllocator,
    pub(crate) start: Column<f64>,
    pub(crate) value: Column<f64>,
    pub(crate) extra: Column<ExtraPair>,
}

/// 12 bytes an event.
#[derive(Debug, Default)]
pub(crate) struct EventColumns {
    allocator: ChunkAllocator,
    pub(crate) time: Column<f64>,
    pub(crate) value: Column<ValueId>,
    pub(crate) extra: Column<ExtraPair>,
}

/// 36 bytes a link, and its key.
#[derive(Debug, Default)]
pub(crate) struct LinkColumns {
    allocator: ChunkAllocator,
    pub(crate) start: Column<f64>,
    pub(crate) end: Column<f64>,
    pub(crate) value: Column<ValueId>,
    pub(crate) from: Column<ContainerId>,
    pub(crate) to: Column<ContainerId>,
    pub(crate) key: Column<KeyPlace>,
    pub(crate) extra: Column<ExtraPair>,
}

/// Where a link's key is kept, and the shard of its strand, which has its user-defined fields too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct KeyPlace(u64);

impl KeyPlace {
    pub(crate) const fn new(shard: usize, place: u64) -> Self {
        KeyPlace(place << 8 | shard as u64)
    }

    pub(crate) const fn shard(self) -> usize {
        (self.0 & 0xff) as usize
    }

    pub(crate) const fn place(self) -> u64 {
        self.0 >> 8
    }
}

/// The user-defined fields of the event that opened an object and of the one that closed it: numbers
/// in [`Extras`], 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ExtraPair {
    pub(crate) opening: u32,
    pub(crate) closing: u32,
}

/// A state as it is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewState {
    pub(crate) start: f64,
    pub(crate) value: ValueId,
    pub(crate) imbrication: u32,
    pub(crate) extra: u32,
}

/// A link with both its ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewLink {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: ValueId,
    pub(crate) from: ContainerId,
    pub(crate) to: ContainerId,
    pub(crate) key: u64,
    pub(crate) extra: ExtraPair,
}

impl Store {
    pub(crate) fn new(user_defined: bool) -> Self {
        Store { extras: user_defined.then(Extras::default), ..Store::default() }
    }

    #[inline]
    pub(crate) fn open_state(&mut self, rows: &mut Rows, state: NewState) -> Address {
        let columns = &mut self.states;
        let at = rows.push(&mut columns.allocator);
        columns.start.set(at, state.start);
        columns.value.set(at, state.value);
        columns.imbrication.set(at, state.imbrication);
        // The end is set when the state closes; until then its memory stays untouched.
        if self.extras.is_some() {
            let pair = ExtraPair { opening: state.extra, closing: 0 };
            columns.extra.set(at, pair);
        }
        at
    }

    #[inline]
    pub(crate) fn close_state(&mut self, at: Address, end: f64, extra: u32) {
        self.states.end.set(at, end);
        if self.extras.is_some() {
            let opening = self.states.extra.slice(at, 1)[0].opening;
            let pair = ExtraPair { opening, closing: extra };
            self.states.extra.set(at, pair);
        }
    }

    /// Sets the end of a state whose closing event has no user-defined fields to keep.
    #[inline]
    pub(crate) fn end_state(&mut self, at: Address, end: f64) {
        self.states.end.set(at, end);
    }

    #[inline]
    pub(crate) fn variable(&mut self, rows: &mut Rows, start: f64, value: f64, extra: u32) {
        let columns = &mut self.variables;
        let at = rows.push(&mut columns.allocator);
        columns.start.set(at, start);
        columns.value.set(at, value);
        if self.extras.is_some() {
            columns.extra.set(at, ExtraPair { opening: extra, closing: 0 });
        }
    }

    #[inline]
    pub(crate) fn event(&mut self, rows: &mut Rows, time: f64, value: ValueId, extra: u32) {
        let columns = &mut self.events;
        let at = rows.push(&mut columns.allocator);
        columns.time.set(at, time);
        columns.value.set(at, value);
        if self.extras.is_some() {
            columns.extra.set(at, ExtraPair { opening: extra, closing: 0 });
        }
    }
}

impl LinkColumns {
    #[inline]
    pub(crate) fn push(&mut self, rows: &mut Rows, link: &NewLink, shard: usize, extras: bool) {
        let at = rows.push(&mut self.allocator);
        self.start.set(at, link.start);
        self.end.set(at, link.end);
        self.value.set(at, link.value);
        self.from.set(at, link.from);
        self.to.set(at, link.to);
        self.key.set(at, KeyPlace::new(shard, link.key));
        if extras {
            self.extra.set(at, link.extra);
        }
    }
}

/// Keys of links, as they were written, each behind its length.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
}

/// Lengths from this on are written in four bytes behind this one.
const LONG: u8 = u8::MAX;

impl Keys {
    pub(crate) fn push(&mut self, raw: &[u8]) -> u64 {
        let at = self.bytes.len() as u64;
        match u8::try_from(raw.len()) {
            Ok(len) if len < LONG => self.bytes.push(len),
            _ => {
                self.bytes.push(LONG);
                self.bytes.extend((raw.len() as u32).to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(raw);
        at
    }

    pub(crate) fn get(&self, at: u64) -> &[u8] {
        let rest = &self.bytes[at as usize..];
        match rest {
            [LONG, a, b, c, d, rest @ ..] => &rest[..u32::from_le_bytes([*a, *b, *c, *d]) as usize],
            [len, rest @ ..] => &rest[..*len as usize],
            [] => &[],
        }
    }
}

/// User-defined fields of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extras {
    /// The event definition, and where the text ends.
    entries: Vec<(u32, u64)>,
    /// The fields as they were written, each with a newline after it: no field holds one.
    text: Vec<u8>,
}

impl Extras {
    /// Keeps the fields of an event; returns their number, from 1.
    pub(crate) fn push(&mut self, def: u32, text: &[u8]) -> u32 {
        self.text.extend_from_slice(text);
        self.entries.push((def, self.text.len() as u64));
        self.entries.len() as u32
    }

    /// The definition and the fields' text.
    pub(crate) fn get(&self, number: u32) -> Option<(u32, &[u8])> {
        let index = (number as usize).checked_sub(1)?;
        let (def, end) = *self.entries.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.entries[before].1);
        Some((def, &self.text[start as usize..end as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length() {
        let mut keys = Keys::default();
        let texts: Vec<Vec<u8>> =
            [0, 1, 5, 253, 254, 255, 256, 70_000].iter().map(|len| vec![b'k'; *len]).collect();
        let places: Vec<u64> = texts.iter().map(|text| keys.push(text)).collect();
        for (text, at) in texts.iter().zip(places) {
            assert_eq!(keys.get(at), text);
        }
    }

    #[test]
    fn extras_are_numbered_from_one() {
        let mut extras = Extras::default();
        assert_eq!(extras.push(3, b"a\nb\n"), 1);
        assert_eq!(extras.push(4, b""), 2);
        assert_eq!(extras.push(5, b"c\n"), 3);
        assert_eq!(extras.get(0), None);
        assert_eq!(extras.get(1), Some((3, &b"a\nb\n"[..])));
        assert_eq!(extras.get(2), Some((4, &b""[..])));
        assert_eq!(extras.get(3), Some((5, &b"c\n"[..])));
        assert_eq!(extras.get(4), None);
    }
}

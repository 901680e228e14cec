//! Ends of links and their keys, as events give them.

use paje_parser::{Field, LinkEnd, Span};

use crate::memory::{KeyRoom, Store};
use crate::names::hash::ShortText;
use crate::names::ids::{ContainerId, ValueId};

/// A key as a line names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenKey<'a> {
    /// The block.
    pub(crate) padded: &'a [u8],
    /// With its quotes.
    pub(crate) raw: Span,
    /// Its text without quotes, and that one's hash.
    pub(crate) short: &'a ShortText,
    pub(crate) hash: u64,
}

impl<'a> WrittenKey<'a> {
    fn raw(self) -> &'a [u8] {
        &self.padded[self.raw.start as usize..self.raw.end as usize]
    }

    /// Tells whether it is that at a place, quotes apart. Few keys are so long that this is asked.
    #[cold]
    #[inline(never)]
    pub(super) fn is_kept_at(self, store: &Store, place: u64) -> bool {
        bare_key(store.keys.get(place)) == bare_key(self.raw())
    }
}

/// Memory of keys.
pub(crate) trait Keeper {
    /// Keeps a key as it was written; returns its place, if there is room.
    fn keep(&mut self, key: WrittenKey<'_>) -> Option<u64>;

    /// Tells whether a key is that at a place, quotes apart; only if it is not short.
    fn has_at(&self, key: WrittenKey<'_>, place: u64) -> bool;
}

impl Keeper for Store {
    fn keep(&mut self, key: WrittenKey<'_>) -> Option<u64> {
        Some(self.keys.push(key.raw()))
    }

    fn has_at(&self, key: WrittenKey<'_>, place: u64) -> bool {
        key.is_kept_at(self, place)
    }
}

/// Of short keys without quotes; nothing else is kept here.
impl Keeper for KeyRoom<'_> {
    #[inline(always)]
    fn keep(&mut self, key: WrittenKey<'_>) -> Option<u64> {
        let (bytes, len) = key.short.bytes();
        match (key.raw.end - key.raw.start) as usize == len && len <= bytes.len() {
            true => self.push_short(&bytes, len),
            false => None,
        }
    }

    #[inline(always)]
    fn has_at(&self, _: WrittenKey<'_>, _: u64) -> bool {
        false
    }
}

/// One end of a link, as its event gives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfLink {
    pub(crate) end: LinkEnd,
    pub(crate) time: f64,
    pub(crate) value: ValueId,
    pub(crate) container: ContainerId,
    pub(crate) extra: u32,
}

/// The key without its quotes.
pub(crate) fn bare_key(raw: &[u8]) -> &[u8] {
    let whole = Span { start: 0, end: raw.len() as u32 };
    let field: Field<'_> = whole.of(raw);
    field.bare()
}

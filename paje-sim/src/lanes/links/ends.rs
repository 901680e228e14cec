//! Ends of links, and their keys.

use paje_parser::{Field, LinkEnd, Span};

use crate::memory::{KeyRoom, Store};
use crate::names::hash::ShortText;
use crate::names::ids::{ContainerId, ValueId};

/// A key as a line writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenKey<'a> {
    /// Text of the block.
    pub(crate) padded: &'a [u8],
    /// Key with its quotes.
    pub(crate) raw: Span,
    /// Key without quotes, and its hash.
    pub(crate) short: &'a ShortText,
    pub(crate) hash: u64,
}

impl<'a> WrittenKey<'a> {
    fn raw(self) -> &'a [u8] {
        &self.padded[self.raw.start as usize..self.raw.end as usize]
    }

    /// Compares it with a stored key, without quotes. Needed for long keys only.
    #[cold]
    #[inline(never)]
    pub(super) fn is_kept_at(self, store: &Store, place: u64) -> bool {
        bare_key(store.keys.get(place)) == bare_key(self.raw())
    }
}

/// Memory of keys.
pub(crate) trait Keeper {
    /// Stores a key as it was written. Returns its place, or `None` if there is no room.
    fn keep(&mut self, key: WrittenKey<'_>) -> Option<u64>;

    /// Compares a key that is not short with a stored one, without quotes.
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

/// Stores only short keys without quotes.
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

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HalfLink {
    pub(crate) end: LinkEnd,
    pub(crate) time: f64,
    pub(crate) value: ValueId,
    pub(crate) container: ContainerId,
    pub(crate) extra: u32,
}

/// Returns a key without its quotes.
pub(crate) fn bare_key(raw: &[u8]) -> &[u8] {
    let whole = Span { start: 0, end: raw.len() as u32 };
    let field: Field<'_> = whole.of(raw);
    field.bare()
}

//! Ends of links, and their keys.

use paje_parser::{Field, LinkEnd, Span};

use paje_model::memory::{KeyRoom, Store};
use paje_model::names::hash::ShortText;
use paje_model::names::ids::{ContainerId, ValueId};

#[derive(Clone, Copy, Debug)]
pub struct WrittenKey<'a> {
    pub(crate) padded: &'a [u8],
    pub(crate) raw: Span,
    pub(crate) short: &'a ShortText,
    pub(crate) hash: u64,
}

impl<'a> WrittenKey<'a> {
    fn raw(self) -> &'a [u8] {
        &self.padded[self.raw.start as usize..self.raw.end as usize]
    }

    /// Compares the key with a stored key, without quotes. This is only needed for long keys.
    #[cold]
    #[inline(never)]
    pub(super) fn is_kept_at(self, store: &Store, place: u64) -> bool {
        bare_key(store.keys.get(place)) == bare_key(self.raw())
    }
}

pub trait Keeper {
    /// Stores a key as written. Returns its place, or `None` if there is no room.
    fn keep(&mut self, key: WrittenKey<'_>) -> Option<u64>;

    /// Compares a long key with a stored key, without quotes.
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

#[derive(Clone, Copy, Debug)]
pub struct HalfLink {
    pub(crate) end: LinkEnd,
    pub(crate) at: u64,
    pub(crate) time: f64,
    pub(crate) value: ValueId,
    pub(crate) container: ContainerId,
    pub(crate) extra: u32,
}

pub(crate) fn bare_key(raw: &[u8]) -> &[u8] {
    let whole = Span { start: 0, end: raw.len() as u32 };
    let field: Field<'_> = whole.of(raw);
    field.bare()
}

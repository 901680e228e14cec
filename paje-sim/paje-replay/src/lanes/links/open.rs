//! Incomplete links, by key.
//!
//! A hash table with chains. Almost every link is inserted, found and removed once. Free slots are reused first, so
//! that the slots in use stay in the cache.

use paje_parser::LinkEnd;

use crate::lanes::links::ends::HalfLink;
use paje_model::memory::KeyPlace;
use paje_model::names::hash::ShortText;
use paje_model::names::ids::{ContainerId, ValueId};

#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLink {
    hash: u32,
    /// Next link of the chain, or next free slot. `NONE` at the end.
    next: u32,
    short: ShortText,
    is_free: bool,
    end: LinkEnd,
    pub(super) key: KeyPlace,
    pub(super) at: u64,
    time: f64,
    value: ValueId,
    container: ContainerId,
    pub(super) extra: u32,
}

const NONE: u32 = u32::MAX;

impl OpenLink {
    #[inline(always)]
    pub(super) const fn new(hash: u64, short: ShortText, half: HalfLink, key: KeyPlace) -> Self {
        let HalfLink { end, at, time, value, container, extra } = half;
        let (hash, next, is_free) = (hash as u32, NONE, false);
        OpenLink { hash, next, short, is_free, end, key, at, time, value, container, extra }
    }

    #[inline(always)]
    pub(super) const fn half(&self) -> HalfLink {
        let OpenLink { end, at, time, value, container, extra, .. } = *self;
        HalfLink { end, at, time, value, container, extra }
    }
}

#[derive(Debug)]
pub(super) struct OpenLinks {
    links: Vec<OpenLink>,
    free: u32,
    /// First link of each chain. The number of chains is a power of two.
    chains: Vec<u32>,
    len: usize,
}

impl Default for OpenLinks {
    fn default() -> Self {
        OpenLinks { links: Vec::new(), free: NONE, chains: Vec::new(), len: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    link: u32,
    before: u32,
}

impl OpenLinks {
    /// Finds the link with a key. `is` compares long keys whose hashes are equal.
    #[inline(always)]
    pub(super) fn find(
        &self,
        hash: u64,
        short: &ShortText,
        is: impl Fn(&OpenLink) -> bool,
    ) -> Option<Slot> {
        let mut link = *self.chains.get(hash as usize & self.chains.len().wrapping_sub(1))?;
        let mut before = NONE;
        // The number `NONE` ends a chain, because no slot has that number.
        while let Some(open) = self.links.get(link as usize) {
            if open.short.is(*short) && (!short.is_long() || open.hash == hash as u32 && is(open)) {
                return Some(Slot { link, before });
            }
            (before, link) = (link, open.next);
        }
        None
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: Slot) -> &OpenLink {
        &self.links[slot.link as usize]
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, link: OpenLink) {
        if self.len * 2 >= self.chains.len() {
            self.grow();
        }
        self.len += 1;
        let mask = self.chains.len() - 1;
        let chain = &mut self.chains[link.hash as usize & mask];
        let link = OpenLink { next: *chain, ..link };
        match self.links.get_mut(self.free as usize) {
            Some(free) => {
                *chain = self.free;
                self.free = free.next;
                *free = link;
            }
            None => {
                *chain = self.links.len() as u32;
                self.links.push(link);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let count = (self.chains.len() * 2).max(64);
        self.chains.clear();
        self.chains.resize(count, NONE);
        for (link, number) in self.links.iter_mut().zip(0..) {
            if !link.is_free {
                let chain = &mut self.chains[link.hash as usize & (count - 1)];
                link.next = std::mem::replace(chain, number);
            }
        }
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, Slot { link: number, before }: Slot) -> &OpenLink {
        let link = &mut self.links[number as usize];
        let (hash, next) = (link.hash, link.next);
        (link.is_free, link.next) = (true, self.free);
        self.free = number;
        self.len -= 1;
        match self.links.get_mut(before as usize) {
            Some(before) => before.next = next,
            None => {
                let mask = self.chains.len() - 1;
                self.chains[hash as usize & mask] = next;
            }
        }
        &self.links[number as usize]
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenLink> {
        self.links.iter().filter(|link| !link.is_free)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OpenLink> {
        self.links.iter_mut().filter(|link| !link.is_free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn links_are_small() {
        assert_eq!(size_of::<OpenLink>(), 64);
    }

    fn link(key: u64, hash: u64) -> OpenLink {
        let half = HalfLink {
            end: LinkEnd::End,
            at: key,
            time: 1.0,
            value: ValueId(1),
            container: ContainerId::ROOT,
            extra: 0,
        };
        OpenLink::new(hash, short(key), half, KeyPlace::from_word(key))
    }

    /// Returns the text of a key. Odd keys have long texts.
    fn short(key: u64) -> ShortText {
        let padded = (u128::from(key) << 8 | 0xff).to_le_bytes();
        if key.is_multiple_of(2) { ShortText::new(&padded, 0, 3) } else { ShortText::LONG }
    }

    proptest! {
        /// Inserts and removes keys. Only `spread` bits of the hashes differ, so that searches are long.
        #[test]
        fn equals_a_plain_map(
            keys in proptest::collection::vec(0..200u64, 0..600),
            spread in 0..10u32,
        ) {
            let hash = |key: u64| key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - spread).min(63);
            let (mut table, mut plain) = (OpenLinks::default(), BTreeMap::new());
            for key in keys {
                let found = table.find(hash(key), &short(key), |link| link.at == key);
                prop_assert_eq!(found.map(|slot| table.get(slot).at), plain.get(&key).copied());
                match found {
                    Some(slot) => {
                        table.remove(slot);
                        plain.remove(&key);
                    }
                    None => {
                        table.insert(link(key, hash(key)));
                        plain.insert(key, key);
                    }
                }
                prop_assert_eq!(table.len(), plain.len());
            }
            let mut all: Vec<u64> = table.iter().map(|link| link.at).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(plain.into_keys()));
        }
    }
}

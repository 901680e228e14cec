//! Search for keys that were used before, among those that may have been.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::lanes::links::filter::Hashes;
use crate::lanes::links::{Suspect, bare_key};
use crate::memory::{KeyHashes, KeyPlace, TextPages};
use crate::names::hash::{TextMap, TextSet};

/// A search among the links of a strand for keys that its suspects have, too. Several workers may look at a part of the
/// links each.
pub(crate) struct Search<'s> {
    suspects: &'s [Suspect],
    keys: &'s TextPages,
    hashes: Hashes,
    counts: TextMap<&'s [u8], Count>,
}

/// Numbers of links and of suspects that have a suspected key.
#[derive(Debug, Default)]
struct Count {
    links: AtomicU32,
    suspects: u32,
}

impl<'s> Search<'s> {
    /// For the keys of these suspects, which are among `keys`.
    pub(crate) fn new(suspects: &'s [Suspect], keys: &'s TextPages) -> Self {
        let hashes = Hashes::of(suspects.iter().map(|suspect| suspect.hash));
        let mut counts: TextMap<&[u8], Count> = TextMap::default();
        for (number, suspect) in suspects.iter().enumerate() {
            counts.entry(key_of(suspect, keys, number)).or_default().suspects += 1;
        }
        Search { suspects, keys, hashes, counts }
    }

    /// The strand's keys.
    pub(crate) const fn keys(&self) -> &'s TextPages {
        self.keys
    }

    /// Looks at the key of one of the strand's links; each must come once, but for those whose [`Tags`] no suspect has.
    pub(crate) fn look(&self, key: KeyPlace, hash: &mut KeyHashes<'s>) {
        if self.hashes.has(hash.of(key.place()))
            && let Some(count) = self.counts.get(bare_key(self.keys.get(key.place())))
        {
            count.links.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The first suspect, by the byte of its event, whose key another link of the strand had before; and how many such
    /// links there are. All links must have been looked at.
    pub(crate) fn first(&self) -> Option<(&'s Suspect, u64)> {
        let links = |count: &Count| count.links.load(Ordering::Relaxed);
        // All links of a key but the first are suspects; the first may be one by mistake. Suspects are in
        // the order of their events.
        let mut first_met: TextSet<&[u8]> = TextSet::default();
        let (_, first) = self.suspects.iter().enumerate().find(|(number, suspect)| {
            let key = key_of(suspect, self.keys, *number);
            let count = self.counts.get(key);
            count.is_some_and(|count| count.suspects < links(count)) || !first_met.insert(key)
        })?;
        let more = self.counts.values().map(|count| u64::from(links(count).saturating_sub(1)));
        Some((first, more.sum()))
    }
}

/// The key of a suspect. Each may be on a page of its own, which is read from a file if memory is short.
fn key_of<'s>(suspect: &Suspect, keys: &'s TextPages, number: usize) -> &'s [u8] {
    if number % 64 == 63 {
        keys.relieve();
    }
    bare_key(keys.get(suspect.key))
}

/// Tags of keys, which are looked at first.
pub(crate) struct Tags(Box<[u64; 1 << 10]>);

impl Tags {
    /// The tags of the keys of some suspects.
    pub(crate) fn of<'s>(suspects: impl Iterator<Item = &'s Suspect>) -> Self {
        let mut bits = Box::new([0; 1 << 10]);
        for tag in suspects.map(|suspect| KeyPlace::tag_of(suspect.hash)) {
            bits[usize::from(tag >> 6)] |= 1 << (tag & 63);
        }
        Tags(bits)
    }

    /// Tells whether one of them has this tag.
    #[inline(always)]
    pub(crate) fn has(&self, tag: u16) -> bool {
        self.0[usize::from(tag >> 6)] >> (tag & 63) & 1 != 0
    }
}

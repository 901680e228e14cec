//! Search for keys that were used before, among those that may have been.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::lanes::links::{Hashes, ReuseCandidate, bare_key};
use crate::memory::{KeyHashes, KeyPlace, TextPages};
use crate::names::hash::{TextMap, TextSet};

/// A search among the links of a strand for keys that its candidates have, too. Several workers may look at a part of the
/// links each.
pub(crate) struct Search<'s> {
    candidates: &'s [ReuseCandidate],
    keys: &'s TextPages,
    hashes: Hashes,
    counts: TextMap<&'s [u8], Count>,
}

/// Numbers of links and of candidates that have a candidateed key.
#[derive(Debug, Default)]
struct Count {
    links: AtomicU32,
    candidates: u32,
}

impl<'s> Search<'s> {
    /// For the keys of these candidates, which are among `keys`.
    pub(crate) fn new(candidates: &'s [ReuseCandidate], keys: &'s TextPages) -> Self {
        let hashes = Hashes::of(candidates.iter().map(|candidate| candidate.hash));
        let mut counts: TextMap<&[u8], Count> = TextMap::default();
        for (number, candidate) in candidates.iter().enumerate() {
            counts.entry(key_of(candidate, keys, number)).or_default().candidates += 1;
        }
        Search { candidates, keys, hashes, counts }
    }

    /// The strand's keys.
    pub(crate) const fn keys(&self) -> &'s TextPages {
        self.keys
    }

    /// Looks at the key of one of the strand's links; each must come once, but for those whose [`Tags`] no candidate has.
    pub(crate) fn look(&self, key: KeyPlace, hash: &mut KeyHashes<'s>) {
        if self.hashes.has(hash.of(key.place()))
            && let Some(count) = self.counts.get(bare_key(self.keys.get(key.place())))
        {
            count.links.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The first candidate, by the byte of its event, whose key another link of the strand had before; and how many such
    /// links there are. All links must have been looked at.
    pub(crate) fn first(&self) -> Option<(&'s ReuseCandidate, u64)> {
        let links = |count: &Count| count.links.load(Ordering::Relaxed);
        // All links of a key but the first are candidates; the first may be one by mistake. ReuseCandidates are in
        // the order of their events.
        let mut first_met: TextSet<&[u8]> = TextSet::default();
        let (_, first) = self.candidates.iter().enumerate().find(|(number, candidate)| {
            let key = key_of(candidate, self.keys, *number);
            let count = self.counts.get(key);
            count.is_some_and(|count| count.candidates < links(count)) || !first_met.insert(key)
        })?;
        let more = self.counts.values().map(|count| u64::from(links(count).saturating_sub(1)));
        Some((first, more.sum()))
    }
}

/// The key of a candidate. Each may be on a page of its own, which is read from a file if memory is short.
fn key_of<'s>(candidate: &ReuseCandidate, keys: &'s TextPages, number: usize) -> &'s [u8] {
    if number % 64 == 63 {
        keys.relieve();
    }
    bare_key(keys.get(candidate.key))
}

/// Tags of keys, which are looked at first.
pub(crate) struct Tags(Box<[u64; 1 << 10]>);

impl Tags {
    /// The tags of the keys of some candidates.
    pub(crate) fn of<'s>(candidates: impl Iterator<Item = &'s ReuseCandidate>) -> Self {
        let mut bits = Box::new([0; 1 << 10]);
        for tag in candidates.map(|candidate| KeyPlace::tag_of(candidate.hash)) {
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

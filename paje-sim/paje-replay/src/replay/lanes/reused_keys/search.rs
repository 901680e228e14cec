use std::sync::atomic::{AtomicU32, Ordering};

use crate::lanes::links::{Hashes, ReuseCandidate, bare_key};
use paje_model::memory::{KeyHashes, KeyPlace, TextPages};
use paje_model::names::hash::{TextMap, TextSet};

/// Counts the links of a strand that have a candidate's key. Several workers may count at the same time.
pub(crate) struct Search<'s> {
    candidates: &'s [ReuseCandidate],
    keys: &'s TextPages,
    hashes: Hashes,
    counts: TextMap<&'s [u8], Count>,
}

#[derive(Debug, Default)]
struct Count {
    links: AtomicU32,
    candidates: u32,
}

impl<'s> Search<'s> {
    pub(crate) fn new(candidates: &'s [ReuseCandidate], keys: &'s TextPages) -> Self {
        let hashes = Hashes::of(candidates.iter().map(|candidate| candidate.hash));
        let mut counts: TextMap<&[u8], Count> = TextMap::default();
        for (number, candidate) in candidates.iter().enumerate() {
            counts.entry(key_of(candidate, keys, number)).or_default().candidates += 1;
        }
        Search { candidates, keys, hashes, counts }
    }

    pub(crate) const fn keys(&self) -> &'s TextPages {
        self.keys
    }

    /// Counts a link of the strand. Must be called once for each link whose [tag](Tags) equals that
    /// of a candidate.
    pub(crate) fn look(&self, key: KeyPlace, hash: &mut KeyHashes<'s>) {
        if self.hashes.has(hash.of(key.place()))
            && let Some(count) = self.counts.get(bare_key(self.keys.get(key.place())))
        {
            count.links.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the first candidate whose key an earlier link had, and the number of such links. All links must have
    /// been counted.
    pub(crate) fn first(&self) -> Option<(&'s ReuseCandidate, u64)> {
        let links = |count: &Count| count.links.load(Ordering::Relaxed);
        // All links with the same key are candidates, except the first. The filter may make the first link a candidate
        // by mistake. Candidates are in the order of their events.
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

/// Returns the key of a candidate. This may load another page, perhaps from the overflow file.
fn key_of<'s>(candidate: &ReuseCandidate, keys: &'s TextPages, number: usize) -> &'s [u8] {
    if number % 64 == 63 {
        keys.relieve();
    }
    bare_key(keys.get(candidate.key))
}

pub(crate) struct Tags(Box<[u64; 1 << 10]>);

impl Tags {
    pub(crate) fn of<'s>(candidates: impl Iterator<Item = &'s ReuseCandidate>) -> Self {
        let mut bits = Box::new([0; 1 << 10]);
        for tag in candidates.map(|candidate| KeyPlace::tag_of(candidate.hash)) {
            bits[usize::from(tag >> 6)] |= 1 << (tag & 63);
        }
        Tags(bits)
    }

    #[inline(always)]
    pub(crate) fn has(&self, tag: u16) -> bool {
        self.0[usize::from(tag >> 6)] >> (tag & 63) & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_model::memory::Store;
    use paje_model::names::error::Place;
    use paje_parser::{ByteOffset, Position};

    /// Most candidates are links whose keys were used before. The filter may also report a new key by mistake.
    #[test]
    fn keys_are_reused_from_the_second_link_on() {
        // Keys of all links, which of them are candidates, the first reused key, and the number of such links.
        for (links, candidates, first) in [
            (&["a", "b", "c"][..], &[][..], None),
            (&["a", "b", "c"], &[1], None),
            (&["a", "b", "a"], &[2], Some((2, 1))),
            (&["a", "b", "a"], &[0, 2], Some((2, 1))),
            (&["a", "b", "b", "a", "b"], &[1, 2, 3, 4], Some((2, 3))),
            (&["\"a\"", "b", "a", "\"b\""], &[2, 3], Some((2, 2))),
        ] {
            let mut keys = Store::default().keys;
            let places: Vec<u64> = links.iter().map(|key| keys.push(key.as_bytes())).collect();
            let of = |link: usize| {
                let (at, key) = (link as u64, places[link]);
                let position = Position { byte: ByteOffset(at), line: 1, column: 1 };
                let written = (Place { file: None, position, text: Vec::new() }, None);
                ReuseCandidate { hash: keys.hashes().of(key), at, key, written }
            };
            let candidates: Vec<ReuseCandidate> = candidates.iter().copied().map(of).collect();
            let search = Search::new(&candidates, &keys);
            for place in &places {
                search.look(KeyPlace::new(0, *place, 0), &mut keys.hashes());
            }
            let found = search.first().map(|(found, count)| (found.at, count));
            assert_eq!(found, first, "{links:?}");
        }
    }
}

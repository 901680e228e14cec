//! Search for keys that were used before, among those that may have been.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lanes::links::{Suspect, bare_key};
use crate::memory::{KeyPlace, TextPages};

/// The first suspect, by the byte of its event, whose key another link of the strand had before; and how
/// many such links there are.
///
/// `all` are the places of the keys of all links of the strand.
pub(crate) fn first_reused<'s>(
    suspects: &'s [Suspect],
    keys: &TextPages,
    all: impl Iterator<Item = KeyPlace>,
) -> Option<(&'s Suspect, u64)> {
    if suspects.is_empty() {
        return None;
    }
    // Each may be on a page of its own, which is read from a file if memory is short.
    let looks = Cell::new(0);
    let key_of = |suspect: &Suspect| {
        looks.set(looks.get() + 1);
        if looks.get() % 64 == 0 {
            keys.relieve();
        }
        bare_key(keys.get(suspect.key))
    };
    let tags = Tags::of(suspects);
    let hashes = Hashes::of(suspects);
    // Numbers of links and of suspects that have each suspected key.
    let mut counts: FxHashMap<&[u8], (u32, u32)> = FxHashMap::default();
    for suspect in suspects {
        counts.entry(key_of(suspect)).or_default().1 += 1;
    }
    // Told what to do with all keys, the iterator goes through each chunk of them in one loop.
    let mut hash = keys.hashes();
    all.for_each(|key| {
        if tags.has(key.tag())
            && hashes.has(hash.of(key.place()))
            && let Some((links, _)) = counts.get_mut(bare_key(keys.get(key.place())))
        {
            *links += 1;
        }
    });
    // All links of a key but the first are suspects; the first may be one by mistake. Suspects are in
    // the order of their events.
    let mut first_met: FxHashSet<&[u8]> = FxHashSet::default();
    let first = suspects.iter().find(|suspect| {
        let key = key_of(suspect);
        let (links, suspects) = counts.get(key).copied().unwrap_or_default();
        suspects < links || !first_met.insert(key)
    })?;
    let more = counts.values().map(|(links, _)| u64::from(links.saturating_sub(1)));
    Some((first, more.sum()))
}

/// Tags of keys, which are looked at first.
struct Tags(Box<[u64; 1 << 10]>);

impl Tags {
    fn of(suspects: &[Suspect]) -> Self {
        let mut bits = Box::new([0; 1 << 10]);
        for tag in suspects.iter().map(|suspect| KeyPlace::tag_of(suspect.hash)) {
            bits[usize::from(tag >> 6)] |= 1 << (tag & 63);
        }
        Tags(bits)
    }

    #[inline(always)]
    fn has(&self, tag: u16) -> bool {
        self.0[usize::from(tag >> 6)] >> (tag & 63) & 1 != 0
    }
}

/// Some bits of hashes: almost always enough to know that a hash is none of them.
struct Hashes {
    bits: Vec<u64>,
}

impl Hashes {
    fn of(suspects: &[Suspect]) -> Self {
        let words = suspects.len().next_power_of_two().max(16);
        let mut bits = vec![0; words];
        for suspect in suspects {
            bits[(suspect.hash >> 6) as usize & (words - 1)] |= 1 << (suspect.hash & 63);
        }
        Hashes { bits }
    }

    fn has(&self, hash: u64) -> bool {
        let word = self.bits[(hash >> 6) as usize & (self.bits.len() - 1)];
        word >> (hash & 63) & 1 != 0
    }
}

use rustc_hash::FxHashMap;

use crate::lanes::links::filter::{Filter, Hashes};

/// Hashes of a strand's keys. If all hashes differ, no key is reused. If two hashes are equal, a
/// key may be reused. All hashes are in a list, which is searched for doubtful hashes now and then.
/// A hash table would cost a cache miss for each link.
#[derive(Debug, Default)]
pub(super) struct KeyHashList {
    all: Vec<u64>,
    /// Hashes added since the last search that the filter reported as used before.
    doubts: Vec<u64>,
    looked_at: usize,
    has_repeats: bool,
}

/// Largest number of hashes that a search reads for each doubtful hash. The filter reports one new hash in a thousand
/// by mistake.
const FEW: usize = 64;

impl KeyHashList {
    /// Adds a hash. The filter must hold the hashes of all keys.
    pub(super) fn add(&mut self, hash: u64, filter: &mut Filter) {
        self.all.push(hash);
        if filter.insert(hash) {
            self.doubts.push(hash);
        }
        if filter.is_scattered() {
            filter.gather(self.all.iter().copied());
        }
    }

    /// Returns whether a hash was repeated. Only the `last` call is sure to include recent hashes,
    /// so that frequent calls stay cheap.
    pub(super) fn has_repeats(&mut self, last: bool) -> bool {
        let is_time =
            self.all.len() >= 2 * self.looked_at || self.doubts.len() * FEW > self.all.len();
        if !self.has_repeats && !self.doubts.is_empty() && (last || is_time) {
            self.look();
        }
        self.has_repeats
    }

    fn look(&mut self) {
        let hashes = Hashes::of(self.doubts.iter().copied());
        let mut met: FxHashMap<u64, bool> =
            self.doubts.drain(..).map(|hash| (hash, false)).collect();
        for hash in self.all.iter().filter(|hash| hashes.has(**hash)) {
            if let Some(met) = met.get_mut(hash) {
                self.has_repeats |= std::mem::replace(met, true);
            }
        }
        self.looked_at = self.all.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_model::names::hash::hash_bytes;

    fn hash(i: u32) -> u64 {
        hash_bytes(&i.to_le_bytes())
    }

    #[test]
    fn a_single_repeat_is_found() {
        for again in [0, 77_777, 199_999] {
            let (mut list, mut filter) = (KeyHashList::default(), Filter::default());
            for i in 0..200_000 {
                list.add(hash(i), &mut filter);
                assert!(i % 10_000 != 0 || !list.has_repeats(false));
            }
            assert!(!list.has_repeats(true));
            assert!(list.looked_at > 0 && list.doubts.is_empty());
            list.add(hash(again), &mut filter);
            assert!(list.has_repeats(true), "{again}");
            list.add(hash(300_000), &mut filter);
            assert!(list.has_repeats(false), "found once");
        }
    }

    #[test]
    fn many_repeats_are_found_early() {
        let (mut list, mut filter) = (KeyHashList::default(), Filter::default());
        (0..1000).for_each(|i| list.add(hash(i), &mut filter));
        assert!(!list.has_repeats(false));
        (0..100).for_each(|i| list.add(hash(i), &mut filter));
        assert!(list.has_repeats(false));
    }
}

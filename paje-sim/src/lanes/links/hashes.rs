//! Hashes of keys, which tell that no key is used again, but not that one is.

use rustc_hash::FxHashMap;

use crate::lanes::links::filter::{Filter, Hashes};

/// The hashes of the keys of all links of a strand. They are put one behind the other: a table of them would look at a
/// place in memory that nothing has looked at for long, for every link. What the filter is in doubt about is looked for
/// among all now and then.
#[derive(Debug, Default)]
pub(super) struct KeyHashList {
    all: Vec<u64>,
    /// Those that may have been there before, since all were looked at.
    doubts: Vec<u64>,
    /// The number of hashes then.
    looked_at: usize,
    /// One of them came again.
    comes_again: bool,
}

/// So many times as many hashes as doubts are looked at at once. The filter is wrong once in a thousand times.
const FEW: usize = 64;

impl KeyHashList {
    /// Adds a hash; the filter is of all of them.
    pub(super) fn add(&mut self, hash: u64, filter: &mut Filter) {
        self.all.push(hash);
        if filter.insert(hash) {
            self.doubts.push(hash);
        }
        if filter.is_scattered() {
            filter.gather(self.all.iter().copied());
        }
    }

    /// Tells whether a hash came again. What came since this was asked last may not count yet, unless it is asked for the
    /// `last` time: to be asked often must not take longer than to add.
    pub(super) fn comes_again(&mut self, last: bool) -> bool {
        let is_time =
            self.all.len() >= 2 * self.looked_at || self.doubts.len() * FEW > self.all.len();
        if !self.comes_again && !self.doubts.is_empty() && (last || is_time) {
            self.look();
        }
        self.comes_again
    }

    fn look(&mut self) {
        let hashes = Hashes::of(self.doubts.iter().copied());
        let mut met: FxHashMap<u64, bool> =
            self.doubts.drain(..).map(|hash| (hash, false)).collect();
        for hash in self.all.iter().filter(|hash| hashes.has(**hash)) {
            if let Some(met) = met.get_mut(hash) {
                self.comes_again |= std::mem::replace(met, true);
            }
        }
        self.looked_at = self.all.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::hash::hash_bytes;

    fn hash(i: u32) -> u64 {
        hash_bytes(&i.to_le_bytes())
    }

    /// Each hash once, with some hundred doubts; then one of them again, from the beginning, the middle or the end.
    #[test]
    fn one_that_comes_again_is_found() {
        for again in [0, 77_777, 199_999] {
            let (mut list, mut filter) = (KeyHashList::default(), Filter::default());
            for i in 0..200_000 {
                list.add(hash(i), &mut filter);
                assert!(i % 10_000 != 0 || !list.comes_again(false));
            }
            assert!(!list.comes_again(true));
            assert!(list.looked_at > 0 && list.doubts.is_empty());
            list.add(hash(again), &mut filter);
            assert!(list.comes_again(true), "{again}");
            list.add(hash(300_000), &mut filter);
            assert!(list.comes_again(false), "it stays so");
        }
    }

    /// Where most come again, that is known long before the last time.
    #[test]
    fn many_that_come_again_are_found_soon() {
        let (mut list, mut filter) = (KeyHashList::default(), Filter::default());
        (0..1000).for_each(|i| list.add(hash(i), &mut filter));
        assert!(!list.comes_again(false));
        (0..100).for_each(|i| list.add(hash(i), &mut filter));
        assert!(list.comes_again(false));
    }
}

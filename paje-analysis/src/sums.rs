//! Sums by key. A cache has the indices of the sums of one lane.

use std::hash::Hash;

use rustc_hash::FxHashMap;

#[derive(Clone, Debug)]
pub(crate) struct Sums<K, S> {
    all: Vec<(K, S)>,
    indices: FxHashMap<K, u32>,
}

impl<K, S> Default for Sums<K, S> {
    fn default() -> Self {
        Sums { all: Vec::new(), indices: FxHashMap::default() }
    }
}

impl<K: Copy + Eq + Hash, S: Default> Sums<K, S> {
    /// Returns the index of a key's sum. Adds the key if it is missing.
    pub(crate) fn index(&mut self, key: K) -> u32 {
        let next = self.all.len() as u32;
        *self.indices.entry(key).or_insert_with(|| {
            self.all.push((key, S::default()));
            next
        })
    }

    #[inline]
    pub(crate) fn at(&mut self, index: u32) -> &mut S {
        &mut self.all[index as usize].1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, S)> {
        self.all.iter()
    }

    pub(crate) fn into_all(self) -> Vec<(K, S)> {
        self.all
    }
}

/// Cache of indices of one lane, for small numbers.
#[derive(Debug, Default)]
pub(crate) struct IndexCache<P> {
    /// For each number, the lane for which the index was cached, and the index.
    indices: Vec<(u32, P)>,
    lane: u32,
}

impl<P: Copy + Default> IndexCache<P> {
    pub(crate) const fn next_lane(&mut self) {
        self.lane += 1;
    }

    /// Returns the index for a number. Only the first call for the number in a lane calls `find`.
    #[inline]
    pub(crate) fn get(&mut self, number: usize, find: impl FnOnce() -> P) -> P {
        match self.indices.get(number) {
            Some((lane, index)) if *lane == self.lane => *index,
            _ => self.note(number, find()),
        }
    }

    fn note(&mut self, number: usize, index: P) -> P {
        if self.indices.len() <= number {
            self.indices.resize(number + 1, (0, P::default()));
        }
        self.indices[number] = (self.lane, index);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_has_separate_indices() {
        let mut indices: IndexCache<u32> = IndexCache::default();
        for lane in 0..3 {
            indices.next_lane();
            for number in [5, 0, 70] {
                assert_eq!(
                    indices.get(number, || 100 * lane + number as u32),
                    100 * lane + number as u32
                );
                assert_eq!(indices.get(number, || unreachable!()), 100 * lane + number as u32);
            }
        }
    }

    #[test]
    fn each_key_has_its_own_sum() {
        let mut sums: Sums<u64, u64> = Sums::default();
        for number in 0..1000 {
            let index = sums.index(number * number % 37);
            *sums.at(index) += number;
        }
        let all = sums.into_all();
        assert_eq!(all.iter().map(|(_, sum)| sum).sum::<u64>(), 999 * 500);
        for (key, sum) in all {
            assert_eq!((0..1000).filter(|n| n * n % 37 == key).sum::<u64>(), sum);
        }
    }
}

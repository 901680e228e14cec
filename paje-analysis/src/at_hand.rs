//! Sums that are looked up once for many events.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Sums by key, in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Sums<K, S> {
    all: Vec<(K, S)>,
    places: FxHashMap<K, u32>,
}

impl<K, S> Default for Sums<K, S> {
    fn default() -> Self {
        Sums { all: Vec::new(), places: FxHashMap::default() }
    }
}

impl<K: Copy + Eq + Hash, S: Default> Sums<K, S> {
    /// The place of a key's sum, which is made if there is none.
    pub(crate) fn place(&mut self, key: K) -> u32 {
        let next = self.all.len() as u32;
        *self.places.entry(key).or_insert_with(|| {
            self.all.push((key, S::default()));
            next
        })
    }

    /// The sum at this place.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> &mut S {
        &mut self.all[place as usize].1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, S)> {
        self.all.iter()
    }

    pub(crate) fn into_all(self) -> Vec<(K, S)> {
        self.all
    }
}

/// Places of sums by numbers that are small, for one lane after the other.
#[derive(Debug, Default)]
pub(crate) struct AtHand<P> {
    /// The turn in which a place was noted, and the place.
    places: Vec<(u32, P)>,
    turn: u32,
}

impl<P: Copy + Default> AtHand<P> {
    /// Another lane comes: its places are others.
    pub(crate) const fn turn(&mut self) {
        self.turn += 1;
    }

    /// The place for a number, which `find` has if it comes for the first time.
    #[inline]
    pub(crate) fn get(&mut self, number: usize, find: impl FnOnce() -> P) -> P {
        match self.places.get(number) {
            Some((turn, place)) if *turn == self.turn => *place,
            _ => self.note(number, find()),
        }
    }

    /// Notes another place for a number.
    pub(crate) fn note(&mut self, number: usize, place: P) -> P {
        if self.places.len() <= number {
            self.places.resize(number + 1, (0, P::default()));
        }
        self.places[number] = (self.turn, place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_has_places_of_its_own() {
        let mut places: AtHand<u32> = AtHand::default();
        for lane in 0..3 {
            places.turn();
            for number in [5, 0, 70] {
                assert_eq!(
                    places.get(number, || 100 * lane + number as u32),
                    100 * lane + number as u32
                );
                assert_eq!(places.get(number, || unreachable!()), 100 * lane + number as u32);
            }
        }
    }

    #[test]
    fn sums_are_those_of_their_keys() {
        let mut sums: Sums<u64, u64> = Sums::default();
        for number in 0..1000 {
            let place = sums.place(number * number % 37);
            *sums.at(place) += number;
        }
        let all = sums.into_all();
        assert_eq!(all.iter().map(|(_, sum)| sum).sum::<u64>(), 999 * 500);
        for (key, sum) in all {
            assert_eq!((0..1000).filter(|n| n * n % 37 == key).sum::<u64>(), sum);
        }
    }
}

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

/// Numbers of keys that are at hand: a power of two.
const NEAR: usize = 256;

/// Number of a key with these bits among those that are at hand, which others share.
#[inline]
pub(crate) const fn near(bits: u64) -> usize {
    (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % NEAR
}

impl<K: Copy + Eq + Hash> AtHand<(Option<K>, u32)> {
    /// The place of a key's sum, which is looked up unless the last key of its number was this one, too.
    #[inline]
    pub(crate) fn place<S: Default>(
        &mut self,
        number: usize,
        key: K,
        sums: &mut Sums<K, S>,
    ) -> u32 {
        let (at_hand, place) = self.get(number, || (Some(key), sums.place(key)));
        if at_hand == Some(key) {
            return place;
        }
        self.note(number, (Some(key), sums.place(key))).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_number_have_their_own_sums() {
        let (mut sums, mut at_hand) = (Sums::<u64, u64>::default(), AtHand::default());
        for key in [3, 3, 8, 3, 8, 8, 5] {
            let place = at_hand.place(key as usize % 5, key, &mut sums);
            *sums.at(place) += 1;
        }
        assert_eq!(sums.into_all(), [(3, 3), (8, 3), (5, 1)]);
    }

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

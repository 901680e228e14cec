//! Random numbers that are the same on every machine and in every release.
//!
//! Only `next_u64` of a published algorithm is used. Numbers in a range are chosen here, because
//! the `rand` crate may change how it chooses them. That would silently change every data set.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A seeded stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    /// Choices to be used first, in reverse order.
    choices: Vec<u16>,
    then: Xoshiro256PlusPlus,
}

impl Rng {
    /// Creates the stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        Self { choices: Vec::new(), then: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Creates a stream that starts with these choices and continues like the stream of seed 0. Two
    /// bytes determine a number, so changing a byte changes a single number.
    pub fn from_choices(choices: &[u8]) -> Self {
        let pairs = choices.chunks(2);
        let choices = pairs
            .rev()
            .map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or_default()]));
        Self { choices: choices.collect(), ..Self::new(0) }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        match self.choices.pop() {
            // Ranges use the upper bits, so the choice is repeated in all 64 bits.
            Some(choice) => u64::from(choice) * 0x0001_0001_0001_0001,
            None => self.then.next_u64(),
        }
    }

    /// Returns a number in `0..bound`, or 0 if `bound` is 0.
    ///
    /// This multiplies and shifts, because a division is slower. The bias of less than 2⁻³² does
    /// not matter here.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns an index into a sequence of `len` elements, which must not be empty.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Returns a number in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns `true` with a probability of `percent` percent.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of `items`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn numbers_stay_in_range_and_reach_every_value() {
        let mut rng = Rng::new(7);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[rng.index(5)] = true;
            assert!((3..=9).contains(&rng.between(3, 9)));
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn choices_come_first() {
        let mut rng = Rng::from_choices(&[0, 0, 255, 255, 128]);
        assert_eq!([rng.below(10), rng.below(10), rng.below(10)], [0, 9, 5]);
        assert_eq!(rng.bits(), Rng::new(0).bits());
    }

    #[test]
    fn the_stream_never_changes() {
        let mut rng = Rng::new(1);
        assert_eq!([rng.bits(), rng.bits()], [14971601782005023387, 13781649495232077965]);
    }
}

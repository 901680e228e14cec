//! Times of links in half of their room: whole numbers of a unit of time, where that is exact to the bit.
//!
//! Traces write times with a fixed number of digits, so that each is the double closest to a whole number divided by a
//! power of ten. A chunk of them spans little time: what each adds to the earliest fits in four bytes.

use crate::memory::{Arena, Chunk, LinkChunk};

/// Units of time in which some times are whole numbers: how many make a second, and how many the earliest time has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Units {
    a_second: f64,
    first: f64,
}

/// Units of a second that are tried: those of most programs first, and then what tells longer times.
const UNITS: [f64; 6] = [1e6, 1e7, 1e8, 1e9, 1e3, 1.0];

/// Adding it to a smaller number, and taking it away again, makes the number whole.
const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;

/// Below this, all of that is exact.
const LARGEST: f64 = (1_u64 << 51) as f64;

impl Units {
    /// Units for all of these times; `None` if there are no such units, or they would take more than four bytes.
    pub(crate) fn of(times: &[f64]) -> Option<Self> {
        let first = times.first()?;
        UNITS.into_iter().filter(|a_second| is_whole(*first, *a_second)).find_map(|a_second| {
            let (mut all, mut least, mut most) = (true, f64::INFINITY, f64::NEG_INFINITY);
            for time in times {
                let number = whole(*time, a_second);
                all &= is_whole(*time, a_second);
                least = least.min(number);
                most = most.max(number);
            }
            let is_exact = all && -LARGEST < least && most < LARGEST;
            let fits = is_exact && most - least <= f64::from(u32::MAX);
            fits.then_some(Units { a_second, first: least })
        })
    }

    /// Number of units that one of these times adds to the first.
    #[inline]
    pub(crate) fn number(self, time: f64) -> u32 {
        (whole(time, self.a_second) - self.first) as u32
    }

    /// That time again.
    #[inline]
    pub(crate) fn time(self, number: u32) -> f64 {
        (self.first + f64::from(number)) / self.a_second
    }

    /// Both in a word.
    pub(crate) const fn to_words(self) -> [u64; 2] {
        [self.a_second.to_bits(), self.first.to_bits()]
    }

    const fn from_words(a_second: u64, first: u64) -> Self {
        Units { a_second: f64::from_bits(a_second), first: f64::from_bits(first) }
    }
}

/// The whole number of units that is closest to a time.
#[inline]
fn whole(time: f64, a_second: f64) -> f64 {
    time * a_second + WHOLE - WHOLE
}

/// True if a time can be had again from that number. Not of -0, nor of what is no number.
#[inline]
fn is_whole(time: f64, a_second: f64) -> bool {
    let again = whole(time, a_second) / a_second;
    (again == time) & (again.to_bits() == time.to_bits())
}

/// A column of times.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Times<'t> {
    Plain(&'t [f64]),
    InUnits(Units, &'t [u32]),
}

impl Default for Times<'_> {
    fn default() -> Self {
        Times::Plain(&[])
    }
}

impl<'t> Times<'t> {
    /// Column 0 or 1 of a chunk, of starts and of ends.
    pub(crate) fn of(arena: &'t Arena, chunk: &Chunk, column: usize) -> Self {
        if !chunk.is_sealed() {
            let words = arena.words(chunk.place, column * chunk.size(), chunk.count());
            return Times::Plain(bytemuck::cast_slice(words));
        }
        let [a_second, first] = [0, 1].map(|word| arena.get(chunk.place.behind(word)));
        let words = arena.words(
            chunk.place,
            LinkChunk::sealed_times(chunk, column),
            chunk.count().div_ceil(2),
        );
        let numbers = &bytemuck::cast_slice(words)[..chunk.count()];
        Times::InUnits(Units::from_words(a_second, first), numbers)
    }

    #[inline]
    pub(crate) fn get(self, i: usize) -> f64 {
        match self {
            Times::Plain(times) => times[i],
            Times::InUnits(units, numbers) => units.time(numbers[i]),
        }
    }

    /// All of them, in `room` if need be.
    pub(crate) fn in_room(self, room: &'t mut Vec<f64>) -> &'t [f64] {
        match self {
            Times::Plain(times) => times,
            Times::InUnits(units, numbers) => {
                room.clear();
                room.extend(numbers.iter().map(|number| units.time(*number)));
                room
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn again(times: &[f64]) -> Option<Vec<u64>> {
        let units = Units::of(times)?;
        Some(times.iter().map(|time| units.time(units.number(*time)).to_bits()).collect())
    }

    proptest! {
        /// To the bit, or not at all; and always where times are as programs write them.
        #[test]
        fn times_come_back(
            numbers in proptest::collection::vec(0..u32::MAX, 1..50), begin in 0..1_u64 << 40, digits in 0..10_i32,
        ) {
            let time = |number: &u32| {
                format!("{}e-{digits}", begin + u64::from(*number)).parse::<f64>().expect("a number")
            };
            let times: Vec<f64> = numbers.iter().map(time).collect();
            let bits: Vec<u64> = times.iter().map(|time| time.to_bits()).collect();
            let found = again(&times);
            prop_assert!(found.as_ref().is_none_or(|found| *found == bits));
            prop_assert!(found.is_some() || !matches!(digits, 0 | 3 | 6..));
        }

        #[test]
        fn any_doubles_come_back(bits in proptest::collection::vec(any::<u64>(), 1..3), thirds in any::<bool>()) {
            let scaled = |bits: &u64| if thirds { (bits % 1000) as f64 / 3.0 } else { f64::from_bits(*bits) };
            let times: Vec<f64> = bits.iter().map(scaled).collect();
            let bits: Vec<u64> = times.iter().map(|time| time.to_bits()).collect();
            prop_assert!(again(&times).is_none_or(|found| found == bits));
        }
    }

    #[test]
    fn what_has_no_units() {
        let not: [&[f64]; 8] = [
            &[],
            &[-0.0],
            &[f64::NAN],
            &[1.0, f64::NAN],
            &[f64::INFINITY],
            &[1.0 / 3.0],
            &[0.0, 4_294_967_296.0],
            &[2e16, 2e16],
        ];
        for times in not {
            assert_eq!(Units::of(times), None, "{times:?}");
        }
        for times in
            [&[0.0_f64, 4_294_967_295.0][..], &[-3.0, 5.000001], &[0.000000001, 4.294967295]]
        {
            let bits: Vec<u64> = times.iter().map(|time| time.to_bits()).collect();
            assert_eq!(again(times), Some(bits), "{times:?}");
        }
    }
}

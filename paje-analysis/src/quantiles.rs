//! Quantiles of durations. They are exact if there are few durations, and otherwise estimated with
//! a histogram.
//!
//! The histogram has the buckets of DDSketch's fast variant, which are given by a double's exponent
//! and the first seven bits of its mantissa. A quantile differs from the duration of that rank by
//! at most 0.4 %. Merging histograms in any order gives the same result.

use rustc_hash::FxHashMap;

/// Maximum number of durations with exact quantiles.
pub const EXACT: usize = 100_000;

/// Number of low bits of a double that a bucket ignores: the 52 bits of the mantissa, except the
/// first seven.
const IGNORED: u32 = 45;

/// Non-negative durations in seconds.
#[derive(Clone, Debug)]
pub enum Durations {
    /// At most [`EXACT`] durations.
    Few(Vec<f64>),
    /// Number of durations in each bucket.
    Many(FxHashMap<u32, u64>),
}

impl Default for Durations {
    fn default() -> Self {
        Durations::Few(Vec::new())
    }
}

impl Durations {
    /// Adds a duration.
    #[inline]
    pub fn push(&mut self, seconds: f64) {
        match self {
            Durations::Few(all) if all.len() < EXACT => all.push(seconds),
            _ => self.push_to_many(seconds),
        }
    }

    fn push_to_many(&mut self, seconds: f64) {
        *self.as_many().entry(bucket(seconds)).or_default() += 1;
    }

    /// Moves all durations of another collection to this one.
    pub(crate) fn append(&mut self, other: &mut Durations) {
        match other {
            Durations::Few(others) => {
                match self {
                    Durations::Few(all) if all.len() + others.len() <= EXACT => {
                        all.append(others);
                    }
                    _ => others.drain(..).for_each(|seconds| self.push_to_many(seconds)),
                };
            }
            Durations::Many(others) => {
                let all = self.as_many();
                others.drain().for_each(|(key, count)| *all.entry(key).or_default() += count);
            }
        }
    }

    /// Switches to the histogram and returns it.
    pub(crate) fn as_many(&mut self) -> &mut FxHashMap<u32, u64> {
        if let Durations::Few(all) = self {
            let mut buckets = FxHashMap::default();
            all.iter().for_each(|seconds| *buckets.entry(bucket(*seconds)).or_default() += 1);
            *self = Durations::Many(buckets);
        }
        match self {
            Durations::Many(buckets) => buckets,
            Durations::Few(_) => unreachable!("converted to buckets above"),
        }
    }

    /// Returns quantiles in seconds. The part 0.5 is the median, for example. Exact quantiles are
    /// interpolated as in R and NumPy. Estimated quantiles come from the bucket of the lower
    /// neighbour.
    #[must_use]
    pub fn quantiles<const N: usize>(&self, parts: [f64; N]) -> [Option<f64>; N] {
        match self {
            Durations::Few(all) => {
                let mut all = all.clone();
                parts.map(|part| between(&mut all, part))
            }
            Durations::Many(buckets) => {
                let mut sorted: Vec<(u32, u64)> = buckets.iter().map(|(k, n)| (*k, *n)).collect();
                sorted.sort_unstable();
                parts.map(|part| at_rank(&sorted, part))
            }
        }
    }
}

fn between(all: &mut [f64], part: f64) -> Option<f64> {
    let place = part * all.len().checked_sub(1)? as f64;
    let (_, lower, behind) = all.select_nth_unstable_by(place.floor() as usize, f64::total_cmp);
    let lower = *lower;
    // Interpolates with the next larger duration, unless the position is a whole number.
    let next = || behind.iter().copied().min_by(f64::total_cmp);
    let upper = if place.fract() > 0.0 { next().unwrap_or(lower) } else { lower };
    Some(lower + (upper - lower) * place.fract())
}

fn at_rank(sorted: &[(u32, u64)], part: f64) -> Option<f64> {
    let count: u64 = sorted.iter().map(|(_, count)| count).sum();
    let rank = (part * count.checked_sub(1)? as f64) as u64;
    let mut behind = 0;
    let found = sorted.iter().find(|(_, count)| {
        behind += count;
        behind > rank
    });
    found.map(|(key, _)| middle(*key))
}

fn bucket(seconds: f64) -> u32 {
    (seconds.to_bits() >> IGNORED) as u32
}

fn middle(key: u32) -> f64 {
    let lowest = u64::from(key) << IGNORED;
    if lowest == 0 { 0.0 } else { f64::from_bits(lowest | 1 << (IGNORED - 1)) }
}

/// Returns the upper median. There must be a number.
pub(crate) fn median(all: &[f64]) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(count: usize) -> impl DoubleEndedIterator<Item = f64> {
        (0..count).map(move |i| (i * 7919 % count) as f64 * 1e-6)
    }

    #[test]
    fn exact_quantiles_equal_those_of_r() {
        let mut few = Durations::default();
        assert_eq!(few.quantiles([0.5]), [None]);
        few.push(4.0);
        assert_eq!(few.quantiles([0.5, 0.95]), [Some(4.0); 2]);
        [1.0, 3.0, 2.0].into_iter().for_each(|seconds| few.push(seconds));
        assert_eq!(few.quantiles([0.0, 0.5, 1.0]), [Some(1.0), Some(2.5), Some(4.0)]);
        assert!((few.quantiles([0.95])[0].expect("one") - 3.85).abs() < 1e-12);
    }

    #[test]
    fn approximate_quantiles_are_within_the_bound() {
        let count = 3 * EXACT + 1;
        let mut many = Durations::default();
        all(count).for_each(|seconds| many.push(seconds));
        assert!(matches!(many, Durations::Many(_)));
        for part in [0.01, 0.5, 0.95, 1.0] {
            let (found, exact) = (many.quantiles([part])[0], part * (count - 1) as f64 * 1e-6);
            let found = found.expect("there are durations");
            assert!((found - exact).abs() <= exact * 0.004, "{part}: {found} {exact}");
        }
    }

    #[test]
    fn quantiles_depend_neither_on_order_nor_on_merging() {
        let count = EXACT + 10;
        let mut forth = Durations::default();
        all(count).for_each(|seconds| forth.push(seconds));
        for size in [1, EXACT - 1, EXACT, EXACT + 1] {
            let (mut back, mut part) = (Durations::default(), Durations::default());
            for (i, seconds) in all(count).rev().enumerate() {
                part.push(seconds);
                if i % size == 0 {
                    back.append(&mut part);
                }
            }
            back.append(&mut part);
            assert_eq!(back.quantiles([0.5, 0.95]), forth.quantiles([0.5, 0.95]), "{size}");
        }
    }

    #[test]
    fn no_durations_have_no_quantiles() {
        let mut zeros = Durations::default();
        (0..2 * EXACT).for_each(|_| zeros.push(0.0));
        assert_eq!(zeros.quantiles([0.5]), [Some(0.0)]);
    }
}

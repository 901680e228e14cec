//! Converts a trace's times to nanoseconds, and counts what is lost.

use paje_sim::TimeUnit;

/// Information that a conversion loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Number of times that are not a whole number of nanoseconds.
    pub rounded: u64,
    /// Number of times that differ from the previous time of their track, but became equal to it.
    pub shared: u64,
    /// Number of times out of the format's range.
    pub out_of_range: u64,
    /// Number of states that end early because the next state of the same imbrication begins.
    pub cut: u64,
    /// Number of infinite and NaN values of variables.
    pub not_numbers: u64,
}

impl Losses {
    /// Adds the counts of `other` to these counts.
    pub fn add(&mut self, other: &Losses) {
        self.rounded += other.rounded;
        self.shared += other.shared;
        self.out_of_range += other.out_of_range;
        self.cut += other.cut;
        self.not_numbers += other.not_numbers;
    }
}

/// Latest time in nanoseconds, chosen so that differences of two times do not overflow.
pub(crate) const LATEST: i64 = i64::MAX / 2;

/// Rounds a time to nanoseconds, ties to even; seconds as `pj_dump -l 9` prints them.
#[inline]
pub(crate) fn nearest(time: f64, unit: u32) -> i64 {
    let whole = time.trunc();
    let part = time - whole;
    let product = part * f64::from(unit);
    let mut nearest = product.round_ties_even();
    let over = product - nearest;
    if over.abs() == 0.5 {
        // The product may be a tie only because it was rounded.
        let lost = part.mul_add(f64::from(unit), -product);
        if lost * over > 0.0 {
            nearest += lost.signum();
        }
    }
    (whole as i64).saturating_mul(unit.into()).saturating_add(nearest as i64)
}

/// Returns whether a time is the double nearest to a number of nanoseconds. This holds for all
/// times in seconds with up to nine decimals.
#[inline]
fn is_whole(time: f64, unit: u32, nanoseconds: i64) -> bool {
    // Beyond 2^53, doubles are more than a nanosecond apart.
    nanoseconds.unsigned_abs() > 1 << 53 || nanoseconds as f64 / f64::from(unit) == time
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Number of nanoseconds in the trace's unit.
    unit: u32,
    last: (f64, i64),
}

impl Default for Clock {
    fn default() -> Self {
        Clock::new(TimeUnit::Seconds)
    }
}

impl Clock {
    pub(crate) const fn new(unit: TimeUnit) -> Self {
        let unit = TimeUnit::Nanoseconds.per_second() / unit.per_second();
        Clock { unit, last: (f64::NAN, i64::MIN) }
    }

    /// Returns a clock of the same unit without a previous time.
    pub(crate) const fn afresh(self) -> Self {
        Clock { last: (f64::NAN, i64::MIN), ..self }
    }

    /// Converts a time to nanoseconds, at least `earliest` and at most [`LATEST`].
    #[inline]
    pub(crate) fn read(&mut self, time: f64, earliest: i64, losses: &mut Losses) -> i64 {
        if time == self.last.0 {
            return self.last.1;
        }
        let exact = nearest(time, self.unit);
        losses.rounded += u64::from(!is_whole(time, self.unit, exact));
        let kept = exact.clamp(earliest, LATEST);
        losses.out_of_range += u64::from(kept != exact);
        losses.shared += u64::from(kept == self.last.1);
        self.last = (time, kept);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_agrees_with_printing() {
        let times = [
            0.0,
            -0.0,
            1e-9,
            0.5e-9,
            1.5e-9,
            2.5e-9,
            0.123456789,
            0.1234567895,
            3.000000000499,
            1700000000.123456,
            -2.25,
            -0.4e-9,
            123456.7890625005,
            4e9 + 0.999999999,
        ];
        let mut state = 9u64;
        let random = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 20) as f64 / 1e9 * 0.0625 + 0.5e-9
        });
        for time in times.into_iter().chain(random.take(100_000)) {
            let printed = format!("{time:.9}").replace('.', "");
            assert_eq!(
                nearest(time, 1_000_000_000),
                printed.parse::<i64>().expect("digits"),
                "{time:?}"
            );
        }
    }

    #[test]
    fn units_are_converted_without_loss() {
        let mut losses = Losses::default();
        let mut read = |unit, time| Clock::new(unit).read(time, 0, &mut losses);
        assert_eq!(read(TimeUnit::Milliseconds, 2756.597029), 2_756_597_029);
        assert_eq!(read(TimeUnit::Microseconds, 7.25), 7_250);
        assert_eq!(read(TimeUnit::Nanoseconds, 9_007_199_254_740_991.0), 9_007_199_254_740_991);
        assert_eq!(read(TimeUnit::Seconds, 1e-9), 1);
        assert_eq!(losses, Losses::default());
    }

    #[test]
    fn losses_are_counted() {
        let mut losses = Losses::default();
        let mut clock = Clock::default();
        let times = [0.1, 0.3, 0.3, 1.000000001, 1.0000000013, 1.0000000014, -1.0, 1e30, 1e31];
        let read = times.map(|time| clock.read(time, 0, &mut losses));
        let second = 1_000_000_001;
        assert_eq!(read[..6], [100_000_000, 300_000_000, 300_000_000, second, second, second]);
        assert_eq!(read[6..], [0, LATEST, LATEST]);
        let expected = Losses { rounded: 2, shared: 3, out_of_range: 3, ..Losses::default() };
        assert_eq!(losses, expected);
    }
}

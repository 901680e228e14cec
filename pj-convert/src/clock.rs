//! Converts seconds to nanoseconds, and counts the losses.

/// Losses of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Number of times that are not a whole number of nanoseconds.
    pub rounded: u64,
    /// Number of times that became equal to the previous time of their track, although they differ.
    pub shared: u64,
    /// Number of times out of the format's range.
    pub out_of_range: u64,
    /// Number of states that the next state of the same imbrication cuts short.
    pub cut: u64,
    /// Number of infinite and NaN values of variables.
    pub not_numbers: u64,
}

impl Losses {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Losses) {
        self.rounded += other.rounded;
        self.shared += other.shared;
        self.out_of_range += other.out_of_range;
        self.cut += other.cut;
        self.not_numbers += other.not_numbers;
    }
}

/// Latest time in nanoseconds. Differences of two times do not overflow.
pub(crate) const LATEST: i64 = i64::MAX / 2;

/// Rounds seconds to nanoseconds, ties to even, as `pj_dump -l 9` prints them.
#[inline]
pub(crate) fn nearest(seconds: f64) -> i64 {
    let whole = seconds.trunc();
    let part = seconds - whole;
    let product = part * 1e9;
    let mut nearest = product.round_ties_even();
    let over = product - nearest;
    if over.abs() == 0.5 {
        // The product may look like a tie only because it was rounded.
        let lost = part.mul_add(1e9, -product);
        if lost * over > 0.0 {
            nearest += lost.signum();
        }
    }
    (whole as i64).saturating_mul(1_000_000_000).saturating_add(nearest as i64)
}

/// Returns whether a time is the double nearest to a number of nanoseconds. All times with up to
/// nine decimals are.
#[inline]
fn is_whole(seconds: f64, nanoseconds: i64) -> bool {
    // Beyond 2^53, doubles are more than a nanosecond apart.
    nanoseconds.unsigned_abs() > 1 << 53 || nanoseconds as f64 / 1e9 == seconds
}

/// Converter of the times of one track.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    last: (f64, i64),
}

impl Default for Clock {
    fn default() -> Self {
        Clock { last: (f64::NAN, i64::MIN) }
    }
}

impl Clock {
    /// Converts a time to nanoseconds, clamped to `earliest..=LATEST`.
    #[inline]
    pub(crate) fn read(&mut self, seconds: f64, earliest: i64, losses: &mut Losses) -> i64 {
        if seconds == self.last.0 {
            return self.last.1;
        }
        let exact = nearest(seconds);
        losses.rounded += u64::from(!is_whole(seconds, exact));
        let kept = exact.clamp(earliest, LATEST);
        losses.out_of_range += u64::from(kept != exact);
        losses.shared += u64::from(kept == self.last.1);
        self.last = (seconds, kept);
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
            assert_eq!(nearest(time), printed.parse::<i64>().expect("digits"), "{time:?}");
        }
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

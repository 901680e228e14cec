//! Time as integer ticks.

/// Converts times of a trace to ticks.
///
/// A tick is a power of two of a second, chosen so that the trace lasts at most 2⁶³ ticks. The
/// origin is a multiple of a large power of two. So times are converted without rounding, except
/// for some in the first thousandth of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    origin: f64,
    scale: f64,
    end: f64,
}

/// The level at which one bin covers all ticks.
pub(crate) const TOP: u32 = 63;

impl Clock {
    /// Creates the clock of a trace from its first and last time in seconds.
    #[must_use]
    pub fn new(from: f64, to: f64) -> Self {
        let (from, to) = if from <= to { (from, to) } else { (0.0, 0.0) };
        let span = to - from;
        // The value 2^exponent exceeds the duration and is within the range of doubles.
        let exponent =
            if span > 0.0 { (span.log2().floor() + 1.0).clamp(-900.0, 900.0) } else { 0.0 };
        let unit = exponent.exp2();
        let origin = (from / unit).floor() * unit;
        Clock { origin, scale: (62.0 - exponent).exp2(), end: to }
    }

    /// Returns the time of tick 0 in seconds. It is not after the trace's first time.
    #[must_use]
    pub fn origin(self) -> f64 {
        self.origin
    }

    /// Returns the trace's last time in seconds.
    #[must_use]
    pub fn end(self) -> f64 {
        self.end
    }

    /// Converts a time to ticks. Times before the origin become 0.
    #[inline]
    #[must_use]
    pub fn ticks(self, time: f64) -> u64 {
        // Rounds to the nearest tick, and limits the result to the range of integers.
        (((time - self.origin) * self.scale + 0.5) as i64).max(0) as u64
    }

    /// Converts a number of ticks to seconds.
    #[must_use]
    pub fn seconds(self, ticks: u64) -> f64 {
        ticks as f64 / self.scale
    }

    /// Returns the time of a tick in seconds.
    #[must_use]
    pub fn time(self, ticks: u64) -> f64 {
        self.origin + self.seconds(ticks)
    }

    /// Returns the highest level whose bins are at most `seconds` wide. Level `n` has 2ⁿ ticks per
    /// bin.
    #[must_use]
    pub fn level(self, seconds: f64) -> u32 {
        let ticks = (seconds * self.scale).max(1.0) as u64;
        ticks.max(1).ilog2().min(TOP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: u64 = (1 << TOP) - 1;

    #[test]
    fn doubles_convert_without_loss() {
        for (from, to) in
            [(0.0, 1.0), (0.1, 3.7), (1.6e9, 1.6e9 + 37.25), (-5.5, 1e-3), (-8.0, -7.0)]
        {
            let clock = Clock::new(from, to);
            assert!(clock.origin() <= from, "{from}");
            assert!(clock.ticks(to) <= LAST, "{to}");
            for i in 0..=1000 {
                let time = from + (to - from) * f64::from(i) / 1000.0;
                let back = clock.time(clock.ticks(time));
                let most = (time.abs() + clock.origin().abs()) * f64::EPSILON;
                assert!((back - time).abs() <= most, "{time}");
            }
        }
    }

    #[test]
    fn a_trace_may_have_no_duration() {
        for (from, to) in [(0.0, 0.0), (f64::INFINITY, f64::NEG_INFINITY), (5.0, 5.0)] {
            let clock = Clock::new(from, to);
            assert!(clock.ticks(to) <= LAST);
        }
        assert_eq!(Clock::new(0.0, 1.0).ticks(f64::NAN), 0);
        assert_eq!(Clock::new(0.0, 1.0).ticks(f64::INFINITY), LAST);
    }

    #[test]
    fn levels_are_powers_of_two() {
        let clock = Clock::new(0.0, 3.0);
        let level = clock.level(0.25);
        assert_eq!(clock.seconds(1 << level), 0.25);
        assert_eq!(clock.level(0.49), level);
        assert_eq!(clock.level(0.5), level + 1);
        assert_eq!(clock.level(0.0), 0);
    }
}

//! Time as an integer.

/// Time of one trace as a whole number of ticks, from an origin on.
///
/// A tick is a power of two of a second, so fine that the trace takes at most 2⁶³ of them, and the origin is a
/// multiple of a large power of two: times of doubles become ticks without rounding, unless they lie in the first
/// thousandth of the trace and have more digits than all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    origin: f64,
    /// Ticks to a second.
    scale: f64,
    end: f64,
}

/// The level whose bins are as wide as a tick's range: all is in its first bin.
pub(crate) const TOP: u32 = 63;

impl Clock {
    /// The clock of a trace that lasts from one time to another, in seconds.
    #[must_use]
    pub fn new(from: f64, to: f64) -> Self {
        let (from, to) = if from <= to { (from, to) } else { (0.0, 0.0) };
        let span = to - from;
        // So that 2^exponent is more than the span; within what doubles can say of powers of two.
        let exponent =
            if span > 0.0 { (span.log2().floor() + 1.0).clamp(-900.0, 900.0) } else { 0.0 };
        let unit = exponent.exp2();
        let origin = (from / unit).floor() * unit;
        Clock { origin, scale: (62.0 - exponent).exp2(), end: to }
    }

    /// Origin of ticks, in seconds: not after the trace's first time.
    #[must_use]
    pub fn origin(self) -> f64 {
        self.origin
    }

    /// The trace's last time, in seconds.
    #[must_use]
    pub fn end(self) -> f64 {
        self.end
    }

    /// The ticks until a time; 0 before the origin.
    #[inline]
    #[must_use]
    pub fn ticks(self, time: f64) -> u64 {
        // A conversion to signed integers saturates, at the last tick as it is; it is rounded, for times that are not
        // a multiple.
        (((time - self.origin) * self.scale + 0.5) as i64).max(0) as u64
    }

    /// So many ticks in seconds.
    #[must_use]
    pub fn seconds(self, ticks: u64) -> f64 {
        ticks as f64 / self.scale
    }

    /// The time when so many ticks are over, in seconds.
    #[must_use]
    pub fn time(self, ticks: u64) -> f64 {
        self.origin + self.seconds(ticks)
    }

    /// The level whose bins are so many seconds wide, or next narrower. Bins of level `n` are 2ⁿ ticks wide.
    #[must_use]
    pub fn level(self, seconds: f64) -> u32 {
        let ticks = (seconds * self.scale).max(1.0) as u64;
        ticks.max(1).ilog2().min(TOP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last tick of all.
    const LAST: u64 = (1 << TOP) - 1;

    #[test]
    fn times_of_doubles_are_kept() {
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
    fn no_time_at_all() {
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

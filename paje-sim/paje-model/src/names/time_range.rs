use std::ops::RangeInclusive;

/// A range of times, in the unit of the trace, that includes both ends. The default is all times.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct TimeRange {
    pub from: f64,
    pub to: f64,
}

impl TimeRange {
    /// All times.
    pub const ALWAYS: TimeRange = TimeRange { from: f64::NEG_INFINITY, to: f64::INFINITY };

    /// Returns whether the range contains all times.
    #[must_use]
    pub fn is_always(&self) -> bool {
        *self == TimeRange::ALWAYS
    }

    /// Returns whether an object with these two times, in either order, overlaps the range.
    #[must_use]
    pub fn overlaps(&self, start: f64, end: f64) -> bool {
        start.min(end) <= self.to && start.max(end) >= self.from
    }
}

impl Default for TimeRange {
    fn default() -> Self {
        TimeRange::ALWAYS
    }
}

impl From<RangeInclusive<f64>> for TimeRange {
    fn from(range: RangeInclusive<f64>) -> Self {
        TimeRange { from: *range.start(), to: *range.end() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_include_both_ends() {
        let range = TimeRange::from(1.0..=2.0);
        for (start, end, overlaps) in [
            (0.0, 0.9, false),
            (0.0, 1.0, true),
            (1.0, 0.0, true),
            (0.0, 3.0, true),
            (2.0, 3.0, true),
            (2.1, 3.0, false),
            (3.0, 2.1, false),
        ] {
            assert_eq!(range.overlaps(start, end), overlaps, "{start}, {end}");
        }
        assert!(TimeRange::default().is_always() && !range.is_always());
    }
}

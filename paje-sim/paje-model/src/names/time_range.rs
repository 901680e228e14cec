//! A part of a trace's time.

/// From one time to another, both included, in seconds; by default, always.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct TimeRange {
    pub from: f64,
    pub to: f64,
}

impl TimeRange {
    /// All times.
    pub const ALWAYS: TimeRange = TimeRange { from: f64::NEG_INFINITY, to: f64::INFINITY };

    /// Tells whether all times are in it.
    #[must_use]
    pub fn is_always(&self) -> bool {
        *self == TimeRange::ALWAYS
    }

    /// Tells whether what begins and ends at these times, or the other way round, reaches into it.
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

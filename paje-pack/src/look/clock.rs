//! The earliest and the latest time of a segment.

use crate::times::Scale;

/// Units that no time has.
const MOST: i64 = 1_000_000_000_000_000_000;

/// From here on, not all whole numbers are doubles.
const EXACT: u64 = 1 << 53;

/// Earliest and latest time so far. Nearly all are so many units of the scale, and compared as such.
pub(super) struct Clock {
    scale: Scale,
    /// Units in a second, as a double, and those below which all are exact as doubles; none are if that is not.
    in_second: f64,
    exact: u64,
    /// The fewest units, and those from which on no time is later.
    first: i64,
    last: i64,
    /// The earliest one of those that are spelt otherwise, and the latest of all, if it is one of them.
    first_odd: f64,
    last_odd: Option<f64>,
}

impl Clock {
    /// For times that are packed in this scale.
    pub(super) const fn new(scale: Scale) -> Self {
        let (first, last) = (i64::MAX, i64::MIN);
        let (in_second, exact) = match scale.units_in_second() {
            Some(in_second) => (in_second, EXACT),
            None => (1.0, 0),
        };
        Clock { scale, in_second, exact, first, last, first_odd: f64::INFINITY, last_odd: None }
    }

    /// The seconds that so many units are, as they are read from their text.
    #[inline]
    pub(super) fn seconds_of(&self, units: i64) -> f64 {
        // Negative ones are more than that.
        if (units as u64) < self.exact {
            // The quotient of two doubles is the one that is nearest to it.
            return units as f64 / self.in_second;
        }
        self.scale.seconds(units)
    }

    /// The earliest and the latest, if there is any.
    pub(super) fn times(&self) -> Option<(f64, f64)> {
        if self.last == i64::MIN {
            return None;
        }
        let seconds = |units| self.scale.seconds(units);
        let first = if self.first == i64::MAX { f64::INFINITY } else { seconds(self.first) };
        Some((first.min(self.first_odd), self.last_odd.unwrap_or_else(|| seconds(self.last))))
    }

    /// Takes in a time; true if none was later.
    #[inline]
    pub(super) fn units(&mut self, units: i64) -> bool {
        if units < self.last {
            return self.is_last_still(units);
        }
        if self.first == i64::MAX {
            self.first = units;
        }
        self.go_on(units);
        true
    }

    /// Takes in the units of a time that none is later than, and some is not later than itself.
    #[inline]
    pub(super) const fn go_on(&mut self, units: i64) {
        (self.last, self.last_odd) = (units, None);
    }

    /// Takes in a time of fewer units than the last; true if it is the same as the latest.
    pub(super) fn is_last_still(&mut self, units: i64) -> bool {
        self.first = self.first.min(units);
        self.rounds_to_last(units)
    }

    /// Units from which on no time is later.
    pub(super) const fn last(&self) -> i64 {
        self.last
    }

    /// Units in a second, and those below which all are exact as doubles, once a time has come that is spelt in them.
    pub(super) const fn exact(&self) -> Option<(f64, u64)> {
        if self.first == i64::MAX || self.last_odd.is_some() {
            return None;
        }
        Some((self.in_second, self.exact))
    }

    /// Numbers of more than 15 digits may be the same when they are rounded.
    fn rounds_to_last(&self, units: i64) -> bool {
        let near = self.last.unsigned_abs() >> 49;
        self.last.abs_diff(units) <= near
            && self.scale.seconds(units) >= self.scale.seconds(self.last)
    }

    /// The same for a time that is spelt otherwise.
    #[cold]
    pub(super) fn seconds(&mut self, time: f64) -> bool {
        self.first_odd = self.first_odd.min(time);
        let is_latest = self.times().is_none_or(|(_, last)| time >= last);
        if is_latest {
            (self.last, self.last_odd) = (self.units_from(time), Some(time));
        }
        is_latest
    }

    /// The fewest units that are not before a time.
    fn units_from(&self, time: f64) -> i64 {
        let is_before = |units| self.scale.seconds(units) < time;
        let guess = (self.scale.units_in(time) as i64).clamp(-MOST, MOST);
        let (mut low, mut high, mut step) = (guess, guess, 1);
        while low > -MOST && !is_before(low) {
            low = (low - step).max(-MOST);
            step *= 2;
        }
        while high < MOST && is_before(high) {
            high = (high + step).min(MOST);
            step *= 2;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if is_before(middle) { (middle + 1, high) } else { (low, middle) };
        }
        if is_before(high) { i64::MAX } else { high }
    }
}

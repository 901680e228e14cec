//! Ranges of a variable's values in bins.

use std::ops;

use super::bins::Level;
use super::clock::Clock;

/// Range of a variable's values in a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRange {
    /// Smallest value, or infinity if there are no values.
    pub min: f64,
    /// Largest value, or minus infinity if there are no values.
    pub max: f64,
    /// Integral over time, in value times seconds.
    pub integral: f64,
    /// Number of ticks during which the variable has a value.
    pub held: u64,
    /// Number of values that begin in the bin.
    pub starts: u32,
}

/// Consecutive bins with ranges of a variable's values. All bins outside the range are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    pub(crate) level: u32,
    pub(crate) first: u64,
    pub(crate) list: Vec<ValueRange>,
}

impl ValueRange {
    /// Range without values.
    pub const NONE: ValueRange = ValueRange {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        integral: 0.0,
        held: 0,
        starts: 0,
    };

    /// Returns the mean over time, or `None` if all values have no duration.
    #[must_use]
    pub fn mean(self, clock: Clock) -> Option<f64> {
        (self.held > 0).then(|| self.integral / clock.seconds(self.held))
    }

    /// Merges two ranges.
    #[must_use]
    pub fn and(self, other: ValueRange) -> ValueRange {
        ValueRange {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            integral: self.integral + other.integral,
            held: self.held + other.held,
            starts: self.starts.saturating_add(other.starts),
        }
    }
}

impl Ranges {
    pub(crate) fn empty(level: u32, first: u64) -> Self {
        Ranges { level, first, list: Vec::new() }
    }

    /// Iterates over the bins.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ValueRange> {
        self.list.iter().copied()
    }

    /// Adds a value that lasts from `start` to `end` to all bins `within` a range that it overlaps.
    /// `tick` is the length of a tick in seconds.
    pub(crate) fn add(
        &mut self,
        within: &ops::Range<u64>,
        value: f64,
        start: u64,
        end: u64,
        tick: f64,
    ) {
        let level = self.level;
        let begins = within.contains(&(start >> level));
        let from = start.max(within.start << level);
        let to = end.min(within.end << level);
        if !begins && from >= to {
            return;
        }
        let mut bin = from >> level;
        let mut at = from;
        loop {
            let upto = ((bin + 1) << level).min(to).max(at);
            let place = (bin - self.first) as usize;
            if self.list.len() <= place {
                self.list.resize(place + 1, ValueRange::NONE);
            }
            let held = upto - at;
            let more = ValueRange {
                min: value,
                max: value,
                integral: value * (held as f64 * tick),
                held,
                starts: u32::from(begins && at == from),
            };
            self.list[place] = self.list[place].and(more);
            (bin, at) = (bin + 1, upto);
            if at >= to {
                return;
            }
        }
    }

    pub(crate) fn cut(&self, range: ops::Range<u64>) -> Ranges {
        let own = self.range();
        let from = range.start.clamp(own.start, own.end);
        let to = range.end.clamp(from, own.end);
        let list = self.list[(from - self.first) as usize..(to - self.first) as usize].to_vec();
        Ranges { level: self.level, first: from, list }
    }
}

impl Level for Ranges {
    fn level(&self) -> u32 {
        self.level
    }

    fn range(&self) -> ops::Range<u64> {
        self.first..self.first + self.list.len() as u64
    }

    fn above(&self) -> Ranges {
        let mut above = Ranges::empty(self.level + 1, self.first / 2);
        let range = self.range();
        let child = |bin: u64| match range.contains(&bin) {
            true => self.list[(bin - self.first) as usize],
            false => ValueRange::NONE,
        };
        let bins = range.start / 2..range.end.div_ceil(2);
        above.list = bins.map(|bin| child(2 * bin).and(child(2 * bin + 1))).collect();
        above
    }

    fn bytes(&self) -> u64 {
        (self.list.len() * size_of::<ValueRange>()) as u64
    }
}

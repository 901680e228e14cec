//! Ranges of a variable's values in each of some bins of one width.

use std::ops;

use crate::clock::Clock;

/// Range of a variable's values in a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least of them; infinite if there is none.
    pub min: f64,
    /// The greatest of them; infinite, and negative, if there is none.
    pub max: f64,
    /// Each value times the seconds that it lasts, summed up.
    pub integral: f64,
    /// For how many ticks there is any value.
    pub held: u64,
    /// The number of values that begin in it.
    pub starts: u32,
}

/// Ranges of a variable's values in some bins that follow each other. Outside of them it has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    pub(crate) level: u32,
    pub(crate) first: u64,
    pub(crate) list: Vec<Range>,
}

impl Range {
    /// No value.
    pub const NONE: Range =
        Range { min: f64::INFINITY, max: f64::NEG_INFINITY, integral: 0.0, held: 0, starts: 0 };

    /// The mean over time; `None` where no value lasts.
    #[must_use]
    pub fn mean(self, clock: Clock) -> Option<f64> {
        (self.held > 0).then(|| self.integral / clock.seconds(self.held))
    }

    /// Both bins together.
    #[must_use]
    pub fn and(self, other: Range) -> Range {
        Range {
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

    /// Bins are two to the power of this many ticks wide.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The numbers of the bins: bin `n` begins when `n` widths of a bin are over.
    #[must_use]
    pub fn range(&self) -> ops::Range<u64> {
        self.first..self.first + self.list.len() as u64
    }

    /// The bins.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Range> {
        self.list.iter().copied()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.list.len() * size_of::<Range>()) as u64
    }

    /// Adds a value that lasts from one tick to another to those of these bins that it is in. `tick` is in
    /// seconds.
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
                self.list.resize(place + 1, Range::NONE);
            }
            let held = upto - at;
            let more = Range {
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

    /// The bins of the next level: each is the sum of two of these.
    pub(crate) fn above(&self) -> Ranges {
        let mut above = Ranges::empty(self.level + 1, self.first / 2);
        let range = self.range();
        let child = |bin: u64| match range.contains(&bin) {
            true => self.list[(bin - self.first) as usize],
            false => Range::NONE,
        };
        let bins = range.start / 2..range.end.div_ceil(2);
        above.list = bins.map(|bin| child(2 * bin).and(child(2 * bin + 1))).collect();
        above
    }

    /// Those of the bins that are in a range.
    pub(crate) fn cut(&self, range: ops::Range<u64>) -> Ranges {
        let own = self.range();
        let from = range.start.clamp(own.start, own.end);
        let to = range.end.clamp(from, own.end);
        let list = self.list[(from - self.first) as usize..(to - self.first) as usize].to_vec();
        Ranges { level: self.level, first: from, list }
    }
}

//! Summaries of time spans that are not rows of the trace.

use std::ops::Range;

use paje_sim::ValueId;

use super::bins::{Bins, Key};
use super::clock::{Clock, TOP};
use super::lane::{at_level, levels};
use super::tally::{Keys, Tally};

/// Mean number of spans in a bin of the finest level.
const SPANS_PER_BIN: u64 = 8;

/// Number of spans from which there are summaries. Adding up fewer spans takes no longer.
const FEW: usize = 256;

/// Time spans of several groups, sorted by their starts, and the time of each group in bins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    /// Start, end and key number.
    list: Vec<(u64, u64, u32)>,
    /// For each span, the latest end of all spans up to it.
    latest: Vec<u64>,
    keys: Vec<Key>,
    levels: Vec<Bins>,
}

impl Spans {
    /// Creates the summaries of spans: start, end and group. They must be sorted by their starts.
    pub(crate) fn new(clock: Clock, spans: impl Iterator<Item = (f64, f64, u32)>) -> Self {
        let mut all = Spans::default();
        let mut keys = Keys::of_rows(0);
        let mut last = 0;
        for (start, end, group) in spans {
            let (start, end) = (clock.ticks(start), clock.ticks(end));
            last = last.max(end);
            all.list.push((start, end, keys.number(Key::State(0, ValueId(group)))));
            all.latest.push(last);
        }
        all.keys = keys.list;
        if all.list.len() >= FEW {
            let first = all.list[0].0;
            let most = all.list.len() as u64 / SPANS_PER_BIN;
            let fits = |level: &u32| (last >> level) - (first >> level) < most;
            let level = (0..TOP).find(fits).unwrap_or(TOP);
            let range = (first >> level)..(last >> level) + 1;
            all.levels = levels(all.count(level, range), u64::MAX);
        }
        all
    }

    /// Returns the indices of the spans that overlap a closed window of ticks, and of some others
    /// between them.
    pub(crate) fn near(&self, from: u64, to: u64) -> Range<usize> {
        let end = self.list.partition_point(|(start, ..)| *start <= to);
        let first = self.latest.partition_point(|latest| *latest < from);
        first.min(end)..end
    }

    /// Returns whether a span overlaps a closed window of ticks.
    pub(crate) fn overlaps(&self, at: usize, from: u64, to: u64) -> bool {
        let (start, end, _) = self.list[at];
        start <= to && end >= from
    }

    /// Returns the ticks of each group in bins of a level, as states.
    pub(crate) fn bins(&self, level: u32, range: Range<u64>) -> Bins {
        let level = level.min(TOP);
        let end = 1 << (TOP - level);
        let range = range.start.min(end)..range.end.clamp(range.start.min(end), end);
        match at_level(&self.levels, level) {
            Some(bins) => bins.cut(range, &self.keys),
            None => self.count(level, range),
        }
    }

    fn count(&self, level: u32, range: Range<u64>) -> Bins {
        let near = self.near(range.start << level, range.end << level);
        let mut tally = Tally::new(level, range, None);
        for (start, end, key) in &self.list[near] {
            tally.interval(*key, *start, *end);
        }
        let mut bins = tally.finish();
        bins.keys.clone_from(&self.keys);
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pyramid::Level;

    #[test]
    fn bins_of_all_levels_have_the_exact_ticks() {
        // Spans overlap, and some have no duration.
        let spans: Vec<(f64, f64, u32)> = (0..5000u32)
            .map(|i| {
                let start = f64::from(i) * 0.001;
                (start, start + f64::from(i * 7919 % 13) * 0.0007, i * 31 % 5)
            })
            .collect();
        let clock = Clock::new(0.0, 6.0);
        let all = Spans::new(clock, spans.iter().copied());
        assert!(all.levels.len() > 8);
        for level in [40, 52, 55, 60, 63] {
            let range = 3..(1u64 << (TOP - level)).min(40);
            let bins = all.bins(level, range.clone());
            for (bin, found) in bins.range().zip(bins.iter()) {
                let (low, high) = (bin << level, (bin + 1) << level);
                for group in 0..5 {
                    let ticks = |time: f64| clock.ticks(time).clamp(low, high);
                    let own = spans.iter().filter(|span| span.2 == group);
                    let naive: u64 = own.map(|span| ticks(span.1) - ticks(span.0)).sum();
                    let key = Key::State(0, ValueId(group));
                    let amount = found.amounts().find(|it| it.key == key).map_or(0, |it| it.amount);
                    assert_eq!(amount, naive, "level {level}, bin {bin}, group {group}");
                }
            }
        }
    }

    #[test]
    fn a_window_has_the_spans_that_overlap_it() {
        let clock = Clock::new(0.0, 10.0);
        let spans = [(0.0, 9.0, 0), (1.0, 2.0, 1), (3.0, 3.5, 1), (8.0, 8.5, 0)];
        let all = Spans::new(clock, spans.into_iter());
        let (from, to) = (clock.ticks(2.5), clock.ticks(4.0));
        let inside: Vec<usize> =
            all.near(from, to).filter(|at| all.overlaps(*at, from, to)).collect();
        assert_eq!(inside, [0, 2]);
    }
}

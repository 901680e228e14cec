//! Record of one lane: where its rows are, and its summaries.

use std::ops::Range;

use paje_parser::TypeNature;
use paje_sim::LaneView;

use crate::bins::{Bins, Key};
use crate::clock::{Clock, TOP};
use crate::pyramid::Summary;
use crate::ranges::Ranges;
use crate::row::{self, Row};
use crate::tally::{Keys, LinkTally, Tally};

/// Lanes of fewer rows have no summaries: to go through them is as fast.
const FEW: u64 = 256;

/// At most so many bins of the finest level for each row: more would not fit into a quarter of what rows take.
const ROWS_PER_BIN: u64 = 16;

/// Record of a lane.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// Its chunks; none if its rows are few.
    spans: Vec<Span>,
    keys: Vec<Key>,
    levels: Levels,
}

/// A chunk of rows.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// The number of its first row, and how many there are.
    first: u64,
    count: u32,
    /// From the first start to the last end, in ticks.
    from: u64,
    to: u64,
}

#[derive(Debug, Default)]
enum Levels {
    #[default]
    None,
    /// From the finest on, each the sum of the one before; the last has one bin.
    Bins(Vec<Bins>),
    Ranges(Vec<Ranges>),
}

/// A quarter of what a row takes, in bytes: times, and numbers of two bytes.
fn budget(nature: TypeNature, rows: u64) -> u64 {
    let row = match nature {
        TypeNature::Container => 0,
        TypeNature::State => 8 + 8 + 2 + 2,
        TypeNature::Variable => 8 + 8,
        TypeNature::Event => 8 + 2,
        TypeNature::Link => 8 + 8 + 8 + 2 + 2 + 2,
    };
    rows * row / 4
}

/// Key that tells amounts of a row apart.
pub(crate) fn key(nature: TypeNature, row: &Row) -> Key {
    match nature {
        TypeNature::Link => Key::Link(row.ends.0, row.ends.1),
        TypeNature::Event => Key::Event(row.value),
        _ => Key::State(row.imbrication, row.value),
    }
}

impl Lane {
    /// Looks at the lane's rows, twice.
    pub(crate) fn new(view: LaneView<'_>, clock: Clock) -> Self {
        let mut lane = Lane::default();
        if view.len() < FEW {
            return lane;
        }
        let mut first = 0;
        for (chunk, count) in view.chunks_from(0).enumerate() {
            let (mut from, mut to) = (u64::MAX, 0);
            row::each(view, chunk..chunk + 1, first, |row| {
                let (start, end) = row.extent();
                from = from.min(clock.ticks(start));
                to = to.max(clock.ticks(end));
            });
            lane.spans.push(Span { first, count: count as u32, from, to });
            first += count as u64;
        }
        let mut budget = budget(view.nature(), view.len());
        budget = budget.saturating_sub((lane.spans.len() * size_of::<Span>()) as u64);
        let from = lane.spans.iter().map(|span| span.from).min().unwrap_or(0);
        let to = lane.spans.iter().map(|span| span.to).max().unwrap_or(0);
        let most = view.len() / ROWS_PER_BIN;
        let level = (0..TOP).find(|level| (to >> level) - (from >> level) < most).unwrap_or(TOP);
        lane.build(view, clock, level, (from >> level)..(to >> level) + 1, budget);
        lane
    }

    fn build(
        &mut self,
        view: LaneView<'_>,
        clock: Clock,
        level: u32,
        range: Range<u64>,
        budget: u64,
    ) {
        let most_keys = (budget / 64) as usize;
        let nature = view.nature();
        let mut keys = Keys::of_rows(view.len());
        let all = 0..self.spans.len();
        let finest = match nature {
            TypeNature::Variable => {
                let mut ranges = Ranges::empty(level, range.start);
                let tick = clock.seconds(1);
                row::each(view, all, 0, |row| {
                    let (start, end) = (clock.ticks(row.start), clock.ticks(row.end));
                    ranges.add(&range, row.height, start, end, tick);
                });
                return self.keep_ranges(ranges, budget);
            }
            TypeNature::Link => {
                let mut tally = LinkTally::new(level, range);
                row::each(view, all, 0, |row| {
                    if keys.list.len() <= most_keys {
                        let number = keys.number(key(nature, &row));
                        tally.add(number, clock.ticks(row.start), row.end - row.start);
                        while tally.len() as u64 * 40 > budget && tally.can_coarsen() {
                            tally.coarsen();
                        }
                    }
                });
                tally.finish()
            }
            _ => {
                let mut tally = Tally::new(level, range);
                row::each(view, all, 0, |row| {
                    if keys.list.len() <= most_keys {
                        tally.row(nature, &row, &mut keys, clock);
                    }
                });
                tally.finish()
            }
        };
        // With so many of them, rows are the better summary.
        if keys.list.len() <= most_keys {
            self.keep_bins(finest, keys, budget);
        }
    }

    fn keep_bins(&mut self, finest: Bins, keys: Keys, budget: u64) {
        let mut levels = vec![finest];
        while let Some(last) = levels.last()
            && last.range().end - last.range().start > 1
        {
            let above = last.above();
            levels.push(above);
        }
        let budget = budget.saturating_sub((keys.list.len() * size_of::<Key>()) as u64);
        fit(&mut levels, budget, Bins::bytes);
        levels.iter_mut().for_each(Bins::shrink);
        self.keys = keys.list;
        self.levels = Levels::Bins(levels);
    }

    fn keep_ranges(&mut self, finest: Ranges, budget: u64) {
        let mut levels = vec![finest];
        while let Some(last) = levels.last()
            && last.range().end - last.range().start > 1
        {
            let above = last.above();
            levels.push(above);
        }
        fit(&mut levels, budget, Ranges::bytes);
        self.levels = Levels::Ranges(levels);
    }

    /// The memory that this takes beside the rows, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let levels: u64 = match &self.levels {
            Levels::None => 0,
            Levels::Bins(levels) => levels.iter().map(Bins::bytes).sum(),
            Levels::Ranges(levels) => levels.iter().map(Ranges::bytes).sum(),
        };
        let (spans, keys) =
            (self.spans.len() * size_of::<Span>(), self.keys.len() * size_of::<Key>());
        levels + (spans + keys) as u64
    }

    /// The finest level that is kept.
    pub(crate) fn finest(&self) -> Option<u32> {
        match &self.levels {
            Levels::None => None,
            Levels::Bins(levels) => levels.first().map(Bins::level),
            Levels::Ranges(levels) => levels.first().map(Ranges::level),
        }
    }

    /// Shows the rows that may be in a window of ticks, both ends included, and some others near.
    pub(crate) fn near(&self, view: LaneView<'_>, from: u64, to: u64, mut show: impl FnMut(Row)) {
        if self.spans.is_empty() {
            return row::each(view, 0..usize::MAX, 0, show);
        }
        for (chunk, span) in self.spans.iter().enumerate() {
            if span.from <= to && span.to >= from {
                row::each(view, chunk..chunk + 1, span.first, &mut show);
            }
        }
    }

    /// At most so many rows are in a window of ticks.
    pub(crate) fn at_most(&self, view: LaneView<'_>, from: u64, to: u64) -> u64 {
        if self.spans.is_empty() {
            return view.len();
        }
        let near = self.spans.iter().filter(|span| span.from <= to && span.to >= from);
        near.map(|span| u64::from(span.count)).sum()
    }

    /// Contents of bins of a level.
    pub(crate) fn summary(
        &self,
        view: LaneView<'_>,
        clock: Clock,
        level: u32,
        range: Range<u64>,
    ) -> Summary {
        let level = level.min(TOP);
        let end = 1 << (TOP - level);
        let range = range.start.min(end)..range.end.clamp(range.start.min(end), end);
        let summary = |bins| Summary::of(view.nature(), bins);
        match &self.levels {
            Levels::Bins(levels) if levels.first().is_some_and(|bins| bins.level <= level) => {
                let at = levels.iter().find(|bins| bins.level == level);
                let bins = at.map(|bins| bins.cut(range.clone(), &self.keys));
                summary(bins.unwrap_or_else(|| {
                    let mut bins = levels[levels.len() - 1].clone();
                    while bins.level < level {
                        bins = bins.above();
                    }
                    bins.cut(range, &self.keys)
                }))
            }
            Levels::Ranges(levels) if levels.first().is_some_and(|bins| bins.level <= level) => {
                let at = levels.iter().find(|bins| bins.level == level);
                Summary::Variable(at.map(|bins| bins.cut(range.clone())).unwrap_or_else(|| {
                    let mut bins = levels[levels.len() - 1].clone();
                    while bins.level < level {
                        bins = bins.above();
                    }
                    bins.cut(range)
                }))
            }
            _ => self.count_rows(view, clock, level, range),
        }
    }

    fn count_rows(
        &self,
        view: LaneView<'_>,
        clock: Clock,
        level: u32,
        range: Range<u64>,
    ) -> Summary {
        let nature = view.nature();
        let (from, to) = (range.start << level, range.end << level);
        let mut keys = Keys::default();
        let mut bins = match nature {
            TypeNature::Variable => {
                let mut ranges = Ranges::empty(level, range.start);
                let tick = clock.seconds(1);
                self.near(view, from, to, |row| {
                    let (start, end) = (clock.ticks(row.start), clock.ticks(row.end));
                    ranges.add(&range, row.height, start, end, tick);
                });
                return Summary::Variable(ranges);
            }
            TypeNature::Link => {
                let mut tally = LinkTally::new(level, range);
                self.near(view, from, to, |row| {
                    let number = keys.number(key(nature, &row));
                    tally.add(number, clock.ticks(row.start), row.end - row.start);
                });
                tally.finish()
            }
            _ => {
                let mut tally = Tally::new(level, range);
                self.near(view, from, to, |row| tally.row(nature, &row, &mut keys, clock));
                tally.finish()
            }
        };
        bins.keys = keys.list;
        Summary::of(nature, bins)
    }
}

/// Leaves out finest levels until the rest fits.
fn fit<L>(levels: &mut Vec<L>, budget: u64, bytes: impl Fn(&L) -> u64) {
    let mut all: u64 = levels.iter().map(&bytes).sum();
    let mut out = 0;
    while out < levels.len() && all > budget {
        all -= bytes(&levels[out]);
        out += 1;
    }
    levels.drain(..out);
    levels.shrink_to_fit();
}

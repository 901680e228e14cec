//! Record of one lane: where its rows are, and its summaries.

use std::ops::Range;

use paje_parser::TypeNature;
use paje_sim::LaneView;

use crate::bins::{Bins, Key};
use crate::clock::{Clock, TOP};
use crate::count::{Count, Counted, Extents, Most, TooManyKeys};
use crate::pyramid::Summary;
use crate::ranges::Ranges;
use crate::row::{self, Row};

/// Lanes of fewer rows have no summaries: to go through them is as fast.
pub(crate) const FEW: u64 = 256;

/// Bins of the finest level have so many rows on average: of fewer, they would not fit into a quarter of what rows take.
/// Of links, most rows of a bin have a key of their own.
fn rows_per_bin(nature: TypeNature) -> u64 {
    if nature == TypeNature::Link { 64 } else { 16 }
}

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
    /// Tells where the rows are.
    pub(crate) fn new(view: LaneView<'_>, extents: &Extents, clock: Clock) -> Self {
        let mut lane = Lane::default();
        if view.len() < FEW {
            return lane;
        }
        let mut first = 0;
        for (count, from, to) in &extents.chunks {
            let (from, to) = (clock.ticks(*from), clock.ticks(*to));
            lane.spans.push(Span { first, count: *count as u32, from, to });
            first += *count as u64;
        }
        lane
    }

    /// The same with summaries, of this level and above: looks at the lane's rows once, if they are many.
    pub(crate) fn summarised(&self, view: LaneView<'_>, clock: Clock, least: u32) -> Self {
        let mut lane = Lane { spans: self.spans.clone(), ..Lane::default() };
        if lane.spans.is_empty() {
            return lane;
        }
        let mut budget = budget(view.nature(), view.len());
        budget = budget.saturating_sub((lane.spans.len() * size_of::<Span>()) as u64);
        let from = lane.spans.iter().map(|span| span.from).min().unwrap_or(0);
        let to = lane.spans.iter().map(|span| span.to).max().unwrap_or(0);
        let most = view.len() / rows_per_bin(view.nature());
        let fits = |level: &u32| (to >> level) - (from >> level) < most;
        let level = (least.min(TOP)..TOP).find(fits).unwrap_or(TOP);
        let range = (from >> level)..(to >> level) + 1;
        let (keys, amounts) = ((budget / 64) as usize, (budget / 40) as usize);
        let most = Most { keys: Some(keys), amounts: Some(amounts) };
        let mut count = Count::new((view.nature(), view.len()), clock, level, range, most);
        // With too many keys, rows are the better summary.
        if view.visit(&mut count).is_ok() {
            match count.finish() {
                Counted::Bins(finest) => lane.keep_bins(finest, budget),
                Counted::Ranges(finest) => lane.keep_ranges(finest, budget),
            }
        }
        lane
    }

    fn keep_bins(&mut self, mut finest: Bins, budget: u64) {
        self.keys = std::mem::take(&mut finest.keys);
        let mut levels = vec![finest];
        while let Some(last) = levels.last()
            && last.range().end - last.range().start > 1
        {
            let above = last.above();
            levels.push(above);
        }
        let budget = budget.saturating_sub((self.keys.len() * size_of::<Key>()) as u64);
        fit(&mut levels, budget, Bins::bytes);
        levels.iter_mut().for_each(Bins::shrink);
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
        for (chunks, first) in self.chunks_near(from, to) {
            row::each(view, chunks, first, &mut show);
        }
    }

    /// Chunks in which there may be rows of a window of ticks, both ends included, with the number of their first row.
    fn chunks_near(&self, from: u64, to: u64) -> impl Iterator<Item = (Range<usize>, u64)> {
        let all = self.spans.is_empty().then_some((0..usize::MAX, 0));
        let spans = self.spans.iter().enumerate();
        let near = spans.filter(move |(_, span)| span.from <= to && span.to >= from);
        all.into_iter().chain(near.map(|(chunk, span)| (chunk..chunk + 1, span.first)))
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
        let (from, to) = (range.start << level, range.end << level);
        let of = (view.nature(), self.at_most(view, from, to));
        let mut count = Count::new(of, clock, level, range, Most::default());
        for (chunks, _) in self.chunks_near(from, to) {
            // There is no limit that it could meet.
            let (Ok(()) | Err(TooManyKeys)) = view.visit_chunks(chunks, &mut count);
        }
        match count.finish() {
            Counted::Bins(bins) => Summary::of(view.nature(), bins),
            Counted::Ranges(ranges) => Summary::Variable(ranges),
        }
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

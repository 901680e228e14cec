//! Chunks and summaries of a lane.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use paje_parser::TypeNature;
use paje_sim::LaneView;

use super::Summary;
use super::bins::{Bins, Key, Level};
use super::clock::{Clock, TOP};
use super::count::{Count, Extents, Most, TooManyKeys};
use super::ranges::Ranges;
use super::row::{self, Row};

/// Number of rows from which a lane has summaries. Reading fewer rows takes no longer.
pub(crate) const FEW: u64 = 256;

/// Returns the mean number of rows in a bin of the finest level. With fewer rows per bin, the bins
/// would exceed a quarter of the rows' memory. Links need more rows per bin, because most links of
/// a bin have different keys.
fn rows_per_bin(nature: TypeNature) -> u64 {
    if nature == TypeNature::Link { 64 } else { 16 }
}

#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// Chunks. Empty if the lane has few rows.
    spans: Vec<Span>,
    keys: Vec<Key>,
    levels: Levels,
    /// Levels below those of `levels`, with the same keys.
    finer: OnceLock<Levels>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    first: u64,
    count: u32,
    from: u64,
    to: u64,
}

#[derive(Debug, Default)]
enum Levels {
    #[default]
    None,
    /// Consecutive levels, the finest one first.
    Bins(Vec<Bins>),
    Ranges(Vec<Ranges>),
}

impl Levels {
    fn finest(&self) -> Option<u32> {
        match self {
            Levels::None => None,
            Levels::Bins(levels) => levels.first().map(Bins::level),
            Levels::Ranges(levels) => levels.first().map(Ranges::level),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Levels::None => 0,
            Levels::Bins(levels) => levels.iter().map(Bins::bytes).sum(),
            Levels::Ranges(levels) => levels.iter().map(Ranges::bytes).sum(),
        }
    }

    /// Returns the levels below `level`.
    fn below(mut self, level: u32) -> Self {
        match &mut self {
            Levels::None => {}
            Levels::Bins(levels) => levels.retain(|bins| bins.level() < level),
            Levels::Ranges(levels) => levels.retain(|ranges| ranges.level() < level),
        }
        self
    }

    /// Returns bins of a level, unless it is finer than the finest one.
    fn cut(
        &self,
        nature: TypeNature,
        level: u32,
        range: Range<u64>,
        keys: &[Key],
    ) -> Option<Summary> {
        Some(match self {
            Levels::None => return None,
            Levels::Bins(levels) => Summary::of(nature, at_level(levels, level)?.cut(range, keys)),
            Levels::Ranges(levels) => Summary::Variable(at_level(levels, level)?.cut(range)),
        })
    }
}

/// Returns a quarter of the rows' memory in bytes. References to values and containers take two
/// bytes.
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

pub(crate) fn key(nature: TypeNature, row: &Row) -> Key {
    match nature {
        TypeNature::Link => Key::Link(row.ends.0, row.ends.1),
        TypeNature::Event => Key::Event(row.value),
        _ => Key::State(row.imbrication, row.value),
    }
}

impl Lane {
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

    /// Returns the lane with summaries of level `least` and all coarser levels. Reads the rows
    /// once.
    pub(crate) fn summarised(&self, view: LaneView<'_>, clock: Clock, least: u32) -> Self {
        let mut lane = Lane { spans: self.spans.clone(), ..Lane::default() };
        (lane.keys, lane.levels) = lane.summarise(view, clock, least);
        lane
    }

    /// Adds the levels that are finer than those of the summaries. Reads the rows once.
    pub(crate) fn refine(&self, view: LaneView<'_>, clock: Clock) {
        let Some(coarse) = self.finest() else { return };
        if self.finer.get().is_none() && self.first_level(view, 0) < coarse {
            // Keys have the same numbers, since they are numbered in the order of the rows.
            let _ = self.finer.set(self.summarise(view, clock, 0).1.below(coarse));
        }
    }

    /// Returns the first and the last tick of a lane that has chunks.
    fn ticks(&self) -> (u64, u64) {
        let from = self.spans.iter().map(|span| span.from).min().unwrap_or(0);
        (from, self.spans.iter().map(|span| span.to).max().unwrap_or(0))
    }

    /// Returns the finest level, from `least` on, that has enough rows in each bin.
    fn first_level(&self, view: LaneView<'_>, least: u32) -> u32 {
        let (from, to) = self.ticks();
        let most = view.len() / rows_per_bin(view.nature());
        let fits = |level: &u32| (to >> level) - (from >> level) < most;
        (least.min(TOP)..TOP).find(fits).unwrap_or(TOP)
    }

    fn summarise(&self, view: LaneView<'_>, clock: Clock, least: u32) -> (Vec<Key>, Levels) {
        if self.spans.is_empty() {
            return Default::default();
        }
        let mut budget = budget(view.nature(), view.len());
        budget = budget.saturating_sub((self.spans.len() * size_of::<Span>()) as u64);
        let ((from, to), level) = (self.ticks(), self.first_level(view, least));
        let range = (from >> level)..(to >> level) + 1;
        let [keys, amounts, values] = [64, 40, 12].map(|bytes| Some((budget / bytes) as usize));
        let most = Most { keys, amounts, values };
        let mut count = Count::new(view.nature(), view.len(), clock, level, range, most);
        // If there are too many keys, summaries would be larger than rows.
        if view.visit(&mut count).is_err() {
            return Default::default();
        }
        let mut finest = match count.finish(view.nature()) {
            Summary::States(bins) | Summary::Events(bins) | Summary::Links(bins) => bins,
            Summary::Variable(finest) => {
                return (Vec::new(), Levels::Ranges(levels(finest, budget)));
            }
        };
        let keys = std::mem::take(&mut finest.keys);
        let mut levels =
            levels(finest, budget.saturating_sub((keys.len() * size_of::<Key>()) as u64));
        levels.iter_mut().for_each(Bins::shrink);
        (keys, Levels::Bins(levels))
    }

    pub(crate) fn bytes(&self) -> u64 {
        let levels = self.levels.bytes() + self.finer.get().map_or(0, Levels::bytes);
        let (spans, keys) =
            (self.spans.len() * size_of::<Span>(), self.keys.len() * size_of::<Key>());
        levels + (spans + keys) as u64
    }

    pub(crate) fn finest(&self) -> Option<u32> {
        self.finer.get().and_then(Levels::finest).or_else(|| self.levels.finest())
    }

    /// Calls `show` with the rows that are in a closed window of ticks, and with some other rows.
    pub(crate) fn near(&self, view: LaneView<'_>, from: u64, to: u64, mut show: impl FnMut(Row)) {
        for (chunks, first) in self.chunks_near(from, to) {
            row::each(view, chunks, first, &mut show);
        }
    }

    /// Returns the chunks that may have rows in a closed window of ticks, each with the index of
    /// its first row.
    fn chunks_near(&self, from: u64, to: u64) -> impl Iterator<Item = (Range<usize>, u64)> {
        let all = self.spans.is_empty().then_some((0..usize::MAX, 0));
        let spans = self.spans.iter().enumerate();
        let near = spans.filter(move |(_, span)| span.from <= to && span.to >= from);
        all.into_iter().chain(near.map(|(chunk, span)| (chunk..chunk + 1, span.first)))
    }

    /// Returns an upper bound on the number of rows in a window of ticks.
    pub(crate) fn at_most(&self, view: LaneView<'_>, from: u64, to: u64) -> u64 {
        if self.spans.is_empty() {
            return view.len();
        }
        let near = self.spans.iter().filter(|span| span.from <= to && span.to >= from);
        near.map(|span| u64::from(span.count)).sum()
    }

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
        let cut = |levels: &Levels| levels.cut(view.nature(), level, range.clone(), &self.keys);
        let found = cut(&self.levels).or_else(|| self.finer.get().and_then(cut));
        found.unwrap_or_else(|| self.count_rows(view, clock, level, range))
    }

    fn count_rows(
        &self,
        view: LaneView<'_>,
        clock: Clock,
        level: u32,
        range: Range<u64>,
    ) -> Summary {
        let (from, to) = (range.start << level, range.end << level);
        let rows = self.at_most(view, from, to);
        let mut count = Count::new(view.nature(), rows, clock, level, range, Most::default());
        for (chunks, _) in self.chunks_near(from, to) {
            // Without a limit, there are never too many keys.
            let (Ok(()) | Err(TooManyKeys)) = view.visit_chunks(chunks, &mut count);
        }
        count.finish(view.nature())
    }
}

/// Returns a level and all coarser levels. Leaves out the finest ones if they would exceed `budget`
/// bytes.
pub(super) fn levels<L: Level>(finest: L, budget: u64) -> Vec<L> {
    let mut levels = vec![finest];
    while let Some(last) = levels.last()
        && last.range().end - last.range().start > 1
    {
        let above = last.above();
        levels.push(above);
    }
    let mut bytes: u64 = levels.iter().map(L::bytes).sum();
    let mut dropped = 0;
    while dropped < levels.len() && bytes > budget {
        bytes -= levels[dropped].bytes();
        dropped += 1;
    }
    levels.drain(..dropped);
    levels.shrink_to_fit();
    levels
}

/// Returns a level, computed from the coarsest one if necessary. Returns `None` if it is finer than
/// the finest one.
pub(super) fn at_level<L: Level>(levels: &[L], level: u32) -> Option<Cow<'_, L>> {
    let above_finest = level.checked_sub(levels.first()?.level())?;
    if let Some(kept) = levels.get(above_finest as usize) {
        return Some(Cow::Borrowed(kept));
    }
    let mut coarsest = levels.last()?.clone();
    while coarsest.level() < level {
        coarsest = coarsest.above();
    }
    Some(Cow::Owned(coarsest))
}

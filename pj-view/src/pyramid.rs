//! Summaries of a trace at all scales. Drawings are made from them.
//!
//! A screen has a few thousand pixels, but a lane may have millions of rows. So time is divided
//! into bins. Their width is a power of two, in ticks of the [`Clock`]. For each bin, a lane keeps:
//!
//! - states: the ticks of each value by imbrication ([`Bins`]);
//! - events: the count of each value ([`Bins`]);
//! - links: the count of links that begin in it, by pair of containers ([`Bins`]);
//! - variables: the range of values and the integral ([`Ranges`]).
//!
//! Ticks are integers, so sums are exact, and each bin is the sum of two bins of the level below.
//! Levels are kept only if they fit in a quarter of the rows' memory. Finer levels are computed on
//! demand, because their bins have few rows. A page is shown as soon as there are some thousand bins,
//! and the other levels follow.

mod bins;
mod clock;
mod count;
mod lane;
mod links;
mod profile;
mod ranges;
mod row;
mod spans;
mod tally;

use std::ops;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use paje_parser::TypeNature;
use paje_sim::{LaneId, LaneView, Trace};
use paje_workers::Workers;

use self::count::Extents;
use self::lane::{FEW, Lane};

pub use self::bins::{Amount, Bin, Bins, Key, Level};
pub use self::clock::Clock;
pub(crate) use self::clock::TOP;
pub use self::profile::Profile;
pub use self::ranges::{Ranges, ValueRange};
pub use self::row::Row;
pub(crate) use self::spans::Spans;

/// Summaries of a trace. Methods that need rows get the lane.
#[derive(Debug)]
pub struct Pyramid {
    clock: Clock,
    lanes: Vec<Lane>,
}

/// Contents of consecutive bins of a lane.
#[derive(Clone, Debug, PartialEq)]
pub enum Summary {
    /// Ticks by imbrication and value.
    States(Bins),
    /// Number of events by value.
    Events(Bins),
    /// Number of links that begin in the bin, by pair of containers.
    Links(Bins),
    /// Ranges of values.
    Variable(Ranges),
}

impl Summary {
    pub(crate) fn of(nature: TypeNature, bins: Bins) -> Self {
        match nature {
            TypeNature::Link => Summary::Links(bins),
            TypeNature::Event => Summary::Events(bins),
            _ => Summary::States(bins),
        }
    }
}

impl Pyramid {
    /// Summarises a trace. The number of workers does not affect the result.
    #[must_use]
    pub fn new(trace: &Trace, workers: &Workers) -> Self {
        let mut pyramid = Pyramid::outline(trace, workers);
        pyramid.summarise(trace, workers, |_| Some(0));
        pyramid
    }

    /// Creates a pyramid without summaries. It computes everything from rows.
    #[must_use]
    pub fn outline(trace: &Trace, workers: &Workers) -> Self {
        let views: Vec<LaneView<'_>> = trace.lanes().collect();
        let extents = each(&views, workers, |view| {
            let many = view.len() >= FEW || view.nature() == TypeNature::Link;
            if many && !view.is_empty() { Extents::of(view) } else { Extents::default() }
        });
        let clock = clock(trace, &views, &extents);
        let lanes = views.iter().zip(&extents);
        let lanes = lanes.map(|(view, extents)| Lane::new(*view, extents, clock)).collect();
        Pyramid { clock, lanes }
    }

    /// Summarises the lanes for which `finest` returns a level. Summaries have this level, or the
    /// first level above that fits in the memory budget, and all coarser levels. Other lanes keep
    /// their summaries.
    pub fn summarise<'t>(
        &mut self,
        trace: &'t Trace,
        workers: &Workers,
        finest: impl Fn(LaneView<'t>) -> Option<u32> + Sync,
    ) {
        let views: Vec<LaneView<'_>> = trace.lanes().collect();
        let (clock, outlines) = (self.clock, &self.lanes);
        let lanes = each(&views, workers, |view| {
            let least = finest(view)?;
            Some(outlines[view.id().index()].summarised(view, clock, least))
        });
        for (own, lane) in self.lanes.iter_mut().zip(lanes) {
            if let Some(lane) = lane {
                *own = lane;
            }
        }
    }

    /// Adds the levels that [`Pyramid::summarise`] left out, up to the finest one that fits in the
    /// memory budget. Meanwhile, others can use the pyramid, and their results are the same.
    pub fn refine(&self, trace: &Trace) {
        for view in trace.lanes() {
            self.lane(view.id()).refine(view, self.clock);
        }
    }

    /// Returns the clock, which converts times to ticks.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns the memory of the summaries in bytes. It is at most a quarter of the rows' memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lanes.iter().map(Lane::bytes).sum()
    }

    fn lane(&self, id: LaneId) -> &Lane {
        &self.lanes[id.index()]
    }

    /// Returns the finest level with summaries. Lanes with few rows or too many different keys have
    /// none.
    #[must_use]
    pub fn finest(&self, lane: LaneId) -> Option<u32> {
        self.lane(lane).finest()
    }

    /// Returns the contents of bins of a level. Leaves out empty bins at both ends.
    #[must_use]
    pub fn summary(&self, lane: LaneView<'_>, level: u32, bins: ops::Range<u64>) -> Summary {
        self.lane(lane.id()).summary(lane, self.clock, level, bins)
    }

    /// Returns the rows in a closed window of ticks, unless there are more than `most`.
    #[must_use]
    pub fn rows(&self, lane: LaneView<'_>, from: u64, to: u64, most: usize) -> Option<Vec<Row>> {
        let own = self.lane(lane.id());
        // Most of the first and the last chunk may be outside the window.
        if own.at_most(lane, from, to) > most as u64 + 4096 {
            return None;
        }
        let mut rows = Vec::new();
        own.near(lane, from, to, |row| {
            let (start, end) = row.extent();
            if self.clock.ticks(start) <= to && self.clock.ticks(end) >= from {
                rows.push(row);
            }
        });
        (rows.len() <= most).then_some(rows)
    }

    /// Returns an upper bound on the number of rows of a lane in a window of ticks.
    pub(crate) fn at_most(&self, lane: LaneView<'_>, from: u64, to: u64) -> u64 {
        self.lane(lane.id()).at_most(lane, from, to)
    }

    /// Calls `show` with the rows of a lane that are in a window of ticks, and with some other
    /// rows.
    pub fn near(&self, lane: LaneView<'_>, from: u64, to: u64, show: impl FnMut(Row)) {
        self.lane(lane.id()).near(lane, from, to, show);
    }

    /// Returns the exact profile of a window of ticks.
    #[must_use]
    pub fn profile(&self, lane: LaneView<'_>, from: u64, to: u64) -> Profile {
        Profile::new(self, lane, from, to)
    }
}

/// Returns a result for each lane. Starts with the longest lanes, so that workers finish at about
/// the same time.
fn each<'t, R: Send>(
    views: &[LaneView<'t>],
    workers: &Workers,
    make: impl Fn(LaneView<'t>) -> R + Sync,
) -> Vec<R> {
    let mut order: Vec<usize> = (0..views.len()).collect();
    order.sort_by_key(|lane| std::cmp::Reverse(views[*lane].len()));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(views.len()));
    let work = |_| {
        let mut own = Vec::new();
        while let Some(lane) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            own.push((*lane, make(views[*lane])));
        }
        done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(own);
    };
    workers.run(|| workers.on_each(work));
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_unstable_by_key(|(lane, _)| *lane);
    done.into_iter().map(|(_, result)| result).collect()
}

fn clock(trace: &Trace, lanes: &[LaneView<'_>], extents: &[Extents]) -> Clock {
    let (mut from, mut to) = (f64::INFINITY, trace.end());
    let mut see = |time: f64| {
        if time.is_finite() {
            from = from.min(time);
            to = to.max(time);
        }
    };
    let containers = trace.containers();
    for id in containers.ids().skip(1) {
        see(containers.start(id));
        see(containers.end(id));
    }
    for (lane, extents) in lanes.iter().zip(extents).filter(|(lane, _)| !lane.is_empty()) {
        see(lane.start(0));
        if lane.nature() == TypeNature::Link {
            // Links are sorted by their ends, so any of them may start first.
            for (_, from, to) in &extents.chunks {
                see(*from);
                see(*to);
            }
        }
    }
    Clock::new(from.min(to), to)
}

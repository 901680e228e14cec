//! The summaries of all lanes of a trace.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use paje_parser::TypeNature;
use paje_sim::{LaneId, LaneView, Trace};
use paje_workers::Workers;

use crate::bins::Bins;
use crate::clock::Clock;
use crate::count::Extents;
use crate::lane::{FEW, Lane};
use crate::profile::Profile;
use crate::ranges::Ranges;
use crate::row::Row;

/// Summaries of a trace. The trace itself is asked for wherever rows are needed: it must be the same.
#[derive(Debug)]
pub struct Pyramid {
    clock: Clock,
    lanes: Vec<Lane>,
}

/// Contents of some bins of a lane, by the nature of its type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Summary {
    /// Ticks of each value, by imbrication.
    States(Bins),
    /// The number of objects of each value.
    Events(Bins),
    /// Numbers of links that began there, by where they come from and go to.
    Links(Bins),
    /// Least and greatest values.
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
    /// Summarises a trace. What comes of it is the same for any number of workers.
    #[must_use]
    pub fn new(trace: &Trace, workers: &Workers) -> Self {
        let mut pyramid = Pyramid::outline(trace, workers);
        pyramid.summarise(trace, workers, |_| Some(0));
        pyramid
    }

    /// The clock of a trace, and where its rows are, without summaries: questions are answered from rows.
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

    /// Makes summaries of the lanes for which `finest` has a level: of this level, or of the first one that memory allows,
    /// and of all above. Others stay as they are.
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

    /// Clock of the trace, which measures time in ticks.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The memory that the summaries take, in bytes: at most a quarter of what the rows do.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.lanes.iter().map(Lane::bytes).sum()
    }

    fn lane(&self, id: LaneId) -> &Lane {
        &self.lanes[id.index()]
    }

    /// The finest level of which summaries are kept; `None` if there are none, since rows are few or as
    /// many as there are keys.
    #[must_use]
    pub fn finest(&self, lane: LaneId) -> Option<u32> {
        self.lane(lane).finest()
    }

    /// Contents of some bins of a level: at most those asked for, fewer where there is nothing before or
    /// behind.
    #[must_use]
    pub fn summary(&self, lane: LaneView<'_>, level: u32, bins: Range<u64>) -> Summary {
        self.lane(lane.id()).summary(lane, self.clock, level, bins)
    }

    /// The rows that reach into a window of ticks, both ends included, if they are not more than `most`; in the
    /// order of the lane.
    #[must_use]
    pub fn rows(&self, lane: LaneView<'_>, from: u64, to: u64, most: usize) -> Option<Vec<Row>> {
        let own = self.lane(lane.id());
        // Chunks at both ends may lie outside mostly.
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

    /// Shows the rows of a lane that may reach into a window of ticks, and some others that lie near.
    pub fn near(&self, lane: LaneView<'_>, from: u64, to: u64, show: impl FnMut(Row)) {
        self.lane(lane.id()).near(lane, from, to, show);
    }

    /// Contents of a window of ticks, clipped to it: exact, from summaries inside and rows at its ends.
    #[must_use]
    pub fn profile(&self, lane: LaneView<'_>, from: u64, to: u64) -> Profile {
        Profile::new(self, lane, from, to)
    }
}

/// A result for each lane. The longest come first, so that nobody is left with one at the end.
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

/// The clock of a trace: from its first time to its last.
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
            // A link may begin before one that is complete sooner.
            for (_, from, to) in &extents.chunks {
                see(*from);
                see(*to);
            }
        }
    }
    Clock::new(from.min(to), to)
}

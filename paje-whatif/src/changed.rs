//! The changed run, as a trace.
//!
//! Re-timing computes the times of states and messages. Everything else in a container with states
//! moves along with the states. If neither a container nor any of its ancestors has states, the
//! container keeps its relative place in the run.

use paje_comm::tracks::Track;
use paje_export::paje::Times;
use paje_sim::{ContainerId, LaneId, LaneView, Trace};
use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::plan::Plan;
use crate::replay::Retimed;

/// Times of a changed run, for writing it as a trace.
#[derive(Debug)]
pub struct Changed<'g> {
    graph: &'g Graph<'g>,
    plan: &'g Plan,
    retimed: &'g Retimed,
    /// Track of each container, or of its nearest ancestor that has a track.
    tracks: Vec<Option<u32>>,
    lives: Vec<(f64, f64)>,
    /// Message of each lane and row, or [`NONE`] for links that are not messages because they have
    /// no tracks.
    lanes: FxHashMap<LaneId, Vec<u32>>,
    /// Start of the recorded run. `factor` is the length of the changed run divided by the length of
    /// the recorded run.
    begin: f64,
    factor: f64,
    end: f64,
    is_changed: bool,
}

const NONE: u32 = u32::MAX;

impl<'g> Changed<'g> {
    /// Prepares the changed run from the new times of states and messages.
    #[must_use]
    pub fn new(graph: &'g Graph<'g>, plan: &'g Plan, retimed: &'g Retimed) -> Self {
        let trace = graph.tracks().trace();
        let containers = trace.containers();
        let mut tracks: Vec<Option<u32>> = Vec::with_capacity(containers.len());
        for id in containers.ids() {
            let own = graph.tracks().of_container(id).map(|track| track as u32);
            // Containers come after their parents.
            let around = tracks.get(containers.parent(id).index()).copied().flatten();
            tracks.push(own.or(around));
        }
        let mut lanes: FxHashMap<LaneId, Vec<u32>> = FxHashMap::default();
        for (at, message) in (0..).zip(graph.messages().list()) {
            let (rows, row) = (lanes.entry(message.lane).or_default(), message.row as usize);
            rows.resize(rows.len().max(row + 1), NONE);
            rows[row] = at;
        }
        let (begin, old) = graph.span().unwrap_or((0.0, 0.0));
        let new = retimed.finish.iter().copied().fold(begin, f64::max);
        let is_changed = !retimed.is_unchanged;
        let mut changed = Changed {
            graph,
            plan,
            retimed,
            tracks,
            lives: Vec::new(),
            lanes,
            begin,
            factor: 1.0,
            end: trace.end(),
            is_changed,
        };
        if is_changed {
            changed.end = trace.end() + (new - old);
            let lasting = trace.end() - begin;
            changed.factor = if lasting > 0.0 { (changed.end - begin) / lasting } else { 1.0 };
        }
        changed.live(trace);
        changed
    }

    /// Sets the start and end of each container so that it encloses its contents.
    fn live(&mut self, trace: &Trace) {
        let containers = trace.containers();
        let mut lives: Vec<(f64, f64)> = containers
            .ids()
            .map(|id| {
                let (start, end) = (containers.start(id), containers.end(id));
                let end =
                    if containers.is_destroyed(id) { self.move_in(id, end) } else { self.end };
                (self.move_in(id, start), end)
            })
            .collect();
        if self.is_changed {
            let ids: Vec<ContainerId> = containers.ids().collect();
            for id in ids.into_iter().rev().filter(|id| *id != ContainerId::ROOT) {
                let (child, parent) = (lives[id.index()], containers.parent(id));
                let around = &mut lives[parent.index()];
                *around = (around.0.min(child.0), around.1.max(child.1));
            }
        }
        self.lives = lives;
    }

    /// Returns the changed time of an event in a container.
    fn move_in(&self, container: ContainerId, time: f64) -> f64 {
        if !self.is_changed {
            return time;
        }
        match self.tracks[container.index()] {
            Some(track) => {
                let track = track as usize;
                let list = &self.graph.tracks().list()[track];
                shifted(list, &self.retimed.start[track], &self.retimed.end[track], time)
            }
            None if self.factor == 1.0 => time,
            None => time + (time - self.begin) * (self.factor - 1.0),
        }
    }

    fn message(&self, lane: LaneId, row: u64) -> Option<usize> {
        let at = *self.lanes.get(&lane)?.get(row as usize)?;
        (at != NONE).then_some(at as usize)
    }
}

/// Returns the changed time of an event in a track. The time is interpolated between two steps.
fn shifted(track: &Track, start: &[f64], end: &[f64], time: f64) -> f64 {
    let begun = track.start.partition_point(|at| *at <= time);
    let Some(last) = begun.checked_sub(1) else {
        return time + start.first().map_or(0.0, |first| first - track.start[0]);
    };
    let (mut before, mut shift) = (track.start[last], start[last] - track.start[last]);
    let mut open = Some(last);
    while let Some(state) = open.filter(|state| track.end[*state] <= time) {
        (before, shift) = (track.end[state], end[state] - track.end[state]);
        open = track.parent(state);
    }
    let ending = open.map(|state| (track.end[state], end[state]));
    let next = track.start.get(begun).map(|at| (*at, start[begun]));
    let next = [ending, next].into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    match next {
        Some((after, moved)) if after > before => {
            let change = (moved - after) - shift;
            let part = (time - before) / (after - before);
            if change == 0.0 { time + shift } else { time + shift + change * part }
        }
        _ => time + shift,
    }
}

impl Times for Changed<'_> {
    fn state(&self, lane: LaneView<'_>, row: u64, recorded: (f64, f64)) -> Option<(f64, f64)> {
        let container = lane.container();
        let own = self.graph.tracks().of_container(container);
        let own = own.filter(|own| self.graph.tracks().list()[*own].type_ == lane.type_id());
        let Some(own) = own else {
            return Some((
                self.move_in(container, recorded.0),
                self.move_in(container, recorded.1),
            ));
        };
        if self.plan.is_cut(own, row as u32) {
            return None;
        }
        if !self.is_changed {
            return Some(recorded);
        }
        let (track, row) = (&self.graph.tracks().list()[own], row as usize);
        let (start, end) = (self.retimed.start[own][row], self.retimed.end[own][row]);
        let at = |new: f64, old: f64, recorded: f64| if new == old { recorded } else { new };
        Some((at(start, track.start[row], recorded.0), at(end, track.end[row], recorded.1)))
    }

    fn link(
        &self,
        lane: LaneId,
        row: u64,
        (from, to): (ContainerId, ContainerId),
        recorded: (f64, f64),
    ) -> Option<(f64, f64)> {
        let at = self.message(lane, row);
        if at.is_some_and(|at| self.plan.cuts_message(at)) {
            return None;
        }
        if !self.is_changed {
            return Some(recorded);
        }
        let is_timed =
            |at: &usize| self.graph.transfers()[*at].is_used() && !self.retimed.sent[*at].is_nan();
        let (start, end) = match at.filter(is_timed) {
            Some(at) => {
                (recorded.0 + self.retimed.sent[at], recorded.1 + self.retimed.received[at])
            }
            None => (self.move_in(from, recorded.0), self.move_in(to, recorded.1)),
        };
        // If nothing waits for a message, its ends move independently of each other.
        let end = if recorded.0 <= recorded.1 { end.max(start) } else { end };
        Some((start, end))
    }

    fn within(&self, container: ContainerId, recorded: f64) -> f64 {
        self.move_in(container, recorded)
    }

    fn container(&self, _: &Trace, container: ContainerId) -> (f64, f64) {
        self.lives[container.index()]
    }

    fn end(&self, _: &Trace) -> f64 {
        self.lives.iter().map(|life| life.1).fold(self.end, f64::max)
    }

    fn keeps_order(&self) -> bool {
        !self.is_changed
    }
}

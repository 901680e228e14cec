//! Waits of a trace that is read in portions, two or three times. Memory does not depend on the
//! length of the trace.
//!
//! The first reading counts states, and finds when the links of each portion start and end. Each
//! further reading keeps the states and links around its position. Each track has a *cut*: the start
//! of a state that is known to settle everything before it. All states that communicate and start
//! before the cut end before it. All links that start or end up to the cut are complete, and so are
//! the operations of all collective states before it. The waits of the states between two cuts are
//! those of the whole trace, and no stretch of time without waiting crosses a cut.
//!
//! The second reading also finds the roots of collectives, so that a third one may be needed.

mod first;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use paje_comm::Facts;
use paje_sim::{LaneId, Trace, TypeNature, ValueId};
use rustc_hash::FxHashMap;

use super::rest::Rest;
use super::tables::Total;
use super::{Kind, Waits, report};
use crate::classes::{Collective, Map};
use crate::collectives::{Residuals, Series};
use crate::tracks::Track;
use crate::{Seconds, Table};

pub use first::First;

/// What the further readings need to know.
#[derive(Debug)]
struct Plan {
    map: Map,
    bytes: Option<String>,
    /// Number of states of each track.
    counts: Vec<usize>,
    /// For each portion, the earliest start or end of the links of later portions.
    later: Vec<f64>,
    is_deep: bool,
    /// Window within the times of the trace.
    window: (f64, f64),
}

/// A reading of the trace that finds waits.
#[derive(Debug)]
pub struct Growing<'t> {
    plan: Arc<Plan>,
    /// Facts without states, messages and operations, and those of what is kept.
    begin: Facts<'t>,
    facts: Facts<'t>,
    /// Number of portions so far.
    portion: usize,
    tracks: Vec<Place>,
    cuts: Vec<f64>,
    /// Number of links in each lane so far.
    rows: FxHashMap<LaneId, u64>,
    series: Vec<Operations>,
    /// Series and member of a track's value.
    seats: FxHashMap<(usize, ValueId), (usize, usize)>,
    kinds: BTreeMap<Kind, Total>,
    rests: [Total; Rest::ALL.len()],
    bytes: u64,
}

/// Position in a track.
#[derive(Clone, Debug)]
struct Place {
    /// States without an end so far.
    open: Vec<u32>,
    /// Number of states so far, and the time of the last event of the lane.
    count: usize,
    time: f64,
}

/// Operations of a series.
#[derive(Clone, Debug)]
struct Operations {
    /// For each member, its states in operations that other members have not entered yet.
    waiting: Vec<VecDeque<u32>>,
    needs_root: bool,
    residuals: Residuals,
    count: usize,
    /// Number of operations that contradict the group, and of those that no member leaves before
    /// the last one enters.
    wrong: usize,
    in_step: usize,
}

/// Result of a reading.
#[derive(Debug)]
pub enum Found<'t> {
    /// The trace must be read again.
    Again(Box<Growing<'t>>),
    /// The report by kind, as [`Waits::kinds_table`] returns it.
    Table(Table),
    /// The waits depend on more than the rows around them, or the file has changed.
    Nothing,
}

impl<'t> Growing<'t> {
    fn new(plan: Arc<Plan>, facts: Facts<'t>, needs_root: Vec<bool>) -> Self {
        let series = &facts.collectives.series;
        let operations = |(series, needs_root): (&Series, bool)| Operations {
            waiting: vec![VecDeque::new(); series.tracks.len()],
            needs_root,
            residuals: Residuals::default(),
            count: 0,
            wrong: 0,
            in_step: 0,
        };
        let mut seats = FxHashMap::default();
        for (at, series) in series.iter().enumerate() {
            for (member, track) in series.tracks.iter().enumerate() {
                seats.insert((*track as usize, series.value), (at, member));
            }
        }
        let count = facts.tracks.list().len();
        let place = Place { open: Vec::new(), count: 0, time: f64::NEG_INFINITY };
        Growing {
            plan,
            begin: facts.clone(),
            portion: 0,
            tracks: vec![place; count],
            cuts: vec![f64::NEG_INFINITY; count],
            rows: FxHashMap::default(),
            series: series.iter().zip(needs_root).map(operations).collect(),
            seats,
            kinds: BTreeMap::new(),
            rests: Default::default(),
            bytes: 0,
            facts,
        }
    }

    /// Estimates the memory that the last portion needed, in bytes. Growing lists may take twice the
    /// memory.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        2 * self.bytes
    }

    /// Adds the next portion. Must be called inside the worker pool.
    #[must_use]
    pub fn see(mut self, trace: &Trace) -> Self {
        let tracks = Arc::make_mut(&mut self.facts.tracks);
        for lane in trace.lanes().filter(|lane| !lane.is_empty()) {
            let at = tracks.of_container(lane.container());
            match lane.nature() {
                TypeNature::Link => {
                    let row = self.rows.entry(lane.id()).or_default();
                    let (map, bytes) = (&self.plan.map, self.plan.bytes.as_deref());
                    let messages = Arc::make_mut(&mut self.facts.messages);
                    messages.grow(tracks, map, bytes, (lane, *row));
                    *row += lane.len();
                }
                TypeNature::State => {
                    let Some(at) = at.filter(|at| tracks.list()[*at].type_ == lane.type_id())
                    else {
                        continue;
                    };
                    let (track, place) = (&mut tracks.list_mut()[at], &mut self.tracks[at]);
                    let first = track.len();
                    track.grow(lane, &mut place.open);
                    place.count += track.len() - first;
                    let ends = lane.states().map(|state| state.end.max(state.start));
                    place.time = ends.fold(place.time, f64::max);
                    for state in first..track.len() {
                        let seat = self.seats.get(&(at, track.value[state]));
                        if let Some((series, member)) = seat {
                            self.series[*series].waiting[*member].push_back(state as u32);
                        }
                    }
                }
                _ => {}
            }
        }
        let all = &mut Arc::make_mut(&mut self.facts.collectives).series;
        for (series, operations) in all.iter_mut().zip(&mut self.series) {
            while operations.waiting.iter().all(|states| !states.is_empty()) {
                series.push(operations.waiting.iter_mut().filter_map(VecDeque::pop_front));
            }
        }
        let states = self.facts.tracks.list().iter().map(|track| track.len() as u64).sum();
        self.bytes = Waits::bytes_of(states, self.facts.messages.list().len() as u64);
        self.portion += 1;
        let Some(later) = self.plan.later.get(self.portion - 1).copied() else { return self };
        let cuts = self.next_cuts(later);
        self.settle(cuts)
    }

    /// Returns the next cuts. No further link starts or ends before `later`.
    fn next_cuts(&self, later: f64) -> Vec<f64> {
        let tracks = self.facts.tracks.list();
        let known = |(place, count): (&Place, &usize)| {
            let is_complete = place.count == *count && place.open.is_empty();
            later.min(if is_complete { f64::INFINITY } else { place.time })
        };
        let known: Vec<f64> = self.tracks.iter().zip(&self.plan.counts).map(known).collect();
        // Start of the first message whose receiving state is not known.
        let mut sends = vec![f64::INFINITY; tracks.len()];
        for message in self.facts.messages.list() {
            if message.end >= known[message.to as usize] {
                let first = &mut sends[message.from as usize];
                *first = first.min(message.start);
            }
        }
        let mut waiting = vec![usize::MAX; tracks.len()];
        for (series, operations) in self.facts.collectives.series.iter().zip(&self.series) {
            for (track, states) in series.tracks.iter().zip(&operations.waiting) {
                let first = &mut waiting[*track as usize];
                *first = states.front().map_or(*first, |state| (*first).min(*state as usize));
            }
        }
        let cut = |(at, track): (usize, &Track)| {
            let classes = self.facts.tracks.classes().of_type(track.type_);
            let (mut cut, mut busy) = (self.cuts[at], f64::NEG_INFINITY);
            for state in 0..track.len().min(waiting[at].saturating_add(1)) {
                let start = track.start[state];
                if start >= known[at] || start > sends[at] {
                    break;
                }
                if busy < start {
                    cut = cut.max(start);
                }
                if classes[track.value[state].index()].communicates() {
                    busy = busy.max(track.end[state]);
                }
            }
            cut
        };
        tracks.iter().enumerate().map(cut).collect()
    }

    /// Counts what is between the old and the new cuts, and forgets what is no longer needed.
    fn settle(mut self, cuts: Vec<f64>) -> Self {
        let messages = Arc::make_mut(&mut self.facts.messages);
        messages.find_states(&self.facts.tracks);
        let waits = Waits::of(self.facts);
        let window = self.plan.window;
        for (at, track) in waits.facts.tracks.list().iter().enumerate() {
            let (from, until) = (self.cuts[at], cuts[at]);
            for wait in waits.of_track(at) {
                let seconds = wait.seconds_within(window);
                let start = track.start[wait.state as usize];
                if from <= start && start < until && !seconds.is_zero() {
                    self.kinds.entry(wait.kind).or_default().add(seconds);
                }
            }
            waits.each_rest(at, (from.max(window.0), until.min(window.1)), |rest, piece| {
                self.rests[rest as usize].add(Seconds::between(piece.start, piece.end));
            });
        }
        self.facts = waits.facts;
        let done = self.judge(&cuts);
        self.cuts = cuts;
        self.forget(&done);
        self
    }

    /// Judges the operations of each series that are before the cuts. Returns their numbers.
    fn judge(&mut self, cuts: &[f64]) -> Vec<usize> {
        let tracks = &self.facts.tracks;
        let of_series = |(series, of): (&Series, &mut Operations)| {
            let is_done = |instance: &usize| {
                let mut members = series.tracks.iter().zip(series.operation(*instance));
                members.all(|(track, state)| {
                    let track = *track as usize;
                    tracks.list()[track].start[*state as usize] < cuts[track]
                })
            };
            let done = (0..series.len()).take_while(is_done).count();
            for instance in 0..done {
                of.count += 1;
                if of.needs_root {
                    of.residuals.add(series, tracks, instance);
                }
                of.wrong += usize::from(series.surplus(tracks, instance).is_none());
                let times = series.times(tracks, instance);
                let enter = times.iter().fold(f64::MIN, |latest, time| latest.max(time.0));
                let exit = times.iter().fold(f64::MAX, |first, time| first.min(time.1));
                of.in_step += usize::from(enter <= exit);
            }
            done
        };
        self.facts.collectives.series.iter().zip(&mut self.series).map(of_series).collect()
    }

    /// Forgets states and messages before the cuts, and the first operations of each series. Keeps
    /// states in which others are nested or to which others refer.
    fn forget(&mut self, done: &[usize]) {
        let tracks = Arc::make_mut(&mut self.facts.tracks);
        let messages = Arc::make_mut(&mut self.facts.messages);
        messages.keep_after(tracks, &self.cuts);
        let all = &mut Arc::make_mut(&mut self.facts.collectives).series;
        let states = |(track, cut): (&Track, &f64)| -> Vec<bool> {
            track.start.iter().map(|start| start >= cut).collect()
        };
        let mut keeps: Vec<Vec<bool>> = tracks.list().iter().zip(&self.cuts).map(states).collect();
        for ((track, keeps), place) in tracks.list().iter().zip(&mut keeps).zip(&self.tracks) {
            place.open.iter().for_each(|state| keeps[*state as usize] = true);
            for state in (0..track.len()).rev() {
                if let Some(outer) = track.parent(state).filter(|_| keeps[state]) {
                    keeps[outer] = true;
                }
            }
        }
        for message in messages.list() {
            if let Some(state) = message.recv() {
                keeps[message.to as usize][state] = true;
            }
        }
        for (series, done) in all.iter().zip(done) {
            for instance in *done..series.len() {
                for (track, state) in series.tracks.iter().zip(series.operation(instance)) {
                    keeps[*track as usize][*state as usize] = true;
                }
            }
        }
        let both = tracks.list_mut().iter_mut().zip(&keeps);
        let numbers: Vec<_> = both.map(|(track, keeps)| track.keep(keeps)).collect();
        messages.renumber(&numbers);
        let new = |numbers: &[Option<u32>], state: &mut u32| {
            *state = numbers[*state as usize].unwrap_or(*state);
        };
        for (place, numbers) in self.tracks.iter_mut().zip(&numbers) {
            place.open.iter_mut().for_each(|state| new(numbers, state));
        }
        for ((series, of), done) in all.iter_mut().zip(&mut self.series).zip(done) {
            series.remove_first(*done, &numbers);
            for (track, states) in series.tracks.iter().zip(&mut of.waiting) {
                states.iter_mut().for_each(|state| new(&numbers[*track as usize], state));
            }
        }
    }

    /// Ends the reading. Must be called inside the worker pool.
    #[must_use]
    pub fn finish(self) -> Found<'t> {
        let cuts = vec![f64::INFINITY; self.cuts.len()];
        let is_complete = |(place, count): (&Place, &usize)| place.count == *count;
        let are_complete = self.tracks.iter().zip(&self.plan.counts).all(is_complete);
        let is_read = self.portion == self.plan.later.len() && are_complete;
        if !is_read || self.tracks.iter().any(|place| !place.open.is_empty()) {
            return Found::Nothing;
        }
        let mut done = self.settle(cuts);
        let collectives = Arc::make_mut(&mut done.facts.collectives);
        for group in 0..collectives.groups.len() {
            let of_group = collectives.series.iter().zip(&done.series).filter(|(series, _)| {
                let waits_for_all = matches!(series.class, Collective::NxN | Collective::Barrier);
                series.group == group && waits_for_all
            });
            let (count, in_step) =
                of_group.fold((0, 0), |sum, (_, of)| (sum.0 + of.count, sum.1 + of.in_step));
            if done.plan.is_deep && 2 * in_step < count {
                return Found::Nothing;
            }
        }
        if done.series.iter().any(|of| of.needs_root) {
            for (series, of) in collectives.series.iter_mut().zip(&done.series) {
                if of.needs_root {
                    of.residuals.choose_root(series);
                }
            }
            let needs_root = vec![false; done.series.len()];
            let mut facts = done.begin;
            facts.collectives = done.facts.collectives;
            return Found::Again(Box::new(Growing::new(done.plan, facts, needs_root)));
        }
        if done.series.iter().any(|of| Series::may_divide(of.count, of.wrong)) {
            return Found::Nothing;
        }
        let (first, last) = done.plan.window;
        let length = if first < last { Seconds::between(first, last) } else { Seconds::ZERO };
        let all: Seconds = done.cuts.iter().map(|_| length).sum();
        let rests = Rest::ALL.into_iter().zip(done.rests);
        let rests = rests.filter(|(_, total)| !total.seconds.is_zero()).collect();
        let table = report::kinds_table(done.kinds, rests, all);
        Found::Table(table.in_seconds(done.facts.tracks.trace().time_scale()))
    }
}

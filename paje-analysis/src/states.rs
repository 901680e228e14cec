//! Profile of states: their count and durations by value.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use paje_sim::{ContainerId, LaneView, TimeRange, Trace, TypeId, TypeNature, ValueId};
use paje_workers::Workers;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::kept::Lanes;
use crate::lanes;
use crate::nesting::{Nested, Nesting, Part};
use crate::quantiles::{Durations, EXACT};
use crate::scope::{By, Groups, Scope};
use crate::sums::{IndexCache, Sums};
use crate::{Label, Seconds};

mod parts;
mod row;
mod spreads;
mod twofold;

pub use parts::StatesParts;
pub use row::{Row, table};
use spreads::Spreads;
use twofold::{Held, is_twofold};

/// Analysis of states, which can read a trace portion by portion.
#[derive(Clone, Debug)]
pub struct States {
    scope: Scope,
    by: By,
    lanes: Vec<Lane>,
    durations: FxHashMap<(TypeId, ValueId), Spread>,
    /// Lanes with states in the whole trace. Given if only a part of the trace is read.
    of_whole: Option<Lanes>,
    /// Only states that begin at one of these times are counted.
    begins: Option<Range<f64>>,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    has_states: bool,
    cells: Sums<ValueId, Cell>,
    open: Vec<Nested>,
    /// Latest start or end of a state, in seconds.
    latest: f64,
    held: Held,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    count: u64,
    /// Sum of all durations.
    sum: Seconds,
    /// Without states inside others of the same value.
    inclusive: Seconds,
    exclusive: Seconds,
    min: f64,
    max: f64,
}

impl Default for Cell {
    fn default() -> Self {
        let (sum, inclusive, exclusive) = (Seconds::ZERO, Seconds::ZERO, Seconds::ZERO);
        Cell { count: 0, sum, inclusive, exclusive, min: f64::INFINITY, max: 0.0 }
    }
}

impl Cell {
    #[inline]
    fn add_state(&mut self, state: &Nested, part: Part) {
        self.add_one(part, state.exclusive(part.inclusive));
        if !state.is_repeated {
            self.inclusive += part.inclusive;
        }
    }

    #[inline]
    fn add_one(&mut self, Part { inclusive, seconds }: Part, exclusive: Seconds) {
        self.count += 1;
        self.sum += inclusive;
        self.exclusive += exclusive;
        if seconds < self.min {
            self.min = seconds;
        }
        if seconds > self.max {
            self.max = seconds;
        }
    }

    fn add(&mut self, other: &Cell) {
        self.count += other.count;
        self.sum += other.sum;
        self.inclusive += other.inclusive;
        self.exclusive += other.exclusive;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Durations of the states with one value, either of all containers together or of a single one.
#[derive(Clone, Debug, Default)]
struct Spread {
    count: usize,
    by: FxHashMap<ContainerId, Durations>,
}

#[derive(Debug, Default)]
struct Found {
    durations: Sums<Key, Durations>,
    /// For each value, the index of the lane's sum and the index of the durations.
    cache: IndexCache<(u32, u32)>,
}

/// A type, a value and a container. If all containers are added up, the container is the root.
type Key = (TypeId, ValueId, ContainerId);

impl States {
    /// Creates the analysis. Rows are grouped by `by`.
    #[must_use]
    pub fn new(scope: Scope, by: By) -> Self {
        let (lanes, durations) = (Vec::new(), FxHashMap::default());
        States { scope, by, lanes, durations, of_whole: None, begins: None }
    }

    /// Counts only the states that begin in this range, for [`part`](Self::part). A state's time is
    /// subtracted from the state around it, even if that one begins earlier.
    pub(crate) const fn beginning_in(mut self, times: Range<f64>) -> Self {
        self.begins = Some(times);
        self
    }

    /// Sets the lanes that have states in the whole trace, so that only the part in the window
    /// needs to be read.
    #[must_use]
    pub fn in_part_of(mut self, lanes: Lanes) -> Self {
        self.of_whole = Some(lanes);
        self
    }

    /// Returns the container and type of each lane in which a state has ended.
    pub(crate) fn lanes(&self, trace: &Trace) -> impl Iterator<Item = (ContainerId, TypeId)> {
        let seen = trace.lanes().filter(|lane| {
            let kept = self.lanes.get(lane.id().index());
            kept.is_some_and(|lane| lane.has_states)
        });
        seen.map(|lane| (lane.container(), lane.type_id()))
    }

    /// Adds the next portion of a trace, or a whole trace.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.scope.extend(trace);
        let (window, by, begins) = (self.scope.window(), &self.by, &self.begins);
        let is_twofold = is_twofold(trace);
        let lanes = self.scope.lanes(trace, TypeNature::State);
        let found =
            lanes::each(lanes, &mut self.lanes, workers, |lane, kept, found: &mut Found| {
                match begins {
                    None => kept.see(lane, window, by, is_twofold, found),
                    Some(begins) => kept.see_begun(lane, begins, by, is_twofold, found),
                }
            });
        let found = found.into_iter().flat_map(|found| found.durations.into_all());
        for ((type_, value, container), mut durations) in found {
            let spread = self.durations.entry((type_, value)).or_default();
            spread.append(container, &mut durations);
        }
    }

    /// Returns the rows. `trace` is the trace or its last portion. Open states are assumed to end
    /// at the latest time of any state. Types are in definition order. Values are in descending
    /// order of time.
    #[must_use]
    pub fn rows(&self, trace: &Trace) -> Vec<Row> {
        let mut of_open = FxHashMap::default();
        let mut groups: BTreeMap<(Option<usize>, TypeId), Group> = BTreeMap::new();
        let (places, by) = (self.by.places(trace), self.by.groups(trace));
        // The replay reads lines ahead, so the end of the trace may be later than these times.
        let latest = self.lanes.iter().map(|lane| lane.latest);
        let now = latest.fold(f64::NEG_INFINITY, f64::max);
        for lane in trace.lanes() {
            let Some(kept) = self.lanes.get(lane.id().index()) else { continue };
            let kept = kept.ended(now, lane, self.scope.window(), &mut of_open);
            let Some(group) = by.group(lane.container()) else { continue };
            if !kept.has_states {
                continue;
            }
            let key = (places.get(&group).copied(), lane.type_id());
            let found = groups.entry(key).or_insert_with(|| Group::new(group));
            found.add(lane, &kept, self.scope.lifetime(trace, lane.container()));
        }
        self.add_unseen(trace, &places, &by, &mut groups);
        let spreads = Spreads::new(self, &by, of_open);
        let groups = groups.into_iter().flat_map(|((_, type_), group)| {
            let quantiles = |_: &Label, sum: &Sum| spreads.quantiles(group.id, type_, &sum.ids);
            by.rows(type_, &group, quantiles)
        });
        groups.collect()
    }

    /// Adds the lanes whose states are all in parts that were not read.
    fn add_unseen(
        &self,
        trace: &Trace,
        places: &FxHashMap<ContainerId, usize>,
        by: &Groups<'_>,
        groups: &mut BTreeMap<(Option<usize>, TypeId), Group>,
    ) {
        let Some(all) = &self.of_whole else { return };
        let mut known: FxHashSet<_> = self.lanes(trace).collect();
        let (containers, types) = (trace.containers().len(), trace.types().len());
        for (container, type_) in all.iter() {
            let exists = container.index() < containers && type_.index() < types;
            if !exists || !self.scope.wants(container, type_) || !known.insert((container, type_)) {
                continue;
            }
            let Some(id) = by.group(container) else { continue };
            let key = (places.get(&id).copied(), type_);
            let group = groups.entry(key).or_insert_with(|| Group::new(id));
            group.count(self.scope.lifetime(trace, container));
        }
    }
}

struct Group {
    id: ContainerId,
    /// Number of lanes of the type, and the sum of the lifetimes of their containers.
    lanes: u64,
    lifetime: Seconds,
    /// Sums by name, because several values may have the same name.
    values: BTreeMap<Label, Sum>,
}

#[derive(Default)]
struct Sum {
    ids: BTreeSet<ValueId>,
    cell: Cell,
    containers: u64,
    most: Seconds,
}

impl Group {
    const fn new(id: ContainerId) -> Self {
        Group { id, lanes: 0, lifetime: Seconds::ZERO, values: BTreeMap::new() }
    }

    fn count(&mut self, lifetime: Seconds) {
        self.lanes += 1;
        self.lifetime += lifetime;
    }

    fn add(&mut self, view: LaneView<'_>, lane: &Lane, lifetime: Seconds) {
        self.count(lifetime);
        let mut by_name: BTreeMap<Label, Cell> = BTreeMap::new();
        for (value, cell) in lane.cells.iter() {
            let name = Label::from(view.value_name(*value));
            self.values.entry(name.clone()).or_default().ids.insert(*value);
            by_name.entry(name).or_default().add(cell);
        }
        by_name.iter().for_each(|(name, cell)| self.add_value(name, cell));
    }

    /// Adds the states of a lane that have a value with this name.
    fn add_value(&mut self, name: &Label, cell: &Cell) {
        let sum = self.values.entry(name.clone()).or_default();
        sum.cell.add(cell);
        sum.containers += 1;
        sum.most = sum.most.max(cell.exclusive);
    }
}

impl Lane {
    fn see(
        &mut self,
        lane: LaneView<'_>,
        window: TimeRange,
        by: &By,
        is_twofold: bool,
        found: &mut Found,
    ) {
        let mut held = self.held;
        let mut open = std::mem::take(&mut self.open);
        let group = if *by == By::Value { ContainerId::ROOT } else { lane.container() };
        let type_ = lane.type_id();
        let Found { durations, cache } = found;
        cache.next_lane();
        Nesting::walk(lane, window, &mut open, |state, part, _| {
            self.note_end(state.end);
            held.see(is_twofold, (state, part, None), |state, part, _| {
                let Some(part) = part else { return };
                let (cell, spread) = cache.get(state.value.index(), || {
                    let key = (type_, state.value, group);
                    (self.cells.index(state.value), durations.index(key))
                });
                self.cells.at(cell).add_state(state, part);
                durations.at(spread).push(part.seconds);
            });
        });
        self.held = held;
        let last = open.last().map_or(f64::NEG_INFINITY, |state| state.start);
        self.latest = self.latest.max(last);
        self.open = open;
    }

    #[inline]
    fn note_end(&mut self, end: f64) {
        if !self.has_states || end > self.latest {
            self.latest = end;
        }
        self.has_states = true;
    }

    /// Returns the lane's sums as if its open states ended now. Adds the durations of the open
    /// states to `of_open`.
    fn ended(
        &self,
        now: f64,
        lane: LaneView<'_>,
        window: TimeRange,
        of_open: &mut FxHashMap<Key, Vec<f64>>,
    ) -> Cow<'_, Lane> {
        let is_again = |first: &Nested| self.open.iter().any(|state| state.repeats(first));
        let held = self.held.0.filter(|(first, _)| !is_again(first));
        if self.open.is_empty() && held.is_none() {
            return Cow::Borrowed(self);
        }
        let mut ended = self.clone();
        let (type_, container) = (lane.type_id(), lane.container());
        let mut add = |state: &Nested, part: Option<Part>| {
            ended.note_end(state.end);
            if let Some(part) = part {
                let cell = ended.cells.index(state.value);
                ended.cells.at(cell).add_state(state, part);
                of_open.entry((type_, state.value, container)).or_default().push(part.seconds);
            }
        };
        held.iter().for_each(|(first, part)| add(first, *part));
        Nesting::end_now(now, window, &self.open, |state, part, _| add(state, part));
        Cow::Owned(ended)
    }
}

impl Spread {
    fn append(&mut self, container: ContainerId, durations: &mut Durations) {
        match durations {
            Durations::Few(few) => self.count = self.count.saturating_add(few.len()),
            Durations::Many(_) => self.count = usize::MAX,
        }
        self.by.entry(container).or_default().append(durations);
        if self.count > EXACT {
            self.by.values_mut().for_each(|durations| _ = durations.as_many());
        }
    }
}

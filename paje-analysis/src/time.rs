//! Seconds of each value in each bin of time.

use std::collections::BTreeMap;

use paje_sim::{Trace, TypeId, TypeNature, ValueId};
use paje_workers::Workers;
use rustc_hash::FxHashMap;

use crate::bins::Bins;
use crate::classes::Classes;
use crate::lanes;
use crate::nesting::{Nested, Nesting};
use crate::scope::{By, Scope, clip, places};
use crate::{Data, Label, Seconds, Table};

/// Analysis of the time in states per bin, which can read a trace portion by portion.
#[derive(Clone, Debug)]
pub struct Time {
    scope: Scope,
    by: By,
    inclusive: bool,
    bins: Bins,
    lanes: Vec<Lane>,
}

struct Row {
    bin: usize,
    container: Label,
    type_: Label,
    value: Label,
    seconds: Seconds,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    values: FxHashMap<ValueId, Vec<Seconds>>,
    open: Vec<Nested>,
}

impl Time {
    /// Creates the analysis. If `inclusive` is true, the time of nested states also counts for the
    /// outer states.
    #[must_use]
    pub const fn new(scope: Scope, by: By, bins: Bins, inclusive: bool) -> Self {
        Time { scope, by, inclusive, bins, lanes: Vec::new() }
    }

    /// Adds the next portion of a trace, or a whole trace. Inner states must be within outer
    /// states. Therefore, a trace that has pushes without imbrication must not be replayed in
    /// portions.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.scope.extend(trace);
        let (scope, bins, inclusive) = (&self.scope, &self.bins, self.inclusive);
        let lanes = self.scope.lanes(trace, TypeNature::State);
        lanes::each(lanes, &mut self.lanes, workers, |lane, kept, (): &mut ()| {
            let mut open = std::mem::take(&mut kept.open);
            Nesting::walk(lane, scope.window(), &mut open, |state, _, outer| {
                if inclusive && state.is_repeated {
                    return;
                }
                kept.add(scope, bins, state, outer.filter(|_| !inclusive));
            });
            kept.open = open;
        });
    }

    /// Returns the report, bin by bin. Within a bin, containers are in output order, types in
    /// definition order, and values in alphabetical order. Values without time have no row.
    #[must_use]
    pub fn table(&self, trace: &Trace) -> Table {
        self.table_named(trace, |type_, value| Some(trace.types().value_name(type_, value).into()))
    }

    /// Returns the report with classes instead of values. Types without classes are left out.
    #[must_use]
    pub fn table_by_class(&self, trace: &Trace, classes: &Classes) -> Table {
        self.table_named(trace, |type_, value| {
            let class = classes.of_type(type_).get(value.index())?;
            Some(class.name().into())
        })
    }

    fn table_named(&self, trace: &Trace, name: impl Fn(TypeId, ValueId) -> Option<Label>) -> Table {
        let (places, groups) = (places(trace), self.by.groups(trace));
        let mut all: BTreeMap<(usize, TypeId, Label), (Label, Vec<Seconds>)> = BTreeMap::new();
        for lane in trace.lanes() {
            let Some(kept) = self.lanes.get(lane.id().index()) else { continue };
            let Some(group) = groups.group(lane.container()) else { continue };
            for (value, seconds) in &kept.values {
                let place = if self.by == By::Value { 0 } else { places[&group] };
                let Some(name) = name(lane.type_id(), *value) else { continue };
                let key = (place, lane.type_id(), name);
                let (_, sums) = all
                    .entry(key)
                    .or_insert_with(|| (groups.label(group), vec![Seconds::ZERO; self.bins.len()]));
                sums.iter_mut().zip(seconds).for_each(|(sum, seconds)| *sum += *seconds);
            }
        }
        let mut rows: Vec<Row> = Vec::new();
        for bin in 0..self.bins.len() {
            for ((_, type_, value), (container, seconds)) in &all {
                if seconds[bin].is_zero() {
                    continue;
                }
                rows.push(Row {
                    bin,
                    container: container.clone(),
                    type_: trace.types().name(*type_).into(),
                    value: value.clone(),
                    seconds: seconds[bin],
                });
            }
        }
        Table::new("time")
            .with("bin", Data::count(&rows, |row| row.bin as u64))
            .with("start", Data::seconds(&rows, |row| self.bins.span(row.bin).0))
            .with("end", Data::seconds(&rows, |row| self.bins.span(row.bin).1))
            .with("container", Data::text(&rows, |row| &row.container))
            .with("type", Data::text(&rows, |row| &row.type_))
            .with("value", Data::text(&rows, |row| &row.value))
            .with("seconds", Data::seconds(&rows, |row| row.seconds))
            .in_seconds(trace.time_scale())
    }
}

impl Lane {
    fn add(&mut self, scope: &Scope, bins: &Bins, state: &Nested, outer: Option<&Nested>) {
        let (start, end) = (scope.clip(state.start), scope.clip(state.end));
        if end <= start {
            return;
        }
        let own = self.of(bins, state.value);
        bins.overlaps(start, end, |bin, seconds| own[bin] += seconds);
        // Subtracts the time from the outer state, unless that state had already ended.
        if let Some(outer) = outer.filter(|outer| outer.end.is_nan() || outer.end > state.start) {
            let outer = self.of(bins, outer.value);
            bins.overlaps(start, end, |bin, seconds| outer[bin] -= seconds);
        }
    }

    fn of(&mut self, bins: &Bins, value: ValueId) -> &mut [Seconds] {
        self.values.entry(value).or_insert_with(|| vec![Seconds::ZERO; bins.len()])
    }
}

/// Returns the time range that is divided into bins, in the trace's unit: the intersection of the
/// window and the trace.
#[must_use]
pub fn range(trace: &Trace, scope: &Scope) -> (f64, f64) {
    let containers = trace.containers();
    let created = containers.ids().skip(1).map(|id| containers.start(id));
    let first = created.fold(f64::INFINITY, f64::min).min(trace.end());
    (clip(scope.window(), first), clip(scope.window(), trace.end()))
}

/// Returns the length of the trace's [`range`] in seconds.
#[must_use]
pub fn makespan(trace: &Trace, scope: &Scope) -> Seconds {
    let (start, end) = range(trace, scope);
    Seconds::between(start, end).max(Seconds::ZERO).scaled(trace.time_scale())
}

//! Count, rate, and first and last time of events, by value and container.

use std::collections::BTreeMap;
use std::convert::Infallible;

use paje_sim::{Events as Slice, LaneView, TimeRange, Trace, TypeId, TypeNature, ValueId, Visitor};
use paje_workers::Workers;
use rustc_hash::FxHashMap;

use crate::lanes;
use crate::scope::{Scope, places};
use crate::{Data, Label, Seconds, Table};

/// Analysis of events, which can read a trace portion by portion.
#[derive(Clone, Debug)]
pub struct Events {
    scope: Scope,
    lanes: Vec<FxHashMap<ValueId, Cell>>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    count: u64,
    first: f64,
    last: f64,
}

impl Events {
    /// Creates the analysis.
    #[must_use]
    pub const fn new(scope: Scope) -> Self {
        Events { scope, lanes: Vec::new() }
    }

    /// Adds the next portion of a trace, or a whole trace.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.scope.extend(trace);
        let window = self.scope.window();
        let lanes = self.scope.lanes(trace, TypeNature::Event);
        lanes::each(lanes, &mut self.lanes, workers, |lane, cells, (): &mut ()| {
            let Ok(()) = lane.visit(&mut Counting { window, cells });
        });
    }

    /// Returns the report. Types are in definition order, values in alphabetical order, and
    /// containers in output order. The rate is per second of the container's lifetime.
    #[must_use]
    pub fn table(&self, trace: &Trace) -> Table {
        let places = places(trace);
        let mut all: BTreeMap<(TypeId, Label, usize), (LaneView<'_>, Cell)> = BTreeMap::new();
        for lane in trace.lanes() {
            let Some(cells) = self.lanes.get(lane.id().index()) else { continue };
            for (value, cell) in cells {
                let name = lane.value_name(*value).into();
                let key = (lane.type_id(), name, places[&lane.container()]);
                let (_, sum) = all.entry(key).or_insert((lane, Cell { count: 0, ..*cell }));
                sum.count += cell.count;
                sum.first = sum.first.min(cell.first);
                sum.last = sum.last.max(cell.last);
            }
        }
        let rows: Vec<_> =
            all.into_iter().map(|((_, value, _), (lane, cell))| (value, lane, cell)).collect();
        let text = |name: &dyn Fn(LaneView<'_>) -> Label| {
            Data::Text(rows.iter().map(|(_, lane, _)| name(*lane)).collect())
        };
        let rate = |lane: LaneView<'_>, count: u64| {
            let lifetime = self.scope.lifetime(trace, lane.container());
            (!lifetime.is_zero()).then(|| count as f64 / lifetime.to_f64())
        };
        Table::new("events")
            .with("type", text(&|lane| lane.type_name().into()))
            .with("value", Data::text(&rows, |(value, ..)| value))
            .with("container", text(&|lane| lane.container_name().into()))
            .with("count", Data::count(&rows, |(.., cell)| cell.count))
            .with("first", Data::seconds(&rows, |(.., cell)| Seconds::new(cell.first)))
            .with("last", Data::seconds(&rows, |(.., cell)| Seconds::new(cell.last)))
            .with("rate", Data::number(&rows, |(_, lane, cell)| rate(*lane, cell.count)))
            .in_seconds(trace.time_scale())
    }
}

struct Counting<'a> {
    window: TimeRange,
    cells: &'a mut FxHashMap<ValueId, Cell>,
}

impl Visitor for Counting<'_> {
    type Error = Infallible;

    fn events(&mut self, _: LaneView<'_>, events: Slice<'_>) -> Result<(), Infallible> {
        for (time, value) in events.time.iter().zip(events.value) {
            if !self.window.overlaps(*time, *time) {
                continue;
            }
            let new = Cell { count: 0, first: *time, last: *time };
            let cell = self.cells.entry(*value).or_insert(new);
            cell.count += 1;
            cell.first = cell.first.min(*time);
            cell.last = cell.last.max(*time);
        }
        Ok(())
    }
}

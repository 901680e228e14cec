//! Events by value and container: number, rate, first and last time.

use std::collections::BTreeMap;
use std::convert::Infallible;

use paje_sim::{Events as Slice, LaneView, TimeRange, Trace, TypeId, TypeNature, ValueId, Visitor};
use paje_workers::Workers;
use rustc_hash::FxHashMap;

use crate::lanes;
use crate::scope::{Scope, places};
use crate::{Data, Label, Seconds, Table};

/// Counts events while they go by.
#[derive(Clone, Debug)]
pub struct Events {
    scope: Scope,
    lanes: Vec<FxHashMap<ValueId, Cell>>,
}

/// A row of the report: the events of a value in a container.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Their type.
    pub type_: Label,
    /// Their value.
    pub value: Label,
    /// Container that they happened in.
    pub container: Label,
    /// Number of events.
    pub count: u64,
    /// Time of the first one, in seconds.
    pub first: f64,
    /// Time of the last one, in seconds.
    pub last: f64,
    /// Number of events in each second that the container was there; none if it was not.
    pub rate: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    count: u64,
    first: f64,
    last: f64,
}

impl Events {
    /// Of this part of a trace.
    #[must_use]
    pub const fn new(scope: Scope) -> Self {
        Events { scope, lanes: Vec::new() }
    }

    /// Looks at the next portion of a trace, or at a whole one.
    pub fn see(&mut self, trace: &Trace, workers: &Workers) {
        self.scope.extend(trace);
        let window = self.scope.window();
        let lanes = self.scope.lanes(trace, TypeNature::Event);
        lanes::each(lanes, &mut self.lanes, workers, |lane, cells, (): &mut ()| {
            let Ok(()) = lane.visit(&mut Counting { window, cells });
        });
    }

    /// Rows found, types in the order of their definitions, values in that of their names, containers in output
    /// order.
    #[must_use]
    pub fn rows(&self, trace: &Trace) -> Vec<Row> {
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
        let row =
            |((_, value, _), (lane, cell)): ((TypeId, Label, usize), (LaneView<'_>, Cell))| {
                let lifetime = self.scope.lifetime(trace, lane.container());
                Row {
                    type_: lane.type_name().into(),
                    value,
                    container: lane.container_name().into(),
                    count: cell.count,
                    first: cell.first,
                    last: cell.last,
                    rate: (!lifetime.is_zero()).then(|| cell.count as f64 / lifetime.to_f64()),
                }
            };
        all.into_iter().map(row).collect()
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

/// The report as a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    Table::new("events")
        .with("type", Data::text(rows, |row| &row.type_))
        .with("value", Data::text(rows, |row| &row.value))
        .with("container", Data::text(rows, |row| &row.container))
        .with("count", Data::count(rows, |row| row.count))
        .with("first", Data::seconds(rows, |row| Seconds::new(row.first)))
        .with("last", Data::seconds(rows, |row| Seconds::new(row.last)))
        .with("rate", Data::number(rows, |row| row.rate))
}

//! Rows of the states report.

use paje_sim::{ContainerId, TimeScale, Trace, TypeId};
use rustc_hash::FxHashMap;

use super::{Group, Sum};
use crate::scope::{Groups, places};
use crate::{By, Data, Label, Seconds, Table};

/// Time that all containers, or one container, spend in a state value.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Row {
    /// The container, if each container has separate rows.
    pub container: Option<Label>,
    pub type_: Label,
    pub value: Label,
    pub count: u64,
    /// Time in states of the value, including nested states. States inside another state of the
    /// same value do not count again.
    pub inclusive: Seconds,
    /// Sum of the durations, excluding nested states.
    pub exclusive: Seconds,
    /// Exclusive time divided by the lifetimes of all containers that have a lane of the type.
    pub share: f64,
    /// Shortest duration, in seconds.
    pub min: f64,
    pub mean: Seconds,
    /// Median duration, in seconds.
    pub median: f64,
    /// 95th percentile of the duration, in seconds.
    pub p95: f64,
    /// Longest duration, in seconds.
    pub max: f64,
    /// Number of containers with states of the value.
    pub containers: u64,
    /// Number of containers that have a lane of the type.
    pub lanes: u64,
    /// Longest exclusive time of a container divided by the mean over `lanes`, minus 1.
    pub imbalance: f64,
}

impl Row {
    /// Converts times of a trace to seconds.
    pub(super) fn convert(&mut self, scale: TimeScale) {
        for sum in [&mut self.inclusive, &mut self.exclusive, &mut self.mean] {
            *sum = sum.scaled(scale);
        }
        for time in [&mut self.min, &mut self.median, &mut self.p95, &mut self.max] {
            *time = scale.seconds(*time);
        }
    }
}

impl Groups<'_> {
    /// Returns the rows of a group, given the median and the 95th percentile of each value.
    pub(super) fn rows(
        &self,
        type_: TypeId,
        group: &Group,
        quantiles: impl Fn(&Label, &Sum) -> [f64; 2],
    ) -> Vec<Row> {
        let trace = self.trace;
        let types = trace.types();
        let label = (*self.by != By::Value).then(|| self.label(group.id));
        let mut rows: Vec<Row> = Vec::new();
        for (value, sum) in &group.values {
            let Sum { cell, containers, most, .. } = sum;
            let [median, p95] = quantiles(value, sum);
            let mean = cell.exclusive.to_f64() / group.lanes as f64;
            rows.push(Row {
                container: label.clone(),
                type_: types.name(type_).into(),
                value: value.clone(),
                count: cell.count,
                inclusive: cell.inclusive,
                exclusive: cell.exclusive,
                share: cell.exclusive.share_of(group.lifetime),
                min: cell.min,
                mean: cell.sum.mean(cell.count),
                median: median.clamp(cell.min, cell.max),
                p95: p95.clamp(cell.min, cell.max),
                max: cell.max,
                containers: *containers,
                lanes: group.lanes,
                imbalance: if mean > 0.0 { most.to_f64() / mean - 1.0 } else { 0.0 },
            });
        }
        rows.sort_by(|a, b| b.exclusive.cmp(&a.exclusive).then_with(|| a.value.cmp(&b.value)));
        rows.iter_mut().for_each(|row| row.convert(trace.time_scale()));
        rows
    }
}

impl By {
    pub(super) fn places(&self, trace: &Trace) -> FxHashMap<ContainerId, usize> {
        if *self == By::Value { FxHashMap::default() } else { places(trace) }
    }
}

/// Converts the rows to a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    Table::new("states")
        .with_containers(rows, |row| row.container.as_ref())
        .with("type", Data::text(rows, |row| &row.type_))
        .with("value", Data::text(rows, |row| &row.value))
        .with("count", Data::count(rows, |row| row.count))
        .with("inclusive", Data::seconds(rows, |row| row.inclusive))
        .with("exclusive", Data::seconds(rows, |row| row.exclusive))
        .with("share", Data::number(rows, |row| Some(row.share)))
        .with("min", Data::time(rows, |row| Some(row.min)))
        .with("mean", Data::seconds(rows, |row| row.mean))
        .with("median", Data::time(rows, |row| Some(row.median)))
        .with("p95", Data::time(rows, |row| Some(row.p95)))
        .with("max", Data::time(rows, |row| Some(row.max)))
        .with("containers", Data::count(rows, |row| row.containers))
        .with("imbalance", Data::number(rows, |row| Some(row.imbalance)))
}

//! Rows of the states report.

use paje_sim::TimeScale;

use crate::{Data, Label, Seconds, Table};

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

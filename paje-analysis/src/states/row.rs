//! Rows of the states report.

use paje_sim::TimeScale;

use crate::{Label, Seconds};

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

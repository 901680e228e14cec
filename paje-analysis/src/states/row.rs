//! A row of the report.

use crate::{Label, Seconds};

/// A row of the report: a value, of all containers or of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Container, if each has its own rows.
    pub container: Option<Label>,
    /// Their type.
    pub type_: Label,
    /// Their value.
    pub value: Label,
    /// Number of states.
    pub count: u64,
    /// Sum of their durations.
    pub inclusive: Seconds,
    /// Sum of durations without the states directly inside.
    pub exclusive: Seconds,
    /// The exclusive time, as a part of the lifetimes of the containers that have a lane of the type.
    pub share: f64,
    /// The shortest.
    pub min: f64,
    /// Mean duration.
    pub mean: Seconds,
    /// Median duration, in seconds: half of them took at most that.
    pub median: f64,
    /// Duration that 95 % of them took at most, in seconds.
    pub p95: f64,
    /// The longest.
    pub max: f64,
    /// Number of containers with states of the value.
    pub containers: u64,
    /// Number of containers that could have: those that have a lane of the type.
    pub lanes: u64,
    /// Longest exclusive time of a container, divided by the mean of those with a lane of the type, less 1.
    pub imbalance: f64,
}

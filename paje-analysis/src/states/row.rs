//! A row of the report.

use crate::{Label, Seconds};

/// A row of the report: a value, of all containers or of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Whose states they are, if each container has rows of its own.
    pub container: Option<Label>,
    /// Their type.
    pub type_: Label,
    /// Their value.
    pub value: Label,
    /// Number of states.
    pub count: u64,
    /// Sum of their durations.
    pub inclusive: Seconds,
    /// The same without the states directly in them.
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
    /// Number of containers that had such a state.
    pub containers: u64,
    /// Number of containers that could have: those that have a lane of the type.
    pub lanes: u64,
    /// The longest exclusive time of a container over the mean of those that have a lane of the type, less 1.
    pub imbalance: f64,
}

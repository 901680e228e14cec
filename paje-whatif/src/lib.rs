//! Predicts how long a run would have taken under other conditions.
//!
//! A [`Graph`] contains the activities of each container in order, and the dependencies between
//! them. A [`Plan`] contains the changes and is made from [hypotheses](hypothesis).
//! [`Graph::retime`] computes the times of the changed run. Waiting times follow from the graph,
//! not from the trace.

mod changed;
pub mod fit;
mod graph;
pub mod hypothesis;
pub mod network;
mod ordered;
mod plan;
mod retime;
mod settings;
mod shapes;
mod steps;
mod transfers;
mod walk;

pub use changed::Changed;
pub use graph::{Graph, RunFacts};
pub use plan::Plan;
pub use retime::{Cycle, Dropped, Retimed};
pub use settings::{EagerStart, Settings, Shape};
pub use shapes::CollectiveModel;
pub use transfers::{Assumptions, Transfer};

//! Predicts how long a run would have taken if something had been different.
//!
//! The [`Graph`] of a run is what each container does, in order, and what it waits for. A [`Plan`] holds the changes, made of
//! [hypotheses](hypothesis). [`Graph::retime`] computes when everything happens then: waiting follows from the graph, not from
//! the trace.

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

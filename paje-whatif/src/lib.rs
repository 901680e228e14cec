//! Duration that a run would have had if something had been different, told from its trace.
//!
//! The [`Graph`] of a run is what each container does, in order, and what it waits for. A [`Plan`] is what is changed, made of
//! [hypotheses](hypothesis). [`Graph::retime`] tells when everything happens then: waiting follows from the graph, and is not
//! taken from the trace.

mod changed;
pub mod fit;
mod graph;
pub mod hypothesis;
pub mod network;
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

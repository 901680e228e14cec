//! Predicts how long a run would have taken under other conditions.
//!
//! A [`Graph`] is a recorded run ([`paje_comm::Run`]) together with a model that explains its
//! times. The model consists of transfers of messages and schedules of collectives. A [`Plan`]
//! contains the changes and is made from [hypotheses](hypothesis). [`Graph::retime`] computes the
//! times of the changed run. Waiting times follow from the model, not from the trace.

mod changed;
mod costs;
pub mod fit;
mod fits;
mod flows;
mod graph;
pub mod hypothesis;
mod ideal;
mod measure;
mod operation;
mod phases;
mod plan;
mod replay;
mod schedule;
mod settings;
mod sharing;
pub mod tasks;

pub use changed::Changed;
pub use costs::Costs;
pub use fits::CollectiveModel;
pub use graph::Graph;
pub use ideal::ideal;
pub use measure::{Assumptions, Transfer};
pub use paje_comm::{Facts, Hosts};
pub use plan::Plan;
pub use replay::{Cycle, Retimed};
pub use settings::{EagerStart, Progress, Settings, Shape};
pub use sharing::max_min;

//! A model of communication. It describes what each rank of a traced run did, in order.
//!
//! A [`Run`] has the steps of each rank. The steps are the states and collectives that the rank
//! entered and left, and the messages that it sent, got ready to receive, and waited for, with
//! their times. A rank may wait for one message, for all messages of a set, or for any message of a
//! set. Runs are read from Pajé traces of SimGrid's SMPI, Akypuera, EZTrace and StarPU. Facts that
//! a trace does not record are [`Inferred`].

mod groups;
mod received;
mod requests;
mod run;
mod steps;
mod walk;

pub use groups::{Group, Groups};
pub use received::{Received, TIME_TOLERANCE, sets};
pub use run::{Facts, Inferred, Reading, Run};
pub use steps::{Kind, Step, StepActs, Steps};
pub use walk::Act;

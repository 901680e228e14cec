//! One model of communication: what each rank of a traced run did, in order.
//!
//! A [`Run`] has the steps of each rank: states that it entered and left, and, at their times, the
//! messages that it sent, got ready to receive, and waited for, one by one, all of a set or any of
//! a set; and the collectives that it entered and left. It is filled from Pajé traces of SimGrid's
//! SMPI, Akypuera, EZTrace and StarPU. What a trace does not record is [`Inferred`].

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

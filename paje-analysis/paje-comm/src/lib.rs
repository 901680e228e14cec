//! A model of communication. It describes what each rank of a traced run did, in order.
//!
//! [`Facts`] are the states, messages and collectives that a trace records. Searches for wait
//! states, critical paths and hazards need no more. A [`Run`] has the steps of each rank. The steps
//! are the states and collectives that the rank entered and left, and the messages that it sent,
//! got ready to receive, and waited for, with their times. A rank may wait for one message, for all messages of a set, or for any message of a
//! set. Runs are read from Pajé traces of SimGrid's SMPI, Akypuera, EZTrace and StarPU. Facts that
//! a trace does not record are [`Inferred`].

mod acts;
pub mod classes;
mod clocks;
pub mod collectives;
mod facts;
mod groups;
mod hosts;
pub mod messages;
pub mod named;
mod polls;
mod received;
pub mod recorded;
mod requests;
mod run;
pub mod seconds;
mod steps;
pub mod tasks;
pub mod tracks;

pub use acts::Act;
pub use facts::{Facts, Options};
pub use groups::{Group, Groups, divisions};
pub use hosts::Hosts;
pub use polls::Poll;
pub use received::{Received, TIME_TOLERANCE, received, sets};
pub use recorded::Recorded;
pub use run::{Inferred, Run};
pub use seconds::Seconds;
pub use steps::{Kind, Step, StepActs, Steps};

//! Runs of message-passing programs, as small traces: closed forms with known answers, and random ones.
//!
//! Ranks compute, send, receive, and take part in operations of all, in the states and links of SimGrid's SMPI. Each rank has
//! a clock in microseconds; a receiver waits for its sender, so that no trace deadlocks.

mod hazards;
mod known;
mod random;
mod ranks;

pub use hazards::Hazard;
pub use known::{Case, Known, Parameters, Waiting};
pub use random::{Passing, random};

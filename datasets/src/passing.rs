//! Small traces of message-passing programs. Some have known answers, and some are random.
//!
//! Ranks compute, send, receive and take part in collectives, with the states and links of
//! SimGrid's SMPI. Each rank has a clock in microseconds. Receivers wait for their senders, so no
//! trace deadlocks.

mod hazards;
mod known;
mod random;
mod ranks;

pub use hazards::Hazard;
pub use known::{Case, Known, Parameters, Waiting};
pub use random::{Passing, random};

//! `pj_hazards`: finds message races, untried message orders, deadlocks and removable barriers.
//!
//! ```text
//! FILE ──replay──▶ messages, operations ──▶ happened-before order ──▶ races, orders, deadlocks, barriers
//! ```
//!
//! `paje-hazards` finds the hazards. This crate handles the command line, reading and output.

pub mod cli;
mod dot;
pub mod manual;
mod memory;
mod output;
pub mod run;
mod texts;

pub use paje_hazards::{barriers, deadlock, model, orders, places, poset, races};

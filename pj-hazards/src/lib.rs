//! `pj_hazards`: finds message races, untried message orders, deadlocks and removable barriers.
//!
//! ```text
//! FILE ──replay──▶ messages, operations ──▶ happened-before order ──▶ races, orders, deadlocks, barriers
//! ```
//!
//! `paje-analysis` computes the happened-before order. The modules [`races`], [`orders`],
//! [`deadlock`] and [`barriers`] find the hazards that follow from it. They print nothing.

pub mod barriers;
pub mod cli;
pub mod deadlock;
mod dot;
mod driven;
mod hangs;
pub mod manual;
mod memory;
pub mod model;
pub mod orders;
pub mod output;
pub mod persistent;
pub mod places;
pub mod poset;
pub mod races;
mod report;
pub mod run;
mod texts;

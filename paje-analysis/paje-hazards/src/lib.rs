//! Finds message races, untried message orders, deadlocks and removable barriers.
//!
//! A [`Model`](model::Model) has the messages and operations of a trace. `paje-analysis` computes their
//! happened-before order. The modules [`races`], [`orders`], [`deadlock`] and [`barriers`] find the
//! hazards that follow from it.

pub mod barriers;
pub mod deadlock;
mod driven;
mod hangs;
pub mod model;
pub mod orders;
mod persistent;
pub mod places;
pub mod poset;
pub mod races;

//! `pj_hazards`: what could have gone differently in a run that passes messages.
//!
//! ```text
//! FILE ──replay──▶ messages, operations ──▶ what happened before what ──▶ races, orders, deadlocks, barriers
//! ```
//!
//! The happened-before order is in `paje-analysis`. Here are the hazards that follow from it, each in a module
//! that neither prints nor ends the program: [`races`], [`orders`], [`deadlock`], [`barriers`].

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

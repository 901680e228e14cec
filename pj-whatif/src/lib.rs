//! `pj_whatif`: predicts how long a run would have taken under other conditions.
//!
//! ```text
//! TRACE ──replay──▶ graph ──hypotheses──▶ plan ──re-timing──▶ report, changed trace
//! ```
//!
//! `paje-whatif` makes the prediction. This crate handles the command line, reads the trace and
//! writes the report.

mod analysis;
pub mod cli;
pub mod manual;
mod many;
mod page;
mod report;
pub mod run;
mod tasks;

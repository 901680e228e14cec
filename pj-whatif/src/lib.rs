//! `pj_whatif`: predicts how long a run would have taken under other conditions.
//!
//! ```text
//! TRACE ──replay──▶ graph ──hypotheses──▶ plan ──re-timing──▶ report, changed trace
//! ```
//!
//! The prediction is in `paje-whatif`; this crate has the command line, the reading and the report.

pub mod cli;
pub mod manual;
mod many;
mod page;
mod report;
pub mod run;

//! `pj_whatif`: how long a run would have taken if something had been different.
//!
//! ```text
//! TRACE ──replay──▶ graph ──hypotheses──▶ plan ──re-timing──▶ report, changed trace
//! ```
//!
//! Computing is in `paje-whatif`; here are the command line, the reading, and the report.

pub mod cli;
pub mod manual;
mod many;
mod page;
mod report;
pub mod run;

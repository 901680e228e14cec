//! `pj_profile`: what a trace says: where the time goes, who sends to whom, what happens when.
//!
//! ```text
//! FILE ──replay──▶ portions ──▶ analysis ──▶ tables ──▶ terminal, CSV, JSON, Parquet, SVG, HTML
//! ```
//!
//! Analyses are in `paje-analysis`; here are the command line, the reading, and the output of tables.

mod analysis;
pub mod cli;
mod kept;
mod live;
pub mod manual;
mod natural;
pub mod output;
mod overview;
mod page;
pub mod pictures;
mod report;
pub mod run;
mod waiting;

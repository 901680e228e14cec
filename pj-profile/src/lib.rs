//! `pj_profile`: summarises a trace: time per state, communication, waiting, critical path.
//!
//! ```text
//! FILE ──replay──▶ portions ──▶ analysis ──▶ tables ──▶ terminal, CSV, JSON, Parquet, SVG, HTML
//! ```
//!
//! The analyses are in `paje-analysis`. This crate handles the command line, reading and output.

mod analysis;
pub mod cli;
mod kept;
mod live;
pub mod manual;
mod natural;
mod output;
mod overview;
mod page;
mod pictures;
mod report;
pub mod run;
mod tasks;
mod waiting;
mod why;

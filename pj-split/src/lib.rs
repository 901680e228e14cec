//! `pj_split`: splits a Pajé trace into pieces, each of which is a complete trace.
//!
//! ```text
//! trace ──replay──▶ owner of each line (log) ──shares──▶ piece of each container
//!   └──────────────── text ───────────────────────────┐        │
//!                                                     ▼        ▼
//!                                        scatter, block by block ──▶ piece-000.trace, …, root.trace
//! ```
//!
//! The trace is read twice. First, it is replayed without keeping its objects. This shows whether
//! it is valid, and a `survey` logs the owner of each line on disk. Then containers are assigned to
//! pieces (`shares`), and each line is copied to the pieces that need it (`needs`, `scatter`).
//! Memory depends on the containers, types and values of the trace, not on its length.

pub mod cli;
mod cut;
mod folder;
mod log;
pub mod manual;
mod needs;
mod output;
pub mod pack;
pub mod partial;
mod report;
mod root;
pub mod run;
mod scatter;
mod shares;
mod survey;
mod window;

//! Tests the program from its command line.

#![allow(clippy::unwrap_used)]

mod cli;
mod faults;
mod structure;
mod summaries;
mod windows;

//! The program from the command line.

#![allow(clippy::unwrap_used)]

mod cli;
mod faults;
mod structure;
mod summaries;
mod windows;

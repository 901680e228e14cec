//! The program from the command line.

#![allow(clippy::unwrap_used)]

mod cli;
mod structure;

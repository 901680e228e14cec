//! The program from the command line.

mod cli;
mod structure;

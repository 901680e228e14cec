//! Tests of the program.

mod cli;
mod known;
mod naive;
mod smpi;

//! Tests of the program.

mod cli;
mod kept;
mod naive;
mod naive_rows;
mod pictures;
mod tasks;
mod units;
mod waiting;
mod why;
mod windows;

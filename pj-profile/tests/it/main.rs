//! Tests of the program.

mod cli;
mod naive;
mod naive_rows;
mod pictures;
mod waiting;

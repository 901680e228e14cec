//! Tests the program from the outside, against a simple comparison of rows.

mod cli;
mod compat;
mod differences;
mod naive;
mod world;

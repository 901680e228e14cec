//! The program from the outside, compared with a simple comparison of rows.

mod cli;
mod compat;
mod differences;
mod naive;
mod world;

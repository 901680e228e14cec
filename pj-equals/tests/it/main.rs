//! The program as its users see it, beside a plain comparison of rows.

mod cli;
mod compat;
mod naive;
mod differences;
mod world;

//! The program as its users see it, beside a plain comparison of rows.

mod cli;
mod compat;
mod differences;
mod naive;
mod world;

//! `pj_dump`: a Pajé trace as CSV, byte for byte what PajeNG's program of that name prints.
//!
//! The program is [`run`]; what it prints is made in [`output`], from the replay of `paje-sim`.

pub mod cli;
pub mod command_line;
pub mod manual;
pub mod output;
mod report;
pub mod run;
mod signals;
pub mod stats;

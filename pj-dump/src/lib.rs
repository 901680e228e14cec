//! `pj_dump`: prints a Pajé trace as CSV, byte for byte as PajeNG's program does.
//!
//! [`run`] runs the program. [`output`] writes the results of `paje-sim`'s replay.

pub mod cli;
pub mod command_line;
pub mod manual;
pub mod output;
mod report;
pub mod run;
mod signals;
pub mod stats;

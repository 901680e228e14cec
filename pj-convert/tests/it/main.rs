//! Compares converted traces with the rows of the original.

mod chrome;
mod cli;
mod hostile;
mod otf2;
mod paje;
mod perfetto;
mod pipit;
mod rows;
mod traces;

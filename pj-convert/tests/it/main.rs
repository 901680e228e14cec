//! Results of a conversion, beside the rows of the trace.

mod chrome;
mod cli;
mod hostile;
mod paje;
mod perfetto;
mod pipit;
mod rows;
mod traces;

//! Errors and warnings about lines, with their positions.

pub mod found;
pub mod tally;
pub mod warnings;

//! Errors and warnings about lines, with their places.

pub mod found;
pub mod tally;
pub mod warnings;

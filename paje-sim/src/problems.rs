//! Errors and doubts about the lines of blocks, with their places.

pub(crate) mod found;
pub(crate) mod tally;
pub(crate) mod warnings;

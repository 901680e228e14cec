//! Errors and warnings about lines, with their places.

pub(crate) mod found;
pub(crate) mod tally;
pub(crate) mod warnings;

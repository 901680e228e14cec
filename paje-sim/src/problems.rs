//! What is wrong or doubtful in the lines of blocks, and where.

pub(crate) mod found;
pub(crate) mod tally;
pub(crate) mod warnings;

//! Sources of a trace's lines: files, pipes, and lines in the order of their times.

pub(crate) mod feed;
pub(crate) mod files;
pub(crate) mod sorted;
pub(crate) mod source;

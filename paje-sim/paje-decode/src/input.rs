//! Sources of a trace's lines: files, pipes, and lines in the order of their times.

pub mod feed;
pub mod files;
pub mod sorted;
pub mod source;

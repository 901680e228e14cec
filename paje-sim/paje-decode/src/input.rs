//! Inputs: files, pipes, and lines sorted by time.

pub mod feed;
pub mod files;
pub mod sorted;
pub mod source;

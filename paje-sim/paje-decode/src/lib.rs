//! Decoding: from the blocks of a trace's files (`input`) to small events, grouped by lane
//! (`decode`).
//!
//! `paje-sim` exports the public API.
// Only the crates of this workspace use what `paje-sim` does not export.
#![allow(missing_docs, clippy::len_without_is_empty)]

pub mod decode;
pub mod input;

//! Decoding: from the blocks of a trace's files (`input`) to small events, grouped by lane
//! (`decode`).
//!
//! `paje-sim` exports the public API.
// Items that `paje-sim` does not export are only used inside this workspace.
#![allow(missing_docs, clippy::len_without_is_empty)]

pub mod decode;
pub mod input;

//! Replay of lanes: the effect of an event on its lane (`lanes`), all lanes in parallel (`replay`),
//! and problems of lines with their places (`problems`).
//!
//! `paje-sim` exports the public API.
// Only the crates of this workspace use what `paje-sim` does not export.
#![allow(missing_docs, clippy::len_without_is_empty)]

pub mod lanes;
pub mod problems;
pub mod replay;

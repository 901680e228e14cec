//! Replay of lanes: what an event does to its lane (`lanes`), all lanes side by side (`replay`), and
//! problems of lines and their places (`problems`).
//!
//! The public API is that of `paje-sim`.
// Only crates of this workspace use what `paje-sim` does not export.
#![allow(missing_docs, clippy::len_without_is_empty)]

pub mod lanes;
pub mod problems;
pub mod replay;

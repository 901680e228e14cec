//! Replay of lanes: the effect of an event on its lane (`lanes`), all lanes in parallel (`replay`),
//! and problems of lines with their positions (`problems`).
//!
//! `paje-sim` exports the public API.
// Items that `paje-sim` does not export are only used inside this workspace.
#![allow(missing_docs, clippy::len_without_is_empty)]

pub mod lanes;
pub mod problems;
pub mod replay;

//! Model of a Pajé trace: names and options, types and containers, and rows in memory.
//!
//! Each module only imports from those before it: `names`, `memory`, `model`. `paje-sim` exports the public API.
// The crates of this workspace alone use what `paje-sim` does not export.
#![allow(missing_docs)]

pub mod memory;
pub mod model;
pub mod names;

//! Model of a Pajé trace: names and options, types and containers, and rows in memory.
//!
//! The modules build on each other in this order: `names`, `memory`, `model`. `paje-sim` exports the public API.
// Only the crates of this workspace use what `paje-sim` does not export.
#![allow(missing_docs)]

pub mod memory;
pub mod model;
pub mod names;

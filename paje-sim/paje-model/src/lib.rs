//! Model of a Pajé trace: names and options, types and containers, and rows in memory.
//!
//! The modules build on each other in this order: `names`, `memory`, `model`. `paje-sim` exports the public API.
// Items that `paje-sim` does not export are only used inside this workspace.
#![allow(missing_docs)]

pub mod memory;
pub mod model;
pub mod names;

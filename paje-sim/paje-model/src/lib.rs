//! What a Pajé trace is: names and options, its types and containers, and its rows in memory.
//!
//! The modules import from those before them: `names`, `memory`, `model`. The public API is that of `paje-sim`.
// Only crates of this workspace use what `paje-sim` does not export.
#![allow(missing_docs)]

pub mod memory;
pub mod model;
pub mod names;

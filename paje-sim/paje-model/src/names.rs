//! The basic types that all other modules use: IDs, names, options, progress and problems.

pub mod error;
pub mod excerpt;
pub mod hash;
pub mod ids;
pub mod ledger;
pub mod named;
pub mod options;
pub mod prefetch;
pub mod problem;
pub mod progress;
pub mod recovered;
pub mod selection;
pub mod text;
pub mod time_range;
pub mod time_unit;
pub mod usage;
pub mod warning;

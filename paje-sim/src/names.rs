//! The vocabulary of all other modules: IDs, names, options, progress and problems.

pub mod error;
pub mod excerpt;
pub(crate) mod hash;
pub(crate) mod ids;
pub(crate) mod ledger;
pub(crate) mod named;
pub mod options;
pub(crate) mod prefetch;
pub(crate) mod problem;
pub mod progress;
pub mod recovered;
pub(crate) mod selection;
pub(crate) mod text;
pub(crate) mod time_range;
pub(crate) mod usage;
pub(crate) mod warning;

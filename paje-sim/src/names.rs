//! Words that all floors above speak in: numbers of things, names, what a replay is asked for, how far it is, and
//! what can be wrong with a trace.

pub mod error;
pub mod excerpt;
pub(crate) mod hash;
pub(crate) mod ids;
pub(crate) mod ledger;
pub mod options;
pub(crate) mod prefetch;
pub mod progress;
pub mod recovered;
pub(crate) mod selection;
pub mod tasks;
pub(crate) mod text;
pub(crate) mod time_range;
pub(crate) mod usage;

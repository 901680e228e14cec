//! Analyses of a replayed Pajé trace: profiles, communication, wait states, critical path and more.
//!
//! Each analysis is a module that turns the rows of a trace into a typed table. Analyses print
//! nothing, and use only the public interface of `paje-sim`.
//!
//! Most analyses need constant memory: they read a trace [portion](paje_sim::Portion) by portion,
//! or all at once with the same result. Workers process lanes in parallel:
//!
//! ```
//! use paje_analysis::{By, Scope, states::States};
//! use paje_sim::{Options, Progress, Source, Trace};
//! use paje_workers::Workers;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
//! # let bytes = std::fs::read(path)?;
//! let workers = Workers::one();
//! let mut states = States::new(Scope::default(), By::Value);
//! let mut see = |portion: &paje_sim::Portion<'_>| {
//!     states.see(portion.trace(), &workers);
//!     std::ops::ControlFlow::Continue(())
//! };
//! let (source, progress) = (Source::stream(&bytes[..]), Progress::default());
//! let trace = Trace::read_in_portions(source, &Options::default(), &workers, &progress, 1 << 24, &mut see)?;
//! let longest = &states.rows(&trace)[0];
//! assert_eq!(longest.value.to_string(), "computing");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arrow")]
mod arrow;
pub mod asked;
pub mod bins;
mod bytes;
pub mod comm;
pub mod compare;
pub mod critical;
pub mod dot;
pub mod events;
pub mod kept;
mod lanes;
mod nesting;
pub mod order;
pub mod quantiles;
mod scope;
pub mod states;
pub mod summary;
mod sums;
pub mod table;
pub mod tasks;
pub mod time;
pub mod variables;
pub mod waits;
pub mod why;

pub use bins::Bins;
pub use paje_comm::{Seconds, classes, collectives, messages, named, recorded, seconds, tracks};
pub use scope::{By, Scope};
pub use table::{Column, Data, Label, Table};

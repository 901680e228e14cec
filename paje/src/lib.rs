//! Reads and analyses Pajé traces and OTF2 archives, exactly and fast.
//!
//! [`TraceReader`] reads a trace from files or from any reader. Compressed traces are recognised by their contents, as
//! are packed traces and OTF2 archives, which need features. The result is a [`Trace`]: containers, and the states,
//! variables, events and links in them.
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
//! let trace = paje::TraceReader::new().open(path)?;
//! let rank = trace.container("rank-3")?;
//! let computing: f64 = rank
//!     .states()
//!     .filter(|state| state.value_name() == "computing")
//!     .map(|state| state.seconds())
//!     .sum();
//! assert!(computing > 0.0 && computing < trace.seconds(rank.end() - rank.start()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! There are five ways to look at the rows:
//!
//! | | |
//! |---|---|
//! | by nature, lane after lane | [`Trace::states`], [`Trace::variables`], [`Trace::events`], [`Trace::links`] |
//! | of one container | [`Trace::container`], then [`Container::states`] and [`Container::lanes`] |
//! | all rows | [`Trace::rows`] in PajeNG's order, [`Trace::rows_by_time`] in the order of time |
//! | of several traces | [`Trace::merge_by_time`] |
//! | as columns, without copying | [`Trace::visit`] with a [`Visitor`] |
//!
//! A *lane* is the rows of one type in one container. If the rows do not fit into memory, there are two remedies.
//! [`TraceReader::memory_limit`] moves rows to a file, and everything works as before. [`TraceReader::visit`] shows
//! rows to a [`Visitor`] as soon as they are complete, and drops them afterwards. This also works for endless streams.
//!
//! # Times
//!
//! Times of rows and windows are in the unit of the trace, such as milliseconds, as the file has them. The method
//! `seconds` of a row returns its duration in seconds, and [`Trace::seconds`] converts any time. The unit is known for
//! some writers of traces, and otherwise assumed to be seconds: see [`Trace::time_scale`] and
//! [`TraceReader::time_unit`]. Results of the module `analysis` are in seconds.
//!
//! # Names and fields
//!
//! A [`Name`] can be compared with a `str`, and be the key of a map. User-defined fields have the names that the trace
//! gives them: `Size` in one trace may be `size` in another. A field that a row lacks is `None`.
//!
//! # OTF2 archives
//!
//! Locations, their groups and system tree nodes are containers. The regions of a location are states of type `Region`,
//! its metrics are variables, and its messages are links of type `Message` with the fields `Size` and `Tag`. Other
//! records are events.
//!
//! # Analyses
//!
//! With the feature `analysis`, the module `analysis` has the analyses of the programs `pj_profile`, `pj_hazards` and
//! `pj_whatif` as functions.
//!
//! # Features
//!
//! None is enabled by default.
//!
//! | | |
//! |---|---|
//! | `analysis` | the module `analysis` |
//! | `otf2` | reading of OTF2 archives |
//! | `pack` | reading of packed traces, which `pj_pack` writes |
//! | `serde` | results of analyses implement `Serialize` |
//! | `arrow` | conversion of results of analyses to Arrow record batches |
//!
//! # Errors
//!
//! A trace that contradicts itself is an [`Error`] with a [kind](Error::kind) and a [position](Error::position): the
//! first problem in the order of the file, for any number of threads. [`TraceReader::recover`] continues instead.
//! Patterns that match nothing are errors, too.
//!
//! # Guarantees
//!
//! Results do not depend on the number of threads, the sizes of blocks, or the kind of input. A [`Trace`] and all its
//! rows are [`Send`] and [`Sync`]. The minimum supported Rust version is 1.89; a newer one is a minor release.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "analysis")]
pub mod analysis;
mod reader;
mod visit_error;

pub use paje_parser::color::Color;
pub use paje_parser::{ByteOffset, Position, Quoting, TypeNature as Nature};
pub use paje_sim::error::{EventName, Named, Word};
pub use paje_sim::selection::ParseGlobError;
pub use paje_sim::{
    Annotations, Container, ContainerId, Containers, Counts, Error, ErrorKind, Event, Events, Glob,
    Lane, LaneId, LineNumber, Link, Links, Name, NameOrder, Natures, NoContainer, Phase, Place,
    Problem, Progress, Recovered, Recovery, Remedy, Row, RowsByTime, Selected, Selection, State,
    States, TimeRange, TimeScale, TimeUnit, Trace, TypeId, Types, ValueId, Variable, Variables,
    Visitor, Warning, WarningKind,
};
pub use paje_workers::{ParsePinError, Pin};
pub use reader::TraceReader;
pub use visit_error::VisitError;

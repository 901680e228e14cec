//! Replay of Pajé traces: from events to containers, states, variables, events and links, as columns.
//!
//! A trace is read once, in blocks, in memory that holds its objects and little more. [`Trace::open`] does
//! so with a file, [`Trace::read`] with anything that gives bytes; [`Options`] say how. The result can be
//! gone through in two ways:
//!
//! - row by row: [`Trace::states`], [`Trace::links`] and their like, or lane by lane ([`Trace::lanes`],
//!   [`Trace::lanes_of`], [`LaneView::states`]). A lane is the objects of one type in one container. This
//!   is what an analysis wants;
//! - in PajeNG's output order, as slices of columns that need no copying: [`Trace::visit`], with a
//!   [`Visitor`] that has methods for what it wants to see. This is the fastest way, and has user-defined
//!   fields.
//!
//! The time that each container spent in each state, row by row:
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! let input: &[u8] = b"\
//! %EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
//! %EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
//! %EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
//! %EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
//! 1 Host 0
//! 2 Power Host
//! 3 0 first Host 0
//! 4 1.5 Power first on
//! 4 4.0 Power first off
//! 4 4.5 Power first on
//! ";
//! let trace = paje_sim::Trace::read(input, &paje_sim::Options::default())?;
//! let mut profile: BTreeMap<_, f64> = BTreeMap::new();
//! for state in trace.states() {
//!     let key = format!("{} {}", state.lane.container_name(), state.value_name());
//!     *profile.entry(key).or_default() += state.duration();
//! }
//! assert_eq!((profile["first on"], profile["first off"]), (2.5, 0.5));
//! # Ok::<(), paje_sim::Error>(())
//! ```
//!
//! The seconds of the longest state, by a visitor that sees nothing else:
//!
//! ```
//! use std::convert::Infallible;
//! use paje_sim::{LaneView, States, Visitor};
//!
//! #[derive(Default)]
//! struct Longest(f64);
//!
//! impl Visitor for Longest {
//!     type Error = Infallible;
//!
//!     fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
//!         let seconds = states.start.iter().zip(states.end).map(|(start, end)| end - start);
//!         self.0 = seconds.fold(self.0, f64::max);
//!         Ok(())
//!     }
//! }
//! # let input = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
//! # let trace = paje_sim::Trace::open(input)?;
//! let mut longest = Longest::default();
//! trace.visit(paje_sim::NameOrder::Bare, &mut longest).expect("cannot fail");
//! # assert!(longest.0 > 0.008);
//! # Ok::<(), paje_sim::Error>(())
//! ```
//!
//! `examples` has four small programs. A trace may be larger than memory ([`MemoryLimit`]): both ways let
//! go of what they have shown.
//!
//! In flow lines of text ([`Source`]) and [`Options`]; out flows a [`Trace`], or
//! the first [`Error`] in file order. The modules stand in floors, each of which imports from lower ones only; from the
//! top: `read`, `engine` (rounds of all workers), `resolve` (what needs file order), `replay` (lanes side by side),
//! `problems`, `decode` (blocks to small events), `input`, `lanes` (what an event does: `states`, `variables`,
//! `events`, `links`), `trace` (finished rows, and how to look at them), `model` (types and containers), `memory`
//! (columns), `names`.

mod decode;
mod engine;
mod input;
mod lanes;
mod memory;
mod model;
mod names;
mod problems;
mod read;
mod replay;
mod resolve;
mod trace;

pub mod ledger {
    //! Tells which container each line belongs to, for who wants to take a trace apart.

    pub use crate::engine::lane_events::{LaneChange, LaneEvent, LaneEvents};
    pub use crate::engine::ledger::{BlockLines, Ledger};
    pub use crate::names::ledger::{LineOf, LineRemedy, Used};
}

pub use model::{containers, types};
pub use names::{error, excerpt, options, progress, recovered};
pub use trace::{portion, rows};

pub mod visit {
    //! A trace in output order: step by step, or as slices of columns for a [`Visitor`].

    pub use crate::trace::lane::LaneView;
    pub use crate::trace::order::NameOrder;
    pub use crate::trace::visit::{Events, Links, States, Variables, Visitor};
    pub use crate::trace::walk::{Step, Walk};
}

pub mod selection {
    //! Which rows of a trace are wanted.

    pub use crate::names::selection::{Glob, Natures, ParseGlobError, Selection};
    pub use crate::names::time_range::TimeRange;
    pub use crate::trace::selected::Selected;
}

pub use input::feed::names_files;
pub use input::source::Source;
pub use ledger::{BlockLines, LaneChange, LaneEvent, LaneEvents, Ledger, LineOf, LineRemedy, Used};
pub use memory::LineNumber;
pub use model::containers::Containers;
pub use model::types::Types;
pub use names::error::{Error, ErrorKind, Place, Problem, Warning, WarningKind};
pub use names::ids::{ContainerId, LaneId, TypeId, ValueId};
pub use names::options::{MemoryLimit, Options, Precision, ValueNames};
pub use names::progress::{Phase, Progress};
pub use names::recovered::{Recovered, Recovery, Remedy};
pub use names::text::Name;
pub use names::time_range::TimeRange;
pub use names::usage::{OtherQuoting, Usage};
pub use paje_parser::{FieldNames, Quoting, TypeNature};
pub use selection::{Glob, Natures, Selected, Selection};
pub use splitter::Limits;
pub use trace::annotations::{Annotations, EventFields, Side};
pub use trace::portion::Portion;
pub use trace::rows::{Event, Link, State, Variable};
pub use trace::{Counts, Trace};
pub use visit::{Events, LaneView, Links, NameOrder, States, Step, Variables, Visitor};

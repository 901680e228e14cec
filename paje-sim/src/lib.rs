//! Replay of Pajé traces: from events to containers, states, variables, events and links, as columns.
//!
//! [`Trace::open`] reads a file, and [`Trace::read`] reads any stream of bytes. [`Options`] control the replay. The
//! trace is read once, in blocks, and takes little more memory than its objects. There are two ways to use it:
//!
//! - row by row, for analyses: for the whole trace ([`Trace::states`], [`Trace::links`] and so on), or lane by lane
//!   ([`Trace::lanes`], [`Trace::lanes_of`], [`Lane::states`]). A lane is the objects of one type in one container.
//! - as slices of columns in PajeNG's output order: [`Trace::visit`] calls the methods of a [`Visitor`]. This is the
//!   fastest way. It copies nothing, and includes user-defined fields.
//!
//! The time of each container in each state, row by row:
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
//! The duration of the longest state, with a visitor:
//!
//! ```
//! use std::convert::Infallible;
//! use paje_sim::{Lane, States, Visitor};
//!
//! #[derive(Default)]
//! struct Longest(f64);
//!
//! impl Visitor for Longest {
//!     type Error = Infallible;
//!
//!     fn states(&mut self, _: Lane<'_>, states: States<'_>) -> Result<(), Infallible> {
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
//! The folder `examples` has four small programs. A trace may be larger than memory ([`MemoryLimit`]), because both
//! ways release memory while they read.
//!
//! A replay turns lines of text ([`Source`]) into a [`Trace`], or returns the first [`Error`] in file
//! order. The modules here are `trace` (finished rows and access to them), `resolve` (the part that needs
//! file order), `engine` (rounds of all workers) and `read`. They are based on the crates `paje-replay`,
//! `paje-decode` and `paje-model`.

mod engine;
mod nearest;
mod opened;
mod read;
mod resolve;
mod trace;

pub mod ledger {
    //! Owner of each line, for programs that split traces.

    pub use crate::engine::lane_events::{LaneChange, LaneEvent, LaneEvents};
    pub use crate::engine::ledger::{BlockLines, Ledger};
    #[doc(inline)]
    pub use paje_model::names::ledger::{LineOf, Used};
}

#[doc(inline)]
pub use paje_model::model::{containers, types};
#[doc(inline)]
pub use paje_model::names::{error, excerpt, options, progress, recovered};
pub use trace::{portion, rows};

pub mod visit {
    //! A trace in output order: step by step, or as slices of columns for a [`Visitor`].

    pub use crate::trace::lane::Lane;
    pub use crate::trace::order::NameOrder;
    pub use crate::trace::visit::{Events, Links, States, Variables, Visitor};
    pub use crate::trace::walk::{Step, Walk};
}

pub mod selection {
    //! Selection of a trace's rows.

    pub use crate::trace::selected::Selected;
    #[doc(inline)]
    pub use paje_model::names::selection::{Glob, Natures, ParseGlobError, Selection};
    #[doc(inline)]
    pub use paje_model::names::time_range::TimeRange;
}

pub use ledger::{BlockLines, LaneChange, LaneEvent, LaneEvents, Ledger, LineOf, Used};
pub use nearest::nearest;
pub use opened::Opened;
#[doc(inline)]
pub use paje_decode::input::source::Source;
#[doc(inline)]
pub use paje_model::memory::LineNumber;
#[doc(inline)]
pub use paje_model::model::{containers::Containers, types::Types};
#[doc(inline)]
pub use paje_model::names::{
    error::{Error, ErrorKind, Place, Problem, Warning, WarningKind},
    ids::{ContainerId, LaneId, TypeId, ValueId},
    options::{MemoryLimit, Options, Precision, ValueNames},
    progress::{Phase, Progress},
    recovered::{Recovered, Recovery, Remedy},
    text::Name,
    time_range::TimeRange,
    time_unit::{TimeScale, TimeUnit},
    usage::{OtherQuoting, Usage},
};
pub use paje_parser::{FieldNames, Quoting, TypeNature};
pub use paje_replay::replay::lanes::LinkHalf;
pub use selection::{Glob, Natures, Selected, Selection};
pub use splitter::Limits;
pub use trace::annotations::{Annotations, EventFields, Side};
pub use trace::container_view::{Container, NoContainer};
pub use trace::mixed::{Row, RowsByTime};
pub use trace::portion::Portion;
pub use trace::rows::{Event, Link, State, Variable};
pub use trace::{Counts, Trace};
#[doc(hidden)]
pub use visit::Lane as LaneView;
pub use visit::{Events, Lane, Links, NameOrder, States, Step, Variables, Visitor};

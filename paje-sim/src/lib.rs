//! Replay of Pajé traces: from events to containers, states, variables, events and links, as columns.
//!
//! A trace is read once, in blocks, in memory that holds its objects and little more. The result is
//! shown in PajeNG's output order, each lane (the objects of one type in one container) as slices of
//! columns that need no copying. How long each container spent in each state:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::convert::Infallible;
//! use paje_sim::{ContainerId, Events, LaneView, Links, NameOrder, Options, States, Trace, Variables, Visitor};
//!
//! #[derive(Default)]
//! struct Profile(BTreeMap<(String, String), f64>);
//!
//! impl Visitor for Profile {
//!     type Error = Infallible;
//!
//!     fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
//!         let text = |name: paje_sim::Name<'_>| String::from_utf8_lossy(name.text).into_owned();
//!         let container = text(lane.trace().containers().name(lane.container()));
//!         for ((start, end), value) in states.start.iter().zip(states.end).zip(states.value) {
//!             let key = (container.clone(), text(lane.value_name(*value)));
//!             *self.0.entry(key).or_default() += end - start;
//!         }
//!         Ok(())
//!     }
//!     fn container(&mut self, _: &Trace, _: ContainerId) -> Result<(), Infallible> { Ok(()) }
//!     fn variables(&mut self, _: LaneView<'_>, _: Variables<'_>) -> Result<(), Infallible> { Ok(()) }
//!     fn events(&mut self, _: LaneView<'_>, _: Events<'_>) -> Result<(), Infallible> { Ok(()) }
//!     fn links(&mut self, _: LaneView<'_>, _: Links<'_>) -> Result<(), Infallible> { Ok(()) }
//! }
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
//! let trace = Trace::read(input, &Options::default())?;
//! let mut profile = Profile::default();
//! trace.visit(NameOrder::Bare, &mut profile).expect("cannot fail");
//! let seconds = |value: &str| profile.0[&("first".to_string(), value.to_string())];
//! assert_eq!((seconds("on"), seconds("off")), (2.5, 0.5));
//! # Ok::<(), paje_sim::Error>(())
//! ```
//!
//! What each part of a trace means is in the module that replays it: `states`, `variables`, `events`
//! and `links`; the way from bytes to them is in `engine`.

mod columns;
pub mod containers;
mod engine;
pub mod error;
mod events;
pub mod excerpt;
mod ids;
pub mod ledger;
mod links;
mod model;
pub mod options;
pub mod portion;
pub mod progress;
pub mod recovered;
pub mod selection;
mod states;
mod store;
mod text;
mod trace;
mod type_tree;
pub mod types;
mod user_defined;
mod variables;
pub mod visit;

pub use containers::Containers;
pub use engine::Source;
pub use error::{Error, ErrorKind, Place, Problem, Warning, WarningKind};
pub use ids::{ContainerId, LaneId, TypeId, ValueId};
pub use ledger::{Ledger, LineOf, Mended, Page, Used};
pub use options::{MemoryLimit, Options, Precision, ValueNames};
pub use paje_parser::{FieldNames, Quoting, TypeNature};
pub use portion::Portion;
pub use progress::{Phase, Progress};
pub use recovered::{Recovered, Recovery, Remedy};
pub use selection::{Glob, Natures, Selected, Selection, Window};
pub use splitter::Limits;
pub use store::LineNumber;
pub use text::Name;
pub use trace::{Counts, Trace};
pub use types::Types;
pub use user_defined::{EventFields, Side, UserDefined};
pub use visit::{Events, LaneView, Links, NameOrder, States, Step, Variables, Visitor};

//! `pj_equals`: compares two Pajé traces and prints where they differ.
//!
//! ```text
//! FILE1 ──replay──▶ columns ──┐             ┌──▶ pajeng: 1 or 0
//!                             ├──▶ compare ─┤
//! FILE2 ──replay──▶ columns ──┘             └──▶ exact: differences ──▶ text
//! ```
//!
//! There are two comparisons. [`pajeng`] compares as PajeNG does. It walks through both traces side
//! by side, by position, and compares structure and values only. [`exact`] matches types and
//! containers by name, and compares all columns of rows, or fewer on request.
//!
//! ```
//! use pj_equals::exact::{Rules, compare};
//! use paje_sim::{Options, Trace};
//!
//! let header = "\
//! %EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef\n\
//! %EventDef PajeCreateContainer 2\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef\n\
//! 1 Host 0\n";
//! let read = |lines: &str| Trace::read([header, lines].concat().as_bytes(), &Options::default());
//! let (a, b) = (read("2 0 x Host 0\n2 1 y Host 0\n")?, read("2 1.25 y Host 0\n2 0 x Host 0\n")?);
//! let mut rules = Rules::default();
//! // The root, x and y: the trace ends later, and y begins later.
//! assert_eq!(compare([&a, &b], &rules, 1).containers, 3);
//! rules.tolerance = 0.25;
//! assert!(compare([&a, &b], &rules, 1).is_none());
//! # Ok::<(), paje_sim::Error>(())
//! ```

pub mod cli;
mod describe;
mod difference;
pub mod exact;
pub mod manual;
mod pairs;
pub mod pajeng;
mod rows;
mod rules;
pub mod run;
mod values;

//! Checks Pajé traces, and reports all problems with their positions.
//!
//! ```
//! use pj_validate::{Options, check};
//!
//! let trace = "\
//! %EventDef PajeDefineContainerType 1
//! % Name string
//! % Type string
//! %EndEventDef
//! 1 Host 0
//! 1 Process Hots
//! ";
//! let report = check(trace.as_bytes(), &Options::default())?;
//! let error = report.first_error().expect("the trace has a typo");
//! assert_eq!(error.code(), "unknown-type");
//! assert_eq!(error.position.map(|position| (position.line, position.column)), Some((6, 11)));
//! assert_eq!(error.cause.to_string(), "unknown type 'Hots'; a type must be defined before it is used");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The checker ([`mod@check`]) replays the trace line by line with plain data structures, and words
//! problems as `paje-sim` does. With [`Rules::Replay`], its first error is the error that ends a
//! replay. Tests compare the two.
//!
//! Most traces are valid: [`check_quickly`] first replays them with all threads of `paje-sim`, and runs
//! the checker only if a line may have a problem. The report is the same. The checker itself shares
//! no code with the replay.
//!
//! The program `pj_validate` prints the report ([`mod@report`]) for people or, as JSON lines
//! ([`report::json`]), for machines.
//!
//! # Errors and warnings
//! An error makes the trace invalid, and the exit status is 1. With `--strict`, warnings other than about unused definitions
//! have the same effect. Two things are errors here that `pj_dump` lets pass:
//!
//! - a line that lacks user-defined fields at its end (`missing-extras`);
//! - a link type that does not belong to a common ancestor of the types at its ends
//!   (`no-common-ancestor`; lang-paje 1.3.1 requires this, but PajeNG does not check it).
//!
//! A line with more words than fields is a warning in both.
//!
//! Warnings are those of `paje-sim` (`surplus-words`, `after-destroy`, `file-not-read`) and those
//! of [`Caution`]: `other-quoting`, `unclosed-quote`, `unused-event`, `unused-type`, `unused-value`,
//! `never-closed`, `reversed-link`. Each is reported once for its definition, name or type, with a count.
//!
//! # Traces in several files [`check_files`] also reads the files that a trace names
//! (PajeTraceFile, the `Filename` of PajeCreateContainer), each when the naming file has ended, in
//! the order of naming. [`mod@check`] describes what they may repeat. A finding has its
//! [file](Finding::file). A file that cannot be read is also a finding (`unreadable-file`) at the
//! line that names it, and so is a file that names itself, perhaps indirectly (`file-cycle`).
//! [`check()`] reads only its input, and warns (`file-not-read`).

mod again;
pub mod check;
pub mod cli;
pub mod finding;
pub mod input;
pub mod manual;
pub mod report;
pub mod run;
mod sound;
pub mod summary;

pub use check::{
    Checker, Disorder, FileRead, Options, Report, Rules, check, check_files, check_files_with,
};
pub use finding::{Cause, Caution, Finding, Severity, Thing, kinds};
pub use paje_sim::excerpt;
pub use sound::{Replaying, check_quickly};
pub use summary::Summary;

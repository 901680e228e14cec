//! Problems of a Pajé trace, in words: for who replays traces, and for who only checks them.
//!
//! A [`Problem`] is one cause, with the names and numbers that its sentence needs; its code is stable from release to
//! release. [`Named`] and [`EventName`] are what messages call things by. An [`excerpt`] is the piece of a line around
//! what is wrong, fit for a terminal. What flows in are names, times and lines; what flows out are sentences.
//!
//! Nothing here reads a trace or knows how one is replayed, so that the checker that is compared with the replay
//! shares its words, and nothing else.

pub mod excerpt;
mod named;
mod problem;
mod warning;

pub use named::{EventName, Named};
pub use problem::{Problem, Word};
pub use warning::WarningKind;

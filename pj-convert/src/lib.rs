//! `pj_convert`: a Pajé trace for the viewers and tools that people know.
//!
//! ```text
//!           portions          lanes, by all workers
//! TRACE ──▶ replay ──▶ Stream ──▶ LaneWriter ──▶ Encoder ──▶ OUT
//!                        │                         ▲  Perfetto, Chrome, Pipit
//!                        └──▶ LinkQueue ───────────┘
//!       ──▶ replay, whole ──▶ paje ──▶ OUT
//! ```
//!
//! The mapping is in `docs/convert.md`. Perfetto's and Chrome's files and Pipit's are written as the trace goes by,
//! in memory that does not grow with it; a normalised Pajé trace is in the order of time, and so needs all of it
//! first.

mod chrome;
pub mod cli;
mod clock;
mod convert;
mod encoder;
mod json;
mod lanes;
mod links;
pub mod manual;
mod output;
mod perfetto;
mod pipit;
mod report;
pub mod run;
mod stream;
mod texts;

pub use clock::Losses;
pub use convert::{Conversion, Format, NotConverted, convert};

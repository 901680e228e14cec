//! `pj_convert`: converts Pajé traces for other viewers and tools.
//!
//! ```text
//!           portions          lanes, by all workers
//! TRACE ──▶ replay ──▶ Stream ──▶ LaneWriter ──▶ Encoder ──▶ OUT
//!                        │                         ▲  Perfetto, Chrome, Pipit
//!                        └──▶ LinkQueue ───────────┘
//!       ──▶ replay, whole ──▶ paje, otf2 ──▶ OUT
//! ```
//!
//! `docs/convert.md` describes the mapping. Output for Perfetto, Chrome and Pipit is streamed in
//! constant memory. Normalised Pajé and OTF2 are sorted by time, so the whole trace is read first.

mod chrome;
pub mod cli;
mod clock;
mod convert;
mod encoder;
mod json;
mod lanes;
mod links;
pub mod manual;
mod otf2;
mod output;
mod perfetto;
mod pipit;
mod report;
pub mod run;
mod stream;
mod texts;

pub use clock::Losses;
pub use convert::{Conversion, Format, NotConverted, convert, convert_to_archive};

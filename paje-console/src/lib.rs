//! Parts that the programs share at the command line; each of them is its own options, its own work, and this.
//!
//! In: words of a command line, files. Out: a replayed trace, sentences on standard error, an exit status.
//!
//! - [`options`]: options that mean the same everywhere, to be flattened into a command line
//! - [`generate`]: man pages and completions, from what a command line is made of
//! - [`reading`]: from the name of a trace to its replay
//! - [`voice`], [`failure`]: what is said of traces and of failures, in the same words everywhere
//! - [`progress`]: how far a run is, on a terminal
//! - [`contents`]: what a trace holds, in numbers
//! - [`aside`]: files that are there whole or not at all
//! - [`output`]: standard output that tells when it fails
//! - [`signals`]: which signals are to stay ignored
//! - [`quotes`]: how names are printed
//! - [`records`]: rows as CSV and JSON
//! - [`memory`], [`allocator`]: how much memory a run may take, has taken, and what happens without it

pub mod allocator;
pub mod aside;
pub mod contents;
pub mod failure;
pub mod generate;
pub mod memory;
pub mod options;
pub mod output;
pub mod progress;
pub mod quotes;
pub mod reading;
pub mod records;
pub mod signals;
pub mod voice;

pub use failure::Failure;
pub use quotes::Quotes;
pub use voice::Voice;

//! What the programs share at the command line: options, opening and replaying a trace, messages, exit statuses.
//!
//! - [`options`]: options that mean the same everywhere, to be flattened into a command line
//! - [`generate`]: man pages and completions, from what a command line is made of
//! - [`reading`]: from the name of a trace to its replay
//! - [`voice`], [`failure`]: messages about traces and failures, in the same words everywhere
//! - [`progress`]: how far a run is, on a terminal
//! - [`contents`]: numbers of objects in a trace
//! - [`aside`]: files that appear only when they are complete
//! - [`output`]: standard output whose failure is noticed
//! - [`signals`]: which signals are to stay ignored
//! - [`quotes`]: how names are printed
//! - [`records`]: rows as CSV and JSON
//! - [`memory`], [`allocator`]: limit and peak of memory, and a message when it is refused

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

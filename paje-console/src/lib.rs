//! Command-line code that all programs share: options, opening and replaying a trace, messages, and
//! exit statuses.
//!
//! - [`options`]: options with the same meaning everywhere
//! - [`generate`]: man pages and completions
//! - [`reading`]: opening and replaying a trace
//! - [`voice`], [`failure`]: messages and failures
//! - [`progress`]: progress on a terminal
//! - [`contents`]: object counts of a trace
//! - [`aside`]: files that appear only when complete
//! - [`output`]: standard output whose failures are noticed
//! - [`signals`]: signals that stay ignored
//! - [`quotes`]: quoting of printed names
//! - [`records`]: rows as CSV and JSON
//! - [`fill`]: lines that fit the terminal
//! - [`memory`], [`allocator`]: memory limit, peak memory, and a message if memory is refused

pub mod allocator;
pub mod aside;
pub mod beside;
pub mod contents;
pub mod failure;
pub mod fill;
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

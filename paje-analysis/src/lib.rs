//! What a replayed Pajé trace says: where the time goes, who waits for whom, what the longest chain is.
//!
//! Each analysis is a module with one entry point: rows of a trace in, a plain typed table out. It neither
//! prints nor knows a command line, and needs nothing but the public interface of `paje-sim`.

pub mod seconds;

pub use seconds::Seconds;

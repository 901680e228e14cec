//! Seeded generators of Pajé traces, valid and invalid.
//!
//! * [`write()`] and [`generate`] produce valid traces of a [`Shape`] and a size, from a kilobyte
//!   to many gigabytes, in bounded memory. Each shape stresses one part of a reader, which
//!   [`Shape::describe`] names.
//! * [`invalid`] generates small traces with exactly one fault on a known line.
//! * [`files`] cuts a trace into several files that refer to each other.
//! * [`mutate`] damages lines, words and bytes of a trace.
//! * [`passing`] generates runs of message-passing programs. Some are random, and some have known
//!   waiting times.
//! * [`random`] generates small traces with all features of the format, for comparisons with
//!   PajeNG.
//!
//! The same arguments give the same bytes on every machine. Nothing here uses our parser of the
//! format, because the parser's tests would otherwise not notice a misunderstanding of the format.
//!
//! ```
//! use datasets::{Shape, generate};
//!
//! let trace = generate(Shape::Mpi, 100_000, 1);
//! assert!(trace.starts_with(b"%EventDef"));
//! assert!((99_000..=101_000).contains(&trace.len()));
//! assert_eq!(trace, generate(Shape::Mpi, 100_000, 1));
//! ```

pub mod files;
pub mod invalid;
pub mod mutate;
pub mod passing;
pub mod random;

mod header;
mod lively;
mod named;
mod rng;
mod shapes;
mod sink;
mod size;
#[cfg(test)]
mod testing;

pub use header::{Definition, definitions};
pub use lively::{EVENTS, WORLD, lively};
pub use named::ParseNameError;
pub use rng::Rng;
pub use shapes::{Shape, generate, ping_pong, write, write_containers};
pub use size::{ParseSizeError, Size};

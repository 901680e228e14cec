//! Common part of the packages for Python and R: a trace, read as their keywords ask for it.
//!
//! [`Keywords`] are what users say, in the words that both packages have; [`Replay`] replays a trace in a
//! thread of whoever calls, and [`Told`] tells others how far it is and lets them end it; a [`Problem`] is
//! what users are told of a trace. Nothing here knows Python or R.
//!
//! ```
//! use std::io::Cursor;
//! use std::sync::Arc;
//!
//! use paje_bindings::{Keywords, Replay, Told};
//! use splitter::Input;
//!
//! let bytes = datasets::generate(datasets::Shape::Mpi, 10_000, 1);
//! let keywords = Keywords { natures: Some(vec!["state".into()]), ..Keywords::default() };
//! let replay = Replay::new(&keywords, Arc::new(Told::default()))?;
//! let size = bytes.len() as u64;
//! let (trace, _) = replay.run(|| Input::from_reader("<bytes>".into(), Cursor::new(bytes), Some(size)))?;
//! assert!(trace.counts().states > 0 && trace.counts().links == 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod keywords;
mod problem;
mod replay;

pub use keywords::{Keywords, Size, Wrong};
pub use problem::{Language, PYTHON, Problem, R, message, problem_of, recovered, warnings};
pub use replay::{Replay, Told, as_file, metadata};

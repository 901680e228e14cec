//! Common code of the packages for Python and R.
//!
//! [`Keywords`] are the keywords of both packages. [`Replay`] replays a trace in the caller's
//! thread. Other threads can read its progress from [`ReplayStatus`] and stop it. [`Problem`]
//! describes an error or a warning for users. This crate does not depend on Python or R.
//!
//! ```
//! use std::io::Cursor;
//! use std::sync::Arc;
//!
//! use paje_bindings::{Keywords, Replay, ReplayStatus};
//! use splitter::Input;
//!
//! let bytes = datasets::generate(datasets::Shape::Mpi, 10_000, 1);
//! let keywords = Keywords { natures: Some(vec!["state".into()]), ..Keywords::default() };
//! let replay = Replay::new(&keywords, Arc::new(ReplayStatus::default()))?;
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
pub use replay::{Replay, ReplayStatus, as_file, metadata};

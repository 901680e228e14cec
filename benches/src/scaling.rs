//! Scaling of replay with threads, as `--bin scaling` measures, computes and draws it.
//!
//! T(p, s) is the time of `pj_dump` with p threads on a trace of s bytes: wall clock, from before the
//! process starts until it has ended, rows to `/dev/null`, the minimum of the runs. The minimum,
//! because noise of a machine only ever adds, and because the thesis on parallel PajeNG that the
//! plots show beside ours reports minima.
//!
//! | | |
//! |---|---|
//! | speedup | S(p) = T(1, s) / T(p, s): strong scaling, the same trace for every p |
//! | efficiency | E(p) = S(p) / p |
//! | sizeup | Z(p) = p · T(1, s) / T(p, p·s): weak scaling, a trace p times as large for p threads |
//! | efficiency of weak scaling | Z(p) / p |
//!
//! T(1) is always that of the same policy of placement and the same state of the page cache, and of
//! our own program with one thread.
//!
//! The [`floor`] is what any program must do at least: read the file, look at each byte for the end
//! of a line, move as many bytes as the rows have. It is a process of its own too, with as many
//! threads, placed alike, and runs right before the program it stands beside.
//!
//! Within a repetition all combinations of threads, policies and traces of a shape take turns, so
//! that the noise of a shared machine hits all of them alike ([`study`]).

pub mod cache;
pub mod floor;
pub mod machine;
pub mod plots;
pub mod program;
pub mod record;
pub mod simulate;
pub mod speed;
pub mod study;
pub mod table;
pub mod words;

/// Result of a study. Errors end in one line for a person; no caller tells the causes apart.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

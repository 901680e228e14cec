//! The part of the Python package `pajereplay` that is Rust: see `python/pajereplay`, which wraps it.
//!
//! A replay runs in a thread of its own, without Python's lock, while the thread that Python called from
//! looks after signals and progress (`job`). Tables are handed over through Arrow's PyCapsule interface, so
//! that nothing is copied and no other package is needed (`table`).

mod analysis;
mod column;
mod durations;
mod errors;
mod job;
mod kept;
mod keywords;
mod options;
mod replay;
mod report;
mod source;
mod table;
mod trace;

use pyo3::prelude::*;

/// Native part of `pajereplay`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::analysis::Analysis;
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::replay::read;
    #[pymodule_export]
    use super::report::validate;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::trace::Trace;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

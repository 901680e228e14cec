//! Native part of the Python package `pajereplay`. `python/pajereplay` wraps it.
//!
//! A replay runs in a separate thread without Python's lock, while the calling thread handles
//! signals and progress (`job`). Tables support Arrow's PyCapsule interface, so that sharing them
//! needs neither a copy nor another package (`table`).

mod analysis;
mod column;
mod durations;
mod errors;
mod job;
mod kept;
mod keywords;
mod locations;
mod options;
mod packed;
mod replay;
mod report;
mod source;
mod table;
mod trace;
mod waits;

use pyo3::prelude::*;

/// Native part of `pajereplay`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::analysis::{Analysis, add_parts};
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::locations::locations;
    #[pymodule_export]
    use super::packed::{missing, segments, size, values};
    #[pymodule_export]
    use super::replay::read;
    #[pymodule_export]
    use super::report::validate;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::trace::Trace;
    #[pymodule_export]
    use super::waits::waits_in_portions;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

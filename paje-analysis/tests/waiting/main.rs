//! Tests of wait states, their costs and the critical path, with known results and by comparison
//! with a naive implementation.

mod any;
mod known;
mod naive;
mod parts;
mod posts;
mod random;
mod recorded;
mod smpi;

use paje_analysis::classes::Map;
use paje_analysis::waits::{Options, Waits};
use paje_sim::Trace;

fn replayed(bytes: &[u8]) -> Trace {
    let mut options = paje_sim::Options::default();
    options.user_defined = true;
    Trace::read(bytes, &options).expect("a valid trace")
}

fn mpi() -> Map {
    Map::built_in("mpi").expect("a map")
}

fn waits<'t>(trace: &'t Trace, options: &Options) -> Waits<'t> {
    Waits::new(trace, &mpi(), options)
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

//! Tests of re-timed runs.

mod combined;
mod held;
mod hosts;
mod ideal;
mod identity;
mod invariants;
mod known;
mod polls;
mod real;
mod starts;

use paje_comm::classes::Map;
use paje_sim::{Options, Trace};

fn replayed(bytes: &[u8]) -> Trace {
    let mut options = Options::default();
    options.user_defined = true;
    Trace::read(bytes, &options).expect("a trace")
}

fn mpi() -> Map {
    Map::built_in("mpi").expect("the map is built in")
}

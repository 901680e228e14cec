//! Tests of wait states, their costs and the critical path, with known results and by comparison
//! with a naive implementation.

mod any;
mod known;
mod naive;
mod parts;
mod portions;
mod posts;
mod random;
mod recorded;
mod smpi;

use std::collections::BTreeSet;

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

/// Returns the definitions of events for states and links.
fn definitions() -> String {
    datasets::definitions([
        ("0", "DefineContainerType", "Alias Type Name"),
        ("2", "DefineStateType", "Alias Type Name"),
        ("4", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
        ("6", "CreateContainer", "Time:date Alias Type Container Name"),
        ("12", "PushState", "Time:date Type Container Value"),
        ("13", "PopState", "Time:date Type Container"),
        ("15", "StartLink", "Time:date Type Container Value StartContainer Key"),
        ("16", "EndLink", "Time:date Type Container Value EndContainer Key"),
    ])
}

/// Returns a trace of collectives, each given as rank, node, start and end. A rank may take part in
/// several.
fn operations_text(value: &str, all: &[(&str, &str, u32, u32)]) -> String {
    let mut text = definitions();
    text += "0 N 0 Node\n0 R N Rank\n2 S R MPI_STATE\n6 0 n0 N 0 n0\n6 0 n1 N 0 n1\n";
    let ranks: BTreeSet<(&str, &str)> = all.iter().map(|(rank, node, ..)| (*rank, *node)).collect();
    for (rank, node) in ranks {
        text += &format!("6 0 {rank} R {node} {rank}\n");
    }
    for (rank, _, enter, leave) in all {
        text += &format!("12 {enter} S {rank} {value}\n13 {leave} S {rank}\n");
    }
    text
}

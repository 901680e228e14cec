//! Archives as Pajé traces, and damaged archives.

#![allow(clippy::unwrap_used)]

mod columns;
mod damage;
mod lines;
mod random;

use std::path::Path;
use std::sync::Arc;

use paje_otf2::{Error, Trace, UNDEFINED, open_regular};
use testkit::otf2::Archive;
use testkit::otf2::Given::{L, N, T};

fn open(anchor: &Path) -> Result<Trace, Error> {
    let archive = paje_otf2::Archive::open(anchor, Arc::new(open_regular))?;
    Trace::new(Arc::new(archive), 2)
}

fn text_of(trace: &Trace) -> Result<String, Error> {
    let pieces: Result<Vec<Vec<u8>>, Error> =
        (0..trace.pieces()).map(|piece| trace.text(piece)).collect();
    Ok(String::from_utf8_lossy(&pieces?.concat()).into_owned())
}

/// Returns the text of an archive.
fn text(archive: &Archive) -> Result<String, Error> {
    let folder = tempfile::tempdir().unwrap();
    text_of(&open(&archive.write(folder.path()))?)
}

/// Returns the lines after those that define events.
fn lines(archive: &Archive) -> Vec<String> {
    let text = text(archive).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with(['#', '%']));
    lines.map(str::to_owned).collect()
}

/// Names of the archive that [`world`] begins, which are the numbers of their strings.
const NAMES: [&str; 12] = [
    "node", "machine", "rank 0", "rank 1", "main", "MPI_Send", "MPI_Recv", "world", "metric", "s",
    "file.c", "x \"y\"",
];

/// Begins an archive of two processes (locations 10 and 20) with a clock of 1000 ticks per second
/// that begins at 1000.
fn world() -> Archive {
    world_in(Archive::default())
}

/// Adds the same to an archive.
fn world_in(mut archive: Archive) -> Archive {
    let undefined = || N(UNDEFINED);
    archive.define("ClockProperties", &[N(1000), N(1000), N(99), undefined()]);
    for (number, name) in (0..).zip(NAMES) {
        archive.define("String", &[N(number), T(name)]);
    }
    archive.define("SystemTreeNode", &[N(0), N(1), N(0), undefined()]);
    for rank in 0..2 {
        archive.define("LocationGroup", &[N(rank), N(2 + rank), N(1), N(0), undefined()]);
        archive.define("Location", &[N(10 + 10 * rank), N(4), N(1), N(2), N(rank)]);
        archive.location(10 + 10 * rank);
    }
    for region in 4..7 {
        let role = if region == 4 { 1 } else { 28 };
        let (name, file) = (N(region), N(10));
        let lines = [N(7), N(9), name.clone(), N(role), N(4), N(0)];
        let fields = [N(region), name.clone(), name, N(0), file];
        archive.define("Region", &[&fields[..], &lines].concat());
    }
    archive.define("Group", &[N(0), N(7), N(0), L(&[10, 20]), N(4), N(4), N(0)]);
    archive.define("Group", &[N(1), N(7), N(0), L(&[0, 1]), N(5), N(4), N(0)]);
    archive.define("Comm", &[N(0), N(7), N(1), undefined(), N(0)]);
    archive
}

/// Adds a class of two metrics, and an instance of it.
fn metrics(archive: &mut Archive) {
    for member in 0..2 {
        let fields = [N(member), N(8), N(8), N(0), N(1 + 16 * (member + 1)), N(4), N(1)];
        archive.define("MetricMember", &[&fields[..], &[N(3 * member), N(9)]].concat());
    }
    archive.define("MetricClass", &[N(0), L(&[0, 1]), N(2), N(0)]);
    archive.define("MetricInstance", &[N(1), N(0), N(10), N(1), N(0)]);
}

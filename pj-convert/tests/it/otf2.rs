//! Archives are read back as the traces that they were made from.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use paje_sim::{ContainerId, Name, Options, Progress, Source, Trace};
use paje_workers::{Pin, Workers};
use pj_convert::convert_to_archive;
use splitter::Input;
use tempfile::TempDir;

use crate::traces::{all, options};

/// Converts a trace, whose times count as seconds.
fn archive(text: &[u8], threads: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("threads");
    let mut options = options();
    options.time_unit = Some(paje_sim::TimeUnit::Seconds);
    let (source, progress) = (Source::stream(text), Progress::default());
    convert_to_archive(source, &options, &workers, &progress, folder.path()).expect("valid");
    folder
}

fn read_back(folder: &Path) -> Trace {
    let input = Input::open(Some(folder)).expect("an archive");
    let (workers, progress) = (Workers::one(), Progress::default());
    Trace::read_with(Source::from(input), &Options::default(), &workers, &progress).expect("valid")
}

/// Returns the rows of a trace, sorted, without keys of links and the sign of a time 0. Names are as
/// an archive has them.
fn rows(trace: &Trace) -> Vec<String> {
    let name = |name: Name<'_>| {
        let text = String::from_utf8_lossy(name.text).replace('"', "'");
        text.replace(|letter: char| letter.is_ascii_control(), " ")
    };
    let (containers, mut rows) = (trace.containers(), Vec::new());
    let path = |id: ContainerId| {
        let within = std::iter::successors(Some(id), |id| Some(containers.parent(*id)));
        let names: Vec<String> = within
            .take_while(|id| *id != ContainerId::ROOT)
            .map(|id| name(containers.name(id)))
            .collect();
        names.join(" in ")
    };
    for id in containers.ids().skip(1) {
        let type_ = name(trace.types().name(containers.type_of(id)));
        let (start, end) = (containers.start(id) + 0.0, containers.end(id) + 0.0);
        rows.push(format!("{}, {type_}, {start:?}, {end:?}", path(id)));
    }
    for lane in trace.lanes() {
        let about = format!("{}, {}", path(lane.container()), name(lane.type_name()));
        rows.extend(lane.states().map(|it| {
            let value = name(it.value_name());
            format!(
                "{about}, {:?}, {:?}, {}, {value}",
                it.start + 0.0,
                it.end + 0.0,
                it.imbrication
            )
        }));
        rows.extend(lane.variables().map(|it| {
            format!("{about}, {:?}, {:?}, {:?}", it.start + 0.0, it.end + 0.0, it.value)
        }));
        rows.extend(
            lane.events()
                .map(|it| format!("{about}, {:?}, {}", it.time + 0.0, name(it.value_name()))),
        );
        rows.extend(lane.links().map(|it| {
            let (value, from, to) = (name(it.value_name()), path(it.from), path(it.to));
            format!("{about}, {:?}, {:?}, {value}, {from}, {to}", it.start + 0.0, it.end + 0.0)
        }));
    }
    rows.sort();
    rows
}

/// Returns the contents of all files in a folder.
fn files(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        match path.is_dir() {
            true => files(&path, found),
            false => {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                found.insert(name, fs::read(&path).expect("readable"));
            }
        }
    }
}

fn check(about: &str, text: &[u8]) {
    let mut given = options();
    given.time_unit = Some(paje_sim::TimeUnit::Seconds);
    let given = Trace::read(text, &given).expect("valid");
    let folder = archive(text, 1);
    let (given, again) = (rows(&given), rows(&read_back(folder.path())));
    let lost = given.iter().find(|row| !again.contains(row));
    let new = again.iter().find(|row| !given.contains(row));
    assert!(given == again, "{about}: lost {lost:?}, new {new:?}");
    let mut written = [BTreeMap::new(), BTreeMap::new()];
    files(folder.path(), &mut written[0]);
    files(archive(text, 3).path(), &mut written[1]);
    assert!(written[0] == written[1], "{about}: threads change the archive");
}

#[test]
fn archives_are_read_back_as_the_same_rows() {
    for (name, text) in all() {
        check(&name, &text);
    }
}

#[test]
fn long_traces_fill_several_chunks() {
    check("mpi", &datasets::generate(datasets::Shape::Mpi, 300_000, 1));
}

/// Names that look like the identifiers of an archive's trace.
#[test]
fn names_may_be_identifiers_of_others() {
    let text = include_str!("../../../datasets/examples/mpi.trace");
    let text = text.replace("rank-0", "N2").replace("rank-1", "T1").replace("MPI_Send", "R0");
    check("names", text.as_bytes());
}

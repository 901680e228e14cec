//! Without changes, every time stays as recorded.

use std::fs;
use std::path::Path;

use datasets::passing;
use paje_comm::classes::Map;
use paje_export::paje::{self, Form};
use paje_sim::{NameOrder, Options, Precision, Selection, Trace};
use paje_whatif::{Changed, EagerStart, Graph, Plan, Settings};

use crate::{mpi, replayed};

fn rows(trace: &Trace) -> Vec<String> {
    let mut rows = Vec::new();
    let containers = trace.containers();
    for id in containers.ids().skip(1) {
        let (name, start, end) = (containers.name(id), containers.start(id), containers.end(id));
        rows.push(format!("container {name} {start:?} {end:?}"));
    }
    for state in trace.states() {
        let (start, end, deep) = (state.start, state.end, state.imbrication);
        let (lane, value) = (state.lane, state.value_name());
        rows.push(format!(
            "{} {} {start:?} {end:?} {deep} {value}",
            lane.container_name(),
            lane.type_name()
        ));
    }
    for link in trace.links() {
        let (from, to) = (containers.name(link.from), containers.name(link.to));
        let (start, end, value) = (link.start, link.end, link.value_name());
        rows.push(format!("{} {start:?} {end:?} {value} {from} {to}", link.lane.type_name()));
    }
    for event in trace.events() {
        rows.push(format!(
            "{} {:?} {}",
            event.lane.container_name(),
            event.time,
            event.value_name()
        ));
    }
    for variable in trace.variables() {
        rows.push(format!(
            "{} {:?} {:?}",
            variable.lane.container_name(),
            variable.start,
            variable.value
        ));
    }
    rows.sort();
    rows
}

fn again(trace: &Trace, settings: &Settings) -> Vec<u8> {
    let graph = Graph::new(trace, settings);
    let plan = Plan::default();
    let retimed = graph.retime(&plan, true, true).expect("the run ends");
    for (track, (start, end)) in
        graph.tracks().list().iter().zip(retimed.start.iter().zip(&retimed.end))
    {
        assert_eq!((&track.start, &track.end), (start, end));
    }
    let mut bytes = Vec::new();
    let changed = Changed::new(&graph, &plan, &retimed);
    let selected = trace.select(&Selection::default());
    let form = Form { order: NameOrder::Bare, precision: Precision::Double };
    paje::write(trace, &selected, form, &changed, &testkit::team(1), &mut bytes).expect("memory");
    bytes
}

fn check(name: &str, bytes: &[u8], settings: &Settings) {
    let trace = replayed(bytes);
    let written = again(&trace, settings);
    assert_eq!(rows(&trace), rows(&replayed(&written)), "{name}");
}

#[test]
fn random_runs_stay_as_recorded() {
    let seeds = std::env::var("PAJE_SEEDS").map_or(1000, |seeds| seeds.parse().expect("a number"));
    for seed in 0..seeds {
        let run = passing::random(seed, 30);
        let mut settings = Settings::new(mpi());
        settings.reading.eager = (seed % 3 > 0).then_some(run.eager);
        settings.eager_start =
            [None, Some(EagerStart::Sent), Some(EagerStart::Posted)][seed as usize % 3];
        check(&format!("seed {seed}"), &run.bytes, &settings);
    }
}

#[test]
fn examples_stay_as_recorded() {
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples"))
        .expect("a folder")
    {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|it| it == "trace") {
            check_file(&path);
        }
    }
}

fn check_file(path: &Path) {
    let bytes = fs::read(path).expect("readable");
    let mut options = Options::default();
    options.user_defined = true;
    if let Ok(trace) = Trace::read(&bytes[..], &options) {
        let settings = Settings::new(Map::of_trace(&trace));
        check(&path.display().to_string(), &bytes, &settings);
    }
}

#[test]
fn given_traces_stay_as_recorded() {
    let Some(folder) = std::env::var_os("PAJE_TRACES") else { return };
    for entry in fs::read_dir(folder).expect("a folder") {
        check_file(&entry.expect("readable").path());
    }
}

//! Tests of properties that hold for every run.

use std::cell::Cell;

use datasets::passing;
use paje_export::paje::{self, Form};
use paje_sim::{NameOrder, Precision, Selection};
use paje_whatif::hypothesis::{Changes, Hypothesis};
use paje_whatif::{Changed, Graph, Settings};

use crate::known::trace;
use crate::{mpi, replayed};

const SEEDS: u64 = 120;

/// Calls `check` with the graph of each random run.
fn each(check: impl Fn(u64, &Graph<'_>)) {
    for seed in 0..SEEDS {
        let run = passing::random(seed, 30);
        let trace = replayed(&run.bytes);
        let mut settings = Settings::new(mpi());
        settings.reading.eager = (seed % 3 > 0).then_some(run.eager);
        let graph = Graph::new(&trace, &settings);
        // Some runs have no states.
        if graph.span().is_some() {
            check(seed, &graph);
        }
    }
}

/// Returns the ends of all ranks in seconds, counted from the start of the run.
fn ends(graph: &Graph<'_>, changes: &[(&str, String)]) -> Vec<f64> {
    let parsed = changes.iter().map(|(kind, text)| Hypothesis::parse(kind, text));
    let hypotheses: Vec<Hypothesis> = parsed.collect::<Result<_, _>>().expect("a hypothesis");
    let changes = Changes { hypotheses: &hypotheses, network: None, random: None };
    let plan = changes.apply(graph).expect("it fits").plan;
    let begin = graph.span().expect("there are states").0;
    let run = graph.retime(&plan, false, true).expect("the run ends");
    run.finish.iter().map(|end| end - begin).collect()
}

fn computing(factor: f64) -> Vec<(&'static str, String)> {
    vec![("cpu", format!("factor={factor}"))]
}

#[test]
fn factors_of_one_change_nothing() {
    each(|seed, graph| {
        let recorded = ends(graph, &[]);
        for (kind, text) in [
            ("cpu", "factor=1"),
            ("scale", "state=*,factor=1"),
            ("net", "latency=x1"),
            ("net", "latency=x1,bandwidth=x1"),
        ] {
            assert_eq!(ends(graph, &[(kind, text.into())]), recorded, "{seed} {kind} {text}");
        }
    });
}

/// With shared links, a rank could end earlier although another rank computes longer. Therefore,
/// messages in the random runs do not share links.
#[test]
fn longer_computing_ends_later_by_at_most_the_added_time() {
    each(|seed, graph| {
        let recorded = ends(graph, &[]);
        let mut before = vec![f64::NEG_INFINITY; recorded.len()];
        for factor in [0.25, 0.5, 1.0, 1.5, 4.0] {
            let found = ends(graph, &computing(factor));
            for ((end, least), recorded) in found.iter().zip(&before).zip(&recorded) {
                let slack = 1e-9 + 1e-6 * recorded;
                assert!(*end >= least - slack, "{seed} {factor}: {end} {least}");
                let (a, b) = (recorded * factor, *recorded);
                let is_possible = *end >= a.min(b) - slack && *end <= a.max(b) + slack;
                assert!(is_possible, "{seed} {factor}: {end} of {recorded}");
            }
            before = found;
        }
    });
}

#[test]
fn changing_each_container_changes_all() {
    each(|seed, graph| {
        let of_each = (0..graph.tracks().list().len() as u32).map(|track| {
            let name = graph.name(track);
            ("cpu", format!("container={name},factor=0.5"))
        });
        let found = ends(graph, &of_each.collect::<Vec<_>>());
        let all = ends(graph, &computing(0.5));
        let is_close = found.iter().zip(&all).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs());
        assert!(is_close, "{seed}: {found:?} {all:?}");
    });
}

#[test]
fn equal_factors_of_the_network_need_no_sizes() {
    let refused = Cell::new(0);
    each(|seed, graph| {
        let recorded = ends(graph, &[]);
        let slower = vec![("net", "latency=x2,bandwidth=x0.5".to_owned())];
        let hypotheses = [Hypothesis::parse("net", &slower[0].1).expect("valid")];
        let changes = Changes { hypotheses: &hypotheses, network: None, random: None };
        if changes.apply(graph).is_err_and(|why| why.contains("no schedule explains")) {
            refused.set(refused.get() + 1);
            return;
        }
        let found = ends(graph, &slower);
        let fits = graph.shapes().iter().all(|model| model.cost() == (0.0, 0.0));
        for (end, recorded) in found.iter().zip(&recorded) {
            // Schedules fit the collectives of random runs only approximately.
            let most = if fits { 2.0 * recorded } else { f64::INFINITY };
            let is_possible = *end >= recorded - 1e-9 && *end <= most + 1e-9;
            assert!(is_possible, "{seed}: {end} of {recorded}");
        }
    });
    assert!(4 * refused.get() < 3 * SEEDS, "{} of {SEEDS} runs are refused", refused.get());
}

/// Checks that the trace of a run with other computing times is valid, with as many rows as the
/// recorded trace.
fn check_written(name: &str, graph: &Graph<'_>) {
    for factor in [0.5, 3.0] {
        let hypotheses = [Hypothesis::parse("cpu", &format!("factor={factor}")).expect("valid")];
        let changes = Changes { hypotheses: &hypotheses, network: None, random: None };
        let plan = changes.apply(graph).expect("it fits").plan;
        let run = graph.retime(&plan, true, true).expect("the run ends");
        let (trace, mut bytes) = (graph.tracks().trace(), Vec::new());
        let changed = Changed::new(graph, &plan, &run);
        let selected = trace.select(&Selection::default());
        let form = Form { order: NameOrder::Bare, precision: Precision::Double };
        paje::write(trace, &selected, form, &changed, &testkit::team(1), &mut bytes)
            .expect("memory");
        assert_eq!(replayed(&bytes).counts(), trace.counts(), "{name} {factor}");
    }
}

#[test]
fn changed_runs_are_valid_traces() {
    each(|seed, graph| check_written(&format!("seed {seed}"), graph));
}

#[test]
fn links_for_which_nothing_waits_end_after_their_start() {
    // The links start and end while the ranks compute.
    let trace = trace(
        &[(0, "computing", 0.0, 9.0), (1, "MPI_Wait", 0.0, 8.0), (1, "computing", 8.0, 9.0)],
        &[(1, 0, 7.0, 8.0, 1), (1, 0, 7.5, 8.5, 1)],
    );
    check_written("loose links", &Graph::new(&trace, &Settings::new(mpi())));
}

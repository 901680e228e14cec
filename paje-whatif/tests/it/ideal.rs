//! Tests of runs with an ideal network.

use datasets::passing::{self, Case, Parameters};
use paje_comm::classes::Class;
use paje_whatif::{Facts, Settings, ideal};

use crate::{mpi, replayed};

fn facts<'t>(trace: &'t paje_sim::Trace, settings: &Settings) -> Facts<'t> {
    Facts::new(trace, &settings.map, &settings.reading)
}

#[test]
fn ranks_only_wait_for_those_that_compute_longer() {
    let parameters = Parameters { ranks: 4, work: 1_000_000, late: 500_000, transfer: 1_000 };
    let trace = replayed(&Case::Barrier.trace(&parameters).bytes);
    let settings = Settings::new(mpi());
    // The last rank computes 1 + 3 * 0.5 s. Then the barrier takes 1 ms.
    let length = ideal(facts(&trace, &settings), &settings).expect("a prediction");
    assert!((length - 2.5).abs() < 1e-9, "{length}");
}

#[test]
fn an_ideal_run_is_as_long_as_its_longest_rank_or_longer() {
    let mut shorter = 0;
    for seed in 0..200 {
        let run = passing::random(seed, 30);
        let trace = replayed(&run.bytes);
        let mut settings = Settings::new(mpi());
        settings.reading.eager = (seed % 3 > 0).then_some(run.eager);
        let facts = facts(&trace, &settings);
        let Some((begin, end)) = facts.tracks.span() else { continue };
        let Ok(length) = ideal(facts.clone(), &settings) else { continue };
        let classes = facts.tracks.classes();
        let longest = facts.tracks.list().iter().map(|track| {
            let times = track.exclusive(begin, end).into_iter();
            let times = times.filter(|it| classes.class(track.type_, it.0) == Class::Compute);
            times.map(|it| it.1.to_f64()).sum::<f64>()
        });
        let longest = longest.fold(0.0, f64::max);
        assert!(length <= end - begin + 1e-9, "{seed}: {length} instead of {}", end - begin);
        assert!(length >= longest - 1e-9, "{seed}: {length}, but a rank computes {longest}");
        shorter += u32::from(length < end - begin);
    }
    assert!(shorter > 100, "{shorter}");
}

#[test]
fn a_run_without_dependencies_is_refused() {
    let text = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 P 0\n2 MPI_STATE P\n3 0 p P 0\n3 0 q P 0\n4 0 MPI_STATE p computing\n4 0 MPI_STATE q computing\n4 1 MPI_STATE q MPI_Send\n";
    let trace = replayed(text.as_bytes());
    let settings = Settings::new(mpi());
    let why = ideal(facts(&trace, &settings), &settings).expect_err("a refusal");
    assert!(why.starts_with("the trace has no messages"), "{why}");
}

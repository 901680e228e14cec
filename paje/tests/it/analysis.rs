//! Analyses as functions.

use std::collections::BTreeMap;

use paje::analysis::{
    GroupBy, Options, StateTime, communication, critical_path, deadlocks, message_races, profile,
    record_batch, removable_barriers, waits, what_if,
};
use paje::{Nature, Selection, Trace, TraceReader};

use crate::examples::example;

fn open(name: &str) -> Trace {
    TraceReader::new().open(example(name)).expect("valid trace")
}

#[test]
fn profile_adds_up_the_rows() {
    let trace = open("mpi.trace");
    let mut sums: BTreeMap<(String, String), f64> = BTreeMap::new();
    for state in trace.states() {
        let key = (state.lane.container_name().to_string(), state.value_name().to_string());
        *sums.entry(key).or_default() += state.duration();
    }
    let rows = profile(&trace, &Options::new().by(GroupBy::Container).threads(2)).expect("states");
    assert_eq!(rows.len(), sums.len());
    for row in &rows {
        let key = (row.container.clone().expect("by container"), row.value.clone());
        assert!((row.inclusive - sums[&key]).abs() < 1e-9, "{row:?}");
    }
    let refused = profile(&trace, &Options::new().by(GroupBy::Type("Rnak".into())));
    assert!(refused.expect_err("no such type").to_string().contains("Rnak"));
}

#[test]
fn communication_counts_the_links() {
    let trace = open("hazards/detector.trace");
    let rows = communication(&trace, &Options::new()).expect("links");
    assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), trace.counts().links);
    let bytes: f64 = trace.links().filter_map(|link| link.number("Size")).sum();
    assert!(bytes > 0.0);
    assert_eq!(rows.iter().filter_map(|row| row.bytes).sum::<f64>(), bytes);
}

#[test]
fn sizes_that_were_not_kept_are_refused() {
    let reader = TraceReader::new().fields(false);
    let trace = reader.open(example("hazards/detector.trace")).expect("valid trace");
    let refused = communication(&trace, &Options::new()).expect_err("no sizes");
    assert!(refused.to_string().contains("TraceReader::fields(false)"), "{refused}");
    assert!(waits(&trace, &Options::new()).is_err() && profile(&trace, &Options::new()).is_ok());
}

#[test]
fn the_critical_path_has_no_gaps_and_no_waits() {
    let trace = open("mpi.trace");
    let path = critical_path(&trace, &Options::new()).expect("dependencies");
    assert!(path.windows(2).all(|parts| parts[0].end == parts[1].start), "{path:?}");
    let waits = waits(&trace, &Options::new()).expect("known states");
    let overlap = path.iter().any(|part| {
        let is = |wait: &&paje::analysis::Wait| wait.waiter == part.container;
        waits.iter().filter(is).any(|wait| wait.start < part.end && wait.end > part.start)
    });
    assert!(!overlap && !waits.is_empty());
}

#[test]
fn predictions_change_nothing_without_changes() {
    let trace = open("mpi.trace");
    let same = what_if(&trace, &[], &Options::new()).expect("a prediction");
    assert_eq!(same.recorded, same.predicted);
    assert!(same.containers.iter().all(|it| it.recorded == it.predicted));
    let half = [("scale", "state=computing,factor=0.5")];
    let faster = what_if(&trace, &half, &Options::new()).expect("a prediction");
    assert!(faster.predicted < faster.recorded && faster.predicted > faster.recorded / 2.0);
    for wrong in [("scale", "state=computing"), ("scale", "state=none,factor=2"), ("halve", "")] {
        assert!(what_if(&trace, &[wrong], &Options::new()).is_err(), "{wrong:?}");
    }
}

#[test]
fn unknown_kinds_of_changes_are_refused_with_the_kinds() {
    let refused = what_if(&open("mpi.trace"), &[("speed", "factor=2")], &Options::new());
    let why = refused.expect_err("no such kind").to_string();
    assert!(why.contains("`speed`") && why.contains("scale, balance, cut, net, cpu"), "{why}");
}

#[test]
fn what_a_trace_cannot_answer_is_refused() {
    let variables = open("variables.trace");
    assert!(
        waits(&variables, &Options::new())
            .expect_err("no states")
            .to_string()
            .contains("no states")
    );
    assert!(critical_path(&variables, &Options::new()).is_err());
    let some = Selection::default().of_natures([Nature::State]);
    assert!(waits(&open("mpi.trace"), &Options::new().select(some)).is_err());
    assert!(Options::new().map("nonsense").is_err());
    let map = Options::new().map("[classes]\n\"no such state\" = \"wait\"").expect("a map");
    let refused = waits(&open("mpi.trace"), &map).expect_err("no known states");
    assert!(refused.to_string().ends_with("choose another one with `Options::map`"), "{refused}");
    assert_eq!(format!("{refused:?}"), refused.to_string());
}

#[test]
fn results_become_json_and_arrow() {
    let trace = open("mpi.trace");
    let rows = profile(&trace, &Options::new()).expect("states");
    let json = serde_json::to_value(&rows).expect("serialisable");
    assert_eq!(json[0]["value"], "computing");
    let batch = record_batch(&rows).expect("equally long columns");
    assert_eq!((batch.num_rows(), batch.num_columns()), (rows.len(), 14));
    assert_eq!(batch.column_by_name("container").expect("a column").null_count(), rows.len());
    let none: [StateTime; 0] = [];
    assert_eq!(record_batch(&none).expect("no rows").num_rows(), 0);
}

#[test]
fn hazards_are_those_of_the_program() {
    let trace = open("hazards/detector.trace");
    let races = message_races(&trace, &Options::new(), 10).expect("messages");
    let [race] = &races[..] else { panic!("{races:?}") };
    assert_eq!(
        (&*race.receiver, &*race.first_sender, &*race.second_sender),
        ("detector", "rank-0", "rank-1")
    );
    assert!(message_races(&open("variables.trace"), &Options::new(), 1).is_err());
    assert!(
        message_races(&trace, &Options::new().wildcard("none").expect("a pattern"), 1).is_err()
    );
    let found = deadlocks(&open("hazards/circle.trace"), &Options::new(), 10).expect("states");
    assert!(found.hangs.is_empty() && found.potential == 1, "{found:?}");
    let barriers = removable_barriers(&open("mpi.trace"), &Options::new()).expect("states");
    assert!(barriers.iter().all(|it| it.first_entered <= it.last_entered), "{barriers:?}");
}

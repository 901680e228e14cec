//! Iterators, user-defined fields, lines, and containers by name.

use std::collections::BTreeMap;

use datasets::Shape;
use paje::{Name, Nature, Row, Selection, TimeUnit, Trace, TraceReader};

use crate::examples::example;

fn traces() -> Vec<Trace> {
    let files = ["mpi", "deep", "user-fields", "links-reversed", "variables", "many-containers"];
    let reader = TraceReader::new().lines(true);
    let open = |name: &str| reader.open(example(&format!("{name}.trace"))).expect("valid trace");
    let generated = [Shape::Mpi, Shape::TaskRuntime, Shape::AllLinks]
        .map(|shape| reader.parse(datasets::generate(shape, 200_000, 7)).expect("valid trace"));
    files.into_iter().map(open).chain(generated).collect()
}

#[test]
fn rows_by_time_are_all_rows_in_order() {
    for trace in traces() {
        let sorted: Vec<Row<'_>> = trace.rows_by_time().collect();
        assert!(sorted.is_sorted_by_key(Row::start));
        let counts = trace.counts();
        let count = |is: fn(&Row<'_>) -> bool| sorted.iter().filter(|row| is(row)).count() as u64;
        assert_eq!(count(|row| row.as_container().is_some()), counts.containers);
        assert_eq!(count(|row| row.as_state().is_some()), counts.states);
        assert_eq!(count(|row| row.as_variable().is_some()), counts.variables);
        assert_eq!(count(|row| row.as_event().is_some()), counts.events);
        assert_eq!(count(|row| row.as_link().is_some()), counts.links);
        let mut all: Vec<String> = trace.rows().map(|row| format!("{row:?}")).collect();
        let mut found: Vec<String> = sorted.iter().map(|row| format!("{row:?}")).collect();
        all.sort();
        found.sort();
        assert_eq!(found, all);
    }
}

#[test]
fn merge_by_time_has_the_rows_of_each_trace_in_their_order() {
    let mut traces = traces();
    // The same trace in other units, and with the same starts.
    for unit in [TimeUnit::Milliseconds, TimeUnit::Seconds] {
        let trace = TraceReader::new().lines(true).time_unit(unit).open(example("mpi.trace"));
        traces.push(trace.expect("valid trace"));
    }
    let merged: Vec<(usize, Row<'_>)> = Trace::merge_by_time(&traces).collect();
    let key = |(place, row): &(usize, Row<'_>)| (traces[*place].seconds(row.start()), *place);
    assert!(merged.is_sorted_by_key(key));
    for (place, trace) in traces.iter().enumerate() {
        let own = merged.iter().filter(|(of, _)| *of == place).map(|(_, row)| format!("{row:?}"));
        assert!(own.eq(trace.rows_by_time().map(|row| format!("{row:?}"))));
    }
    assert_eq!(Trace::merge_by_time([]).count(), 0);
}

#[test]
fn rows_of_a_selection_overlap_its_window() {
    let trace = TraceReader::new().open(example("mpi.trace")).expect("valid trace");
    let selection = Selection::default().of_natures([Nature::State]).within(0.01..=0.02);
    let selection = selection.inside("rank-[01]").expect("a pattern");
    let wanted = trace.select(&selection);
    let rows: Vec<Row<'_>> = trace.rows().filter(|row| wanted.wants(row)).collect();
    let is = |row: &Row<'_>| {
        let Row::State(state) = row else { return false };
        let name = state.lane.container_name().to_string();
        (name == "rank-0" || name == "rank-1") && state.start <= 0.02 && state.end >= 0.01
    };
    assert!(!rows.is_empty() && rows.iter().all(is));
    assert_eq!(trace.rows().filter(is).count(), rows.len());
}

const NESTED: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Alias string\n% Name string\n% Type string\n% Container string\n%EndEventDef
1 Node 0\n1 Rank Node
3 0 n1 first Node 0\n3 0 n2 second Node 0\n3 0 r1 rank Rank n1\n3 0 r2 rank Rank n2\n3 0 r3 a/b Rank n2
";

#[test]
fn containers_are_found_by_name_alias_and_path() {
    let trace = TraceReader::new().parse(NESTED).expect("valid trace");
    let path = |wanted: &str| trace.container(wanted).map(|found| found.path());
    assert_eq!(path("first"), Ok("first".into()));
    assert_eq!(path("r2"), Ok("second/rank".into()));
    assert_eq!(path("second/rank"), Ok("second/rank".into()));
    assert_eq!(path("n1/r1"), Ok("first/rank".into()));
    assert_eq!(path("a/b"), Ok("second/a/b".into()));
    assert_eq!(path("second/a/b"), Ok("second/a/b".into()));
    let why = |wanted: &str| trace.container(wanted).expect_err("refused").to_string();
    assert_eq!(
        why("rank"),
        "'rank' names 2 containers, such as first/rank and second/rank; give an alias or a path"
    );
    assert_eq!(why("frist"), "the trace has no container 'frist'; did you mean 'first'?");
    for missing in ["", "/", "first/", "first//rank", "first/a/b", "0"] {
        assert!(trace.container(missing).is_err(), "{missing}");
    }
    let second = trace.container("second").expect("exists");
    let children: Vec<_> = second.children().map(|child| child.path()).collect();
    assert_eq!(children, ["second/rank", "second/a/b"]);
    assert_eq!(second.parent().expect("the root").id(), trace.root().id());
    assert!(trace.root().parent().is_none());
}

#[test]
fn names_are_keys_and_compare_with_text() {
    let trace = traces().remove(0);
    let mut by_value: BTreeMap<Name<'_>, usize> = BTreeMap::new();
    for state in trace.states() {
        *by_value.entry(state.value_name()).or_default() += 1;
    }
    assert_eq!(by_value.values().sum::<usize>() as u64, trace.counts().states);
    let (first, _) = by_value.first_key_value().expect("a state");
    let text = first.to_string();
    assert!(text.as_str() == *first && *first == text.as_str());
}

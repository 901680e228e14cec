//! Profiles with known sums. Traces are read at once or in portions, and whole or within a window.

use std::ops::ControlFlow;

use paje_analysis::states::{Row, States, table};
use paje_analysis::{By, Data, Label, Scope};
use paje_sim::{Options, Portion, Progress, Selection, Source, Trace};
use paje_workers::Workers;

const HEAD: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajePushState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePopState 5\n% Time date\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeDestroyContainer 6\n% Time date\n% Type string\n% Name string\n%EndEventDef
1 N 0\n1 P N\n2 S P\n3 0 n N 0\n3 0 p P n\n3 0 q P n\n";

/// Container p is in `a` from 1 to 9. Inside `a`, it is in `b` from 2 to 4 and from 5 to 8. Inside
/// the second `b`, it is in `c` from 6 to 7. Container q is in `b` from 0 to 1.
const LINES: &str = "\
4 0 S q b\n4 1 S p a\n5 1 S q\n4 2 S p b\n5 4 S p\n4 5 S p b\n4 6 S p c\n5 7 S p\n5 8 S p\n5 9 S p
6 10 P p\n6 10 P q\n6 10 N n\n";

/// Returns the final rows, and the rows after each portion of `bytes` bytes.
fn seen(scope: &Scope, by: &By, bytes: u64) -> (Vec<Row>, Vec<Vec<Row>>) {
    rows_of(&[HEAD, LINES].concat(), scope, by, bytes)
}

fn rows_of(text: &str, scope: &Scope, by: &By, bytes: u64) -> (Vec<Row>, Vec<Vec<Row>>) {
    let (mut states, mut between) = (States::new(scope.clone(), by.clone()), Vec::new());
    let (workers, progress, options) = (Workers::one(), Progress::default(), Options::default());
    let mut see = |portion: &Portion<'_>| {
        states.see(portion.trace(), &workers);
        between.push(states.rows(portion.trace()));
        ControlFlow::Continue(())
    };
    let source = Source::stream(text.as_bytes());
    let trace = Trace::read_in_portions(source, &options, &workers, &progress, bytes, &mut see);
    (states.rows(&trace.expect("the trace is valid")), between)
}

/// Head of a trace as StarPU writes it, with a worker.
const WORKER: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 10\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef
%EventDef PajePushState 11\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef
%EventDef PajePopState 12\n% Time date\n% Container string\n% Type string\n%EndEventDef
%EventDef PajeSetState 20\n% Time date\n% Container string\n% Type string\n% Value string\n% JobId string\n%EndEventDef
1 W 0\n2 WS W\n3 0 w W 0\n10 0 w WS Idle\n";

#[test]
fn tasks_that_starpu_writes_twice_count_once() {
    // The second task has no length. Within the third one, StarPU pushes a state.
    let lines = "\
10 1 w WS gemm\n20 1 w WS gemm j1\n10 3 w WS Idle\n10 3 w WS gemm\n20 3 w WS gemm j2\n10 3 w WS Idle
10 4 w WS trsm\n20 4 w WS trsm j3\n11 5 w WS Callback\n12 5 w WS\n10 7 w WS Idle
10 8 w WS gemm\n20 8 w WS gemm j4\n12 9 w WS\n10 9 w WS gemm\n";
    let rows = |text: &str, bytes: u64| {
        let (mut rows, _) = rows_of(text, &Scope::default(), &By::Value, bytes);
        rows.sort_by(|a, b| a.value.cmp(&b.value));
        let row = |row: &Row| (row.value.to_string(), row.count, row.inclusive.to_f64());
        rows.iter().map(row).collect::<Vec<_>>()
    };
    for bytes in [1, 7, 50, 1 << 20] {
        let found = rows(&[WORKER, lines].concat(), bytes);
        let wanted = [("Callback", 1, 0.0), ("Idle", 4, 3.0), ("gemm", 4, 3.0), ("trsm", 1, 3.0)];
        let wanted = wanted.map(|(value, count, sum)| (value.to_owned(), count, sum));
        assert_eq!(found, wanted, "{bytes}");
        // Without job ids, each state counts.
        let plain = [WORKER, lines].concat().replace("JobId", "Tag");
        let counts: Vec<u64> = rows(&plain, bytes).iter().map(|row| row.1).collect();
        assert_eq!(counts, [1, 4, 7, 2], "{bytes}");
    }
}

type Line = (String, u64, f64, f64, u64, f64);

fn lines(rows: &[Row]) -> Vec<Line> {
    let line = |row: &Row| {
        let (inclusive, exclusive) = (row.inclusive.to_f64(), row.exclusive.to_f64());
        (row.value.to_string(), row.count, inclusive, exclusive, row.containers, row.share)
    };
    rows.iter().map(line).collect()
}

#[test]
fn exclusive_time_is_that_of_innermost_states() {
    for bytes in [1, 7, 50, 1 << 20] {
        let (rows, _) = seen(&Scope::default(), &By::Value, bytes);
        let wanted = [
            ("b".to_owned(), 3, 6.0, 5.0, 2, 0.25),
            ("a".to_owned(), 1, 8.0, 3.0, 1, 0.15),
            ("c".to_owned(), 1, 1.0, 1.0, 1, 0.05),
        ];
        assert_eq!(lines(&rows), wanted, "{bytes}");
        let b = &rows[0];
        assert_eq!((b.min, b.mean.to_f64(), b.median, b.max, b.lanes), (1.0, 2.0, 2.0, 3.0, 2));
        let imbalance: Vec<f64> = rows.iter().map(|row| row.imbalance).collect();
        assert!(
            (imbalance[0] - 0.6).abs() < 1e-12 && imbalance[1..] == [1.0, 1.0],
            "{imbalance:?}"
        );
    }
}

#[test]
fn nested_states_of_one_value_count_once() {
    // Values a, b and c in turn, 99 deep: pushed and popped at intervals of one second.
    let mut lines = String::new();
    let value = |depth: u32| ["a", "b", "c"][depth as usize % 3];
    (0..99).for_each(|depth| lines += &format!("4 {depth} S p {}\n", value(depth)));
    (0..99).for_each(|depth| lines += &format!("5 {} S p\n", 99 + depth));
    for bytes in [1, 100, 1 << 20] {
        let text = [HEAD, &lines].concat();
        let (rows, _) = rows_of(&text, &Scope::default(), &By::Value, bytes);
        // The outermost state of each value covers the others.
        let mut times: Vec<_> = rows
            .iter()
            .map(|row| (row.value.to_string(), row.count, row.inclusive.to_f64(), row.max))
            .collect();
        times.sort_by(|a, b| a.0.cmp(&b.0));
        let wanted = [("a", 197.0), ("b", 195.0), ("c", 193.0)];
        let wanted = wanted.map(|(value, seconds)| (value.to_owned(), 33, seconds, seconds));
        assert_eq!(times, wanted, "{bytes}");
        let sum: f64 = (0..99).filter(|depth| depth % 3 == 0).map(|d| f64::from(197 - 2 * d)).sum();
        let a = rows.iter().find(|row| row.value == Label::from("a")).expect("a row");
        assert!((a.mean.to_f64() - sum / 33.0).abs() < 1e-9);
    }
}

#[test]
fn a_window_clips_states_and_lifetimes() {
    let mut selection = Selection::default();
    (selection.window.from, selection.window.to) = (3.0, 6.5);
    for bytes in [1, 1 << 20] {
        let (rows, _) = seen(&Scope::new(&selection), &By::Value, bytes);
        // Each container is in the window for 3.5 seconds. Container q counts, although it has no
        // state there.
        let share = |seconds: f64| seconds / 7.0;
        let wanted = [
            ("b".to_owned(), 2, 2.5, 2.0, 1, share(2.0)),
            ("a".to_owned(), 1, 3.5, 1.0, 1, share(1.0)),
            ("c".to_owned(), 1, 0.5, 0.5, 1, share(0.5)),
        ];
        assert_eq!(lines(&rows), wanted, "{bytes}");
    }
}

#[test]
fn rows_can_be_per_container_or_per_group() {
    let (rows, _) = seen(&Scope::default(), &By::Container, 10);
    let name = |row: &Row| format!("{} {}", row.container.as_ref().expect("its name"), row.value);
    let names: Vec<String> = rows.iter().map(name).collect();
    assert_eq!(names, ["q b", "p b", "p a", "p c"]);
    let (rows, _) = seen(&Scope::default(), &By::Type(Label::from("N")), 10);
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.container == Some(Label::from("n")) && row.lanes == 2));
    let (none, _) = seen(&Scope::default(), &By::Type(Label::from("Nobody")), 10);
    assert!(none.is_empty());
}

#[test]
fn open_states_count_up_to_the_latest_time() {
    let (_, between) = seen(&Scope::default(), &By::Value, 1);
    // When `c` has just begun, `a` has been open since 1 and `b` since 5. An earlier `b` lasted
    // from 2 to 4.
    let at_six = between.iter().find(|rows| rows.iter().any(|row| row.value == Label::from("c")));
    let found = lines(at_six.expect("a portion begins c"));
    let times: Vec<_> =
        found.iter().map(|line| (line.0.as_str(), line.1, line.2, line.3)).collect();
    assert_eq!(times, [("b", 3, 4.0, 4.0), ("a", 1, 5.0, 2.0), ("c", 1, 0.0, 0.0)]);
}

#[test]
fn top_keeps_the_largest_rows() {
    let (rows, _) = seen(&Scope::default(), &By::Value, 10);
    let top = table(&rows).top(2, &["count", "exclusive"]);
    assert_eq!(top.len(), 2);
    let Some(Data::Text(values)) = top.column("value") else {
        panic!("expected a column of values")
    };
    assert_eq!(*values, [Label::from("b"), Label::from("a")]);
}

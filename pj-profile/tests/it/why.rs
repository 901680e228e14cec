//! Tests of the reports `why` and `scaling`.
//!
//! `tests/why/causes.c` has a program for each cause, and `tests/why/make` makes the traces.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cli::program;

/// Traces and the kind of their first cause.
const CAUSES: [(&str, &str); 24] = [
    ("balanced", "balanced"),
    ("late-sender", "late sender"),
    ("late-pairs", "late sender"),
    ("late-in-cube", "late sender"),
    ("late-broadcast", "late sender"),
    ("late-receiver", "late receiver"),
    ("imbalance", "imbalance"),
    ("imbalance-halo", "imbalance"),
    ("late-in-turn", "imbalance"),
    ("ring", "imbalance"),
    ("one-function", "imbalance"),
    ("serialisation", "serialisation"),
    ("serialisation-4", "serialisation"),
    ("serialisation-16", "serialisation"),
    ("token", "serialisation"),
    ("pipeline", "serialisation"),
    ("requests", "serialisation"),
    ("lock", "serialisation"),
    ("slow-network", "slow network"),
    ("high-latency", "slow network"),
    ("small-messages", "too many small messages"),
    ("slow-node", "slow node or imbalance"),
    ("late-phase", "a phase differs"),
    ("longer-phase", "a phase differs"),
];

/// Runs of StarPU and the kind of their first cause. `tests/why/tasks.c` has the program, and `tests/why/make-tasks`
/// makes the traces.
const TASKS: [(&str, &str); 7] = [
    ("balanced-tasks", "balanced"),
    ("few-tasks", "too few tasks"),
    ("slow-kernel", "a kernel is slow on accelerators"),
    ("long-chain", "chains of dependencies"),
    ("slow-submission", "slow submission"),
    ("transfers", "data transfers"),
    ("one-worker", "idle beside ready tasks"),
];

fn trace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/why/{name}.trace.xz"))
}

fn run(words: &[&str], traces: &[PathBuf]) -> (i32, String, String) {
    let mut command = program(words);
    testkit::outcome(&command.args(traces).env("COLUMNS", "80").output().expect("run"))
}

fn report(words: &[&str], traces: &[PathBuf]) -> String {
    let (status, out, err) = run(words, traces);
    assert_eq!((status, err.as_str()), (0, ""), "{words:?} {traces:?}");
    out
}

#[test]
fn the_planted_cause_is_named_first() {
    for (name, cause) in CAUSES {
        let table = report(&["why", "--format", "csv"], &[trace(name)]);
        let rows: Vec<&str> = table.lines().skip(1).collect();
        let first = rows[0].split(',').nth(1);
        assert_eq!(first, Some(cause), "{name}: {table}");
        let causes = rows.iter().filter(|row| row.starts_with("cause,")).count();
        assert_eq!(causes, 1, "{name}: {table}");
    }
}

#[test]
fn the_planted_cause_of_slow_tasks_is_named_first() {
    for (name, cause) in TASKS {
        let file = trace(name).with_file_name(format!("{name}.rec.xz"));
        let file = file.to_str().expect("a path");
        let why = ["why", "--no-warnings", "--tasks", file];
        let table = report(&[&why[..], &["--format", "csv"]].concat(), &[trace(name)]);
        let rows: Vec<&str> = table.lines().skip(1).collect();
        assert_eq!(rows[0].split(',').nth(1), Some(cause), "{name}: {table}");
        // All losses together are the part of the run that the area bound leaves.
        let shares = rows.iter().filter(|row| row.starts_with("cause,"));
        let shares: f64 = shares.filter_map(|row| row.split(',').nth(2)?.parse::<f64>().ok()).sum();
        assert!(shares < 1.0, "{name}: {table}");
        assert_eq!(shares == 0.0, cause == "balanced", "{name}: {table}");
        assert_short(&report(&why, &[trace(name)]));
    }
}

#[test]
fn a_verdict_has_at_most_fifteen_lines_of_eighty_columns() {
    for (name, _) in CAUSES {
        assert_short(&report(&["why"], &[trace(name)]));
    }
}

fn assert_short(out: &str) {
    assert!(out.lines().count() <= 15, "{out}");
    // Names of files cannot be wrapped.
    let text = out.lines().filter(|line| !line.contains(".trace.xz"));
    text.for_each(|line| assert!(line.chars().count() <= 80, "{line}"));
}

#[test]
fn the_documents_show_current_reports() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/why.md");
    let page = fs::read_to_string(page).expect("a page");
    let runs = ["serialisation-4", "serialisation", "serialisation-16"].map(trace);
    let mut command = program(&["scaling"]);
    let output = command.args(&runs).env("COLUMNS", "100").output().expect("run");
    let (_, scaling, _) = testkit::outcome(&output);
    for out in [report(&["why"], &[trace("slow-node")]), scaling] {
        let (_, out) = out.split_once("\n\n").expect("a title");
        let lines = out.lines().filter(|line| !line.contains(" > "));
        lines.for_each(|line| assert!(page.contains(line), "docs/why.md lacks\n{line}"));
    }
}

#[test]
fn runs_are_compared_in_words() {
    let out = report(&["compare"], &["longer-phase", "late-phase"].map(trace));
    for line in [
        "B takes 80.6 ms, 24.0 ms (42.4 %) longer than A\n",
        "by activity, per container: PMPI_Waitall +35.0 ms\n",
        "by container: computing changes in rank-2 +24.0 ms; the median is -16.0 ms\n",
        "by phase: from 60.0 % to 95.0 % of the states, 31.2 ms in A and 55.2 ms in B\n",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
    let out = report(&["compare"], &["balanced", "small-messages"].map(trace));
    assert!(out.contains("links, such as messages: 1,280 in A, 5,120 in B\n"), "{out}");
    let out = report(&["compare"], &["balanced", "balanced"].map(trace));
    assert!(out.contains("B takes as long as A, 50.4 ms\n"), "{out}");
}

#[test]
fn a_verdict_does_not_depend_on_threads() {
    for (name, _) in CAUSES {
        let all = ["1", "2", "5"].map(|n| report(&["why", "--threads", n], &[trace(name)]));
        assert!(all.iter().all(|out| *out == all[0]), "{name}");
    }
}

#[test]
fn efficiencies_have_the_planted_values() {
    let runs = ["serialisation-16", "serialisation-4", "serialisation"].map(trace);
    let table = report(&["scaling", "--format", "csv"], &runs);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|it| *it == name).expect("a column");
    let number =
        |row: usize, name: &str| -> f64 { rows[row][column(name)].parse().expect("a number") };
    let ranks: Vec<&str> = rows[1..].iter().map(|row| row[column("ranks")]).collect();
    assert_eq!(ranks, ["4", "8", "16"]);
    for (row, ranks) in [(1, 4.0), (2, 8.0), (3, 16.0)] {
        // One rank computes at a time, and each as long as the others. The rest is transfer.
        assert!((number(row, "load_balance") - 1.0).abs() < 1e-3, "{table}");
        assert!((number(row, "serialisation") - 1.0 / ranks).abs() < 2e-3, "{table}");
        assert!((number(row, "scaling") - 4.0 / ranks).abs() < 1e-3, "{table}");
        let product = ["load_balance", "serialisation", "transfer"].map(|it| number(row, it));
        let parallel = number(row, "parallel");
        assert!((product.iter().product::<f64>() - parallel).abs() < 1e-6, "{table}");
        let global = parallel * number(row, "scaling");
        assert!((number(row, "global") - global).abs() < 1e-6, "{table}");
    }
}

#[test]
fn scaling_is_drawn_and_needs_two_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("scaling.svg");
    let runs = ["serialisation-4", "serialisation"].map(trace);
    let words = ["scaling", "--svg", svg.to_str().expect("a path")];
    let out = report(&words, &runs);
    assert!(out.starts_with("Efficiencies (POP) of 2 runs\n"), "{out}");
    let svg = fs::read_to_string(&svg).expect("a picture");
    assert!(svg.contains("computation scaling, 8: 50"), "{svg}");
    let (status, _, err) = run(&["scaling"], &runs[..1]);
    assert_eq!((status, err.as_str()), (2, "pj_profile: scaling needs at least two traces\n"));
}

#[test]
fn no_cause_is_named_without_states_of_calls() {
    let text = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 P 0\n2 S P\n3 0 p P 0\n3 0 q P 0\n4 0 S p run\n4 0 S q run\n4 4 S p rest\n4 9 S q rest\n4 10 S q run\n";
    let folder = testkit::folder(&[("run.trace", text.as_bytes())]);
    let (status, out, _) = run(&["why"], &[folder.path().join("run.trace")]);
    assert_eq!(status, 0);
    let (_, out) = out.split_once("\n\n").expect("a title");
    assert!(out.starts_with("Time in states: S run: 13.0 s, 65.0 %; the longest of 2"), "{out}");
    assert!(out.contains("Record calls as states"), "{out}");
}

const DEFINITIONS: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajePushState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePopState 5\n% Time date\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeDefineLinkType 6\n% Name string\n% Type string\n% StartContainerType string\n\
% EndContainerType string\n%EndEventDef
%EventDef PajeStartLink 7\n% Time date\n% Type string\n% Container string\n% StartContainer string\n\
% Value string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 8\n% Time date\n% Type string\n% Container string\n% EndContainer string\n\
% Value string\n% Key string\n%EndEventDef
1 P 0\n2 MPI_STATE P\n6 MPI_LINK 0 P P\n3 0 p P 0\n3 0 q P 0\n";

/// Returns the events of a state.
fn state(rank: &str, value: &str, from: u32, until: u32) -> [(u32, String); 2] {
    let enter = format!("4 {from} MPI_STATE {rank} {value}\n");
    [(from, enter), (until, format!("5 {until} MPI_STATE {rank}\n"))]
}

/// Writes a trace with these events, which have their times.
fn written(mut events: Vec<(u32, String)>) -> (TempDir, PathBuf) {
    events.sort_by_key(|event| event.0);
    let text: String = events.into_iter().map(|event| event.1).collect();
    let text = format!("{DEFINITIONS}{text}");
    let folder = testkit::folder(&[("run.trace", text.as_bytes())]);
    let file = folder.path().join("run.trace");
    (folder, file)
}

#[test]
fn time_with_messages_between_calls_is_not_computing() {
    let mut events = Vec::new();
    for rank in ["p", "q"] {
        events.extend(state(rank, "computing", 0, 10));
        events.extend(state(rank, "PMPI_Barrier", 12, 14));
        events.extend(state(rank, "computing", 15, 18));
    }
    events.push((11, "7 11 MPI_LINK 0 p - a\n8 11 MPI_LINK 0 q - a\n".into()));
    events.extend(state("p", "PMPI_Send", 18, 19));
    events.extend(state("q", "PMPI_Recv", 18, 19));
    events.push((18, "7 18 MPI_LINK 0 p - b\n".into()));
    events.push((19, "8 19 MPI_LINK 0 q - b\n".into()));
    events.extend(state("q", "PMPI_Init", 19, 20));
    let (_folder, file) = written(events);
    // Each rank computes from 0 to 10 s, from 14 to 18 s, and p from 19 to 20 s.
    let out = report(&["why"], std::slice::from_ref(&file));
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        out.contains("Efficiency (POP): parallel 72.5 % = load balance 96.7 % x communication"),
        "{out}"
    );
    assert!(
        out.contains("Doubt: 4.00 s between states, 10.0 % of the time, has messages of calls"),
        "{out}"
    );
    let out = report(&["waits"], &[file]);
    assert!(out.contains("note: 4.00 s between states have messages of calls"), "{out}");
    assert!(
        out.lines().any(|line| line.contains("(cause not recorded)") && line.contains("4.00 s")),
        "{out}"
    );
}

#[test]
fn calls_that_take_long_without_waiting_are_a_cause() {
    let mut events = Vec::new();
    for round in 0..8 {
        let from = 100 * round;
        for (rank, other) in [("p", "q"), ("q", "p")] {
            events.extend(state(rank, "computing", from, from + 60));
            for call in 0..10 {
                // The message arrives at once, but the calls take four seconds each.
                let at = from + 60 + 4 * call;
                events.extend(state(rank, "PMPI_Sendrecv", at, at + 4));
                let key = format!("{rank}{at}");
                events.push((at + 1, format!("7 {} MPI_LINK 0 {rank} - {key}\n", at + 1)));
                events.push((at + 2, format!("8 {} MPI_LINK 0 {other} - {key}\n", at + 2)));
            }
        }
    }
    let (_folder, file) = written(events);
    let out = report(&["why", "--format", "csv"], std::slice::from_ref(&file));
    let first = out.lines().nth(1).expect("a cause");
    assert!(first.starts_with("cause,too many small messages,0.3"), "{out}");
}

#[test]
fn a_state_of_a_single_rank_is_not_balanced() {
    let mut events = Vec::new();
    for round in 0..4 {
        let at = 10 * round;
        events.extend(state("p", "computing", at, at + 8));
        events.extend(state("p", "PMPI_Barrier", at + 8, at + 9));
        events.extend(state("q", "PMPI_Barrier", at + 1, at + 9));
    }
    let (_folder, file) = written(events);
    let out = report(&["why"], &[file]);
    assert!(out.contains("\n  > pj_whatif --cpu container=p,factor=0."), "{out}");
}

#[test]
fn causes_have_commands_that_predict_the_run_without_them() {
    for (name, command) in [
        ("slow-node", "pj_whatif --cpu container=rank-5,factor=0.50 "),
        ("imbalance", "pj_whatif --balance state=computing,mode=global-instance "),
        ("slow-network", "pj_whatif --net latency=x0.5,bandwidth=x2 "),
    ] {
        let out = report(&["why"], &[trace(name)]);
        assert!(out.contains(&format!("\n  > {command}")), "{out}");
    }
}

#[test]
fn tasks_have_reasons_and_bounds() {
    let recorded = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../paje-analysis/tests/starpu");
        folder.join(name)
    };
    for (name, cause) in [
        ("cholesky-gpu", "balanced"),
        ("lu-gpu", "tasks on unsuitable workers"),
        ("cholesky-cpu", "idle beside ready tasks"),
    ] {
        let tasks = recorded(&format!("{name}.rec.xz"));
        let words =
            ["why", "--no-warnings", "--format", "csv", "--tasks", tasks.to_str().expect("a path")];
        let (status, out, _) = run(&words, &[recorded(&format!("{name}.trace.xz"))]);
        let first = out.lines().nth(1).and_then(|row| row.split(',').nth(1));
        assert_eq!((status, first), (0, Some(cause)), "{out}");
        assert!(out.contains("fact,best possible makespan,"), "{out}");
        if name == "lu-gpu" {
            let text = "14 tasks of starpu_slu_lu_model_trsm_ll, which gain less from it (7.9 times as fast as on CPU) than \
                        starpu_slu_lu_model_gemm (29.3 times)\",pj_profile tasks --by kernel ";
            assert!(out.contains(text), "{out}");
        }
        // Without the file, the causes of idleness are unknown.
        let words = ["why", "--no-warnings", "--no-files", "--format", "csv"];
        let (status, out, _) = run(&words, &[recorded(&format!("{name}.trace.xz"))]);
        assert!(status == 0 && out.contains("the file tasks.rec does"), "{out}");
        assert!(out.contains("cause,idle workers,"), "{out}");
        // Memory managers and other threads are no workers, but CPUs that only sleep are.
        let workers: Vec<&str> = out.lines().filter(|line| line.contains(",workers,")).collect();
        let kinds = if name == "cholesky-cpu" { &["2 CPU:"][..] } else { &["4 CPU:", " CUDA:"] };
        assert_eq!(workers.len(), kinds.len(), "{out}");
        assert!(workers.iter().zip(kinds).all(|(line, kind)| line.contains(kind)), "{out}");
    }
}

#[test]
fn the_page_begins_with_the_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("run.html");
    let words = ["summary", "--html", page.to_str().expect("a path")];
    report(&words, &[trace("imbalance")]);
    let page = fs::read_to_string(&page).expect("a page");
    let (_, sections) = page.split_once("<section id=\"s0\">\n").expect("a section");
    assert!(
        sections.starts_with("<h2>Why</h2>\n<p>Imbalance, 35.4 % of the run: rank-7"),
        "{page}"
    );
    let prediction =
        "Prediction without this cause: pj_whatif --balance state=computing,mode=global-instance";
    assert!(sections.contains(prediction), "{page}");
}

#[test]
fn options_of_other_reports_are_refused() {
    for (words, wrong) in [
        (&["why", "--by", "value"][..], "--by applies to"),
        (&["why", "-s", "1"], "--start or --end applies to"),
        (&["why", "--in", "rank-1"], "--in applies to"),
        (&["waits", "--by", "value", "--by", "waiter"], "is given more than once"),
        (&["why", "--svg", "x.svg"], "--svg writes one picture, but why has several"),
    ] {
        let (status, _, err) = run(words, &[trace("balanced")]);
        assert!(status == 2 && err.contains(wrong), "{words:?}: {err}");
    }
}

//! Tests of the reports `waits` and `critical` from the command line.

use std::fs;
use std::path::{Path, PathBuf};

use datasets::passing::{Case, Parameters};
use tempfile::TempDir;

use crate::cli::program;

const PARAMETERS: Parameters =
    Parameters { ranks: 4, work: 1_000_000, late: 500_000, transfer: 1_000 };

fn slow_rank() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../paje-analysis/tests/smpi/slow-rank.trace.xz")
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    }

    fn case(&self, case: Case) -> PathBuf {
        self.file(&format!("{case:?}.trace"), case.trace(&PARAMETERS).bytes)
    }
}

fn run(words: &[&str], trace: &Path) -> (i32, String, String) {
    testkit::outcome(&program(words).arg(trace).output().expect("run"))
}

fn csv(words: &[&str], trace: &Path) -> String {
    let words: Vec<&str> = words.iter().copied().chain(["--format", "csv"]).collect();
    let (status, out, err) = run(&words, trace);
    assert_eq!(status, 0, "{words:?}: {err}");
    out
}

#[test]
fn waits_are_reported_by_kind_waiter_and_pair() {
    let folder = Folder::new();
    let trace = folder.case(Case::Barrier);
    // Ranks 0, 1 and 2 wait for rank 3 for 1.5, 1 and 0.5 s, in a run of 2.501 s.
    assert_eq!(
        csv(&["waits"], &trace),
        "kind,count,seconds,share,mean,max\n\
         wait at barrier,3,3.000000000,0.299880048,1.000000000,1.500000000\n\
         (computing),4,7.000000000,0.699720112,1.750000000,2.500000000\n\
         (in collectives),4,0.004000000,0.000399840,0.001000000,0.001000000\n"
    );
    assert_eq!(
        csv(&["waits", "--by", "waiter"], &trace),
        "container,count,seconds,share,mean,max,caused,delay\n\
         rank-0,1,1.500000000,0.599760096,1.500000000,1.500000000,0.000000000,0.000000000\n\
         rank-1,1,1.000000000,0.399840064,1.000000000,1.000000000,0.000000000,0.000000000\n\
         rank-2,1,0.500000000,0.199920032,0.500000000,0.500000000,0.000000000,0.000000000\n\
         rank-3,0,0.000000000,0.000000000,0.000000000,0.000000000,3.000000000,3.000000000\n"
    );
    assert_eq!(
        csv(&["waits", "--by", "pair", "--top", "1"], &trace),
        "waiter,whom,count,seconds,share,mean,max,most\n\
         rank-0,rank-3,1,1.500000000,0.599760096,1.500000000,1.500000000,1\n"
    );
    assert_eq!(
        csv(&["waits", "-s", "1.5", "-e", "2"], &trace),
        "kind,count,seconds,share,mean,max\n\
         wait at barrier,2,1.000000000,0.500000000,0.500000000,0.500000000\n\
         (computing),2,1.000000000,0.500000000,0.500000000,0.500000000\n"
    );
}

#[test]
fn waits_are_reported_by_value() {
    let folder = Folder::new();
    let table = csv(&["waits", "--by", "value"], &folder.case(Case::Barrier));
    let (head, rows) = table.split_once('\n').expect("a row");
    assert_eq!(head, "value,kind,count,seconds,share,mean,max,whom");
    let row = ",wait at barrier,3,3.000000000,0.299880048,1.000000000,1.500000000,rank-3\n";
    assert!(rows.ends_with(row) && rows.lines().count() == 1, "{rows}");
}

#[test]
fn reports_name_the_columns_that_they_leave_out() {
    for (by, titles, missed) in [
        ("path", "waiting container path seconds delay", "count, indirect, max, mean, share"),
        ("pair", "waiter waits for", "count, max, mean"),
        ("waiter", "container waits", "count, max, mean"),
    ] {
        let mut command = program(&["waits", "--by", by]);
        command.arg(slow_rank()).env("COLUMNS", "56");
        let (_, out, _) = testkit::outcome(&command.output().expect("run"));
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains(titles), "{out}");
        assert!(out.contains(&format!(" Not shown: {missed}")), "{out}");
        assert!(out.ends_with(" (see --format csv)"), "{out}");
    }
}

#[test]
fn the_critical_path_is_reported_by_container_and_value() {
    let folder = Folder::new();
    let trace = folder.case(Case::Barrier);
    assert_eq!(
        csv(&["critical"], &trace),
        "type,value,container,seconds,share\n\
         MPI_STATE,computing,rank-3,2.500000000,0.999600160\n\
         MPI_STATE,PMPI_Barrier,rank-3,0.001000000,0.000399840\n"
    );
    assert_eq!(
        csv(&["critical", "--by", "value"], &trace),
        "type,value,seconds,share,mean,imbalance,cost\n\
         MPI_STATE,computing,2.500000000,0.999600160,1.750000000,0.750000000,3.000000000\n\
         MPI_STATE,PMPI_Barrier,0.001000000,0.000399840,0.001000000,0.000000000,0.000000000\n"
    );
    assert_eq!(
        csv(&["critical", "--by", "container"], &trace),
        "container,seconds,share\nrank-3,2.501000000,1.000000000\n"
    );
    let (status, out, _) = run(&["critical", "-s", "1", "-e", "2"], &trace);
    assert_eq!(status, 0);
    assert!(out.contains("computing  rank-3") && out.contains("100.0 %"), "{out}");
}

#[test]
fn the_slow_rank_causes_the_delay() {
    let (status, out, err) = run(&["waits", "--by", "waiter"], &slow_rank());
    assert_eq!((status, err.as_str()), (0, ""));
    let line = out.lines().find(|line| line.contains("rank-3")).expect("a line");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(words.ends_with(&["60.0", "ms", "210", "ms"]), "{out}");
}

/// Checks that a page of the documents has the lines of a report below its title and notes.
fn shows(page: &str, report: &str) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let docs = fs::read_to_string(docs).expect("a page");
    let (_, tables) = report.split_once("\n\n").expect("a blank line");
    for line in tables.lines() {
        assert!(docs.contains(line), "{page} lacks\n{line}");
    }
}

#[test]
fn documents_show_current_reports() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let (status, out, _) =
        run(&["critical", "--top", "1"], &examples.join("tutorial/jacobi.trace.xz"));
    assert_eq!(status, 0);
    assert!(out.lines().count() > 4, "{out}");
    shows("tutorial.md", &out);
}

#[test]
fn reports_do_not_depend_on_threads() {
    let folder = Folder::new();
    let trace = folder.file("run.trace", datasets::passing::random(12, 3000).bytes);
    let reports =
        [["waits", "kind"], ["waits", "waiter"], ["waits", "pair"], ["critical", "value"]];
    for [report, by] in reports {
        let told = |threads| csv(&[report, "--by", by, "--threads", threads], &trace);
        let one = told("1");
        assert!(one.lines().count() > 2, "{one}");
        assert!(one == told("2") && one == told("5"), "{report} {by}");
    }
}

#[test]
fn the_most_waited_graph_is_written_for_graphviz() {
    let folder = Folder::new();
    let dot = folder.0.path().join("most.dot");
    let name = dot.to_str().expect("text");
    csv(&["waits", "--graph", name], &folder.case(Case::LateSender));
    let text = fs::read_to_string(&dot).expect("a graph");
    assert_eq!(
        text,
        "digraph most_waited {\n  node [shape=box];\n  \"rank-1\" -> \"rank-0\" [label=\"0.500000\", penwidth=5.0];\n}\n"
    );
}

#[test]
fn exceeding_the_memory_limit_is_reported() {
    let folder = Folder::new();
    let trace = folder.0.path().join("links.trace");
    let mut file = fs::File::create(&trace).expect("a file");
    datasets::write(datasets::Shape::AllLinks, 20 << 20, 1, &mut file).expect("written");
    let (status, _, told) = run(&["waits", "--memory-limit=32M"], &trace);
    assert_eq!(status, 2, "{told}");
    assert!(told.contains("MB beside the rows, but --memory-limit is 34 MB"), "{told}");
    assert_eq!(run(&["comm", "--memory-limit=32M"], &trace).0, 0);
}

#[test]
fn a_map_classifies_states() {
    let folder = Folder::new();
    let trace = folder.case(Case::LateReceiver);
    let waits = |words: &[&str]| {
        let words: Vec<&str> = ["waits"].iter().chain(words).copied().collect();
        csv(&words, &trace).lines().filter(|line| line.starts_with("late ")).count()
    };
    assert_eq!((waits(&[]), waits(&["--eager", "0"])), (0, 1));
    assert_eq!((waits(&["--eager", "1000000"]), waits(&["--eager", "1000001"])), (1, 0));
    let text = "eager = 10\n[classes]\nPMPI_Send = \"send\"\nPMPI_Recv = \"recv\"\n";
    let map = folder.file("map.toml", text);
    let map = map.to_str().expect("text");
    assert_eq!(waits(&["--map", map]), 1);
    assert_eq!(waits(&["--map", "mpi"]), 0);
    let (_, _, err) = run(&["waits", "--format=csv", "--map", map], &trace);
    let note = "pj_profile: note: these values count as computing (change with --map): computing\n";
    assert!(err.starts_with(note), "{err}");
    let (status, _, err) = run(&["waits", "--map", "starpu"], &trace);
    assert_eq!(status, 2);
    assert!(
        err.contains(
            "the map `starpu` knows none of the state values; choose another one with --map FILE"
        ),
        "{err}"
    );
    let wrong = folder.file("wrong.toml", "[classes]\nPMPI_Send = \"sent\"\n");
    let (status, _, err) = run(&["waits", "--map", wrong.to_str().expect("text")], &trace);
    assert_eq!(status, 2);
    assert!(
        err.contains("wrong.toml: `PMPI_Send = \"sent\"`: expected one of compute, send"),
        "{err}"
    );
}

#[test]
fn roots_are_estimated_or_given() {
    let folder = Folder::new();
    let trace = folder.case(Case::OneToN);
    let root = "note: assuming the root is rank-2 for PMPI_Bcast (change with --root)\n";
    let (_, out, err) = run(&["waits"], &trace);
    assert!(out.contains(root) && err.is_empty(), "{out} {err}");
    let (_, _, err) = run(&["waits", "--format=json"], &trace);
    assert!(err.contains(root), "{err}");
    let pairs = |root| csv(&["waits", "--by", "pair", "--root", root], &trace).lines().count() - 1;
    assert_eq!((pairs("rank-2"), pairs("rank-1"), pairs("rank-0")), (2, 1, 0));
    let (status, _, err) = run(&["waits", "--root", "rank-9"], &trace);
    assert_eq!(status, 2);
    assert!(err.contains("--root rank-9: the trace has no such container; did you"), "{err}");
    let (status, _, err) = run(&["critical", "--group", "Node"], &trace);
    assert_eq!(status, 2);
    assert!(err.contains("--group Node: the trace has no such container type; there are"), "{err}");
    let (_, out, _) = run(&["waits", "--group", "Rank"], &trace);
    assert!(out.contains("(in collectives)") && !out.contains("late broadcast"), "{out}");
    let why = "note: collectives not analysed, as each group has one container; try another --group TYPE\n";
    assert!(out.contains(why), "{out}");
}

#[test]
fn misplaced_options_are_refused() {
    let trace = slow_rank();
    let cases: [(&[&str], &str); 7] = [
        (
            &["waits", "--live"],
            "--live applies to states, comm, time, variables, events and summary, not to waits",
        ),
        (
            &["waits", "--by", "node"],
            "--by node does not apply to waits; values are kind, value, waiter, pair, path",
        ),
        (
            &["critical", "--by", "pair"],
            "--by pair does not apply to critical; values are container, value",
        ),
        (&["critical", "--graph", "x"], "--graph applies to comm and waits, not to critical"),
        (
            &["states", "--eager", "1"],
            "--eager applies to waits, critical, summary, why and scaling, not to states",
        ),
        (
            &["comm", "--map", "mpi"],
            "--map applies to time, waits, critical, tasks, summary, why and scaling, not to comm",
        ),
        (
            &["waits", "--in", "rank-*"],
            "--in applies to states, comm, time, variables, events, summary and compare, not to waits",
        ),
    ];
    for (words, message) in cases {
        let (status, out, err) = run(words, &trace);
        assert_eq!(
            (status, out.as_str(), err),
            (2, "", format!("pj_profile: {message}\n")),
            "{words:?}"
        );
    }
}

#[test]
fn a_critical_path_needs_messages_or_collectives() {
    let folder = Folder::new();
    let text = String::from_utf8(Case::Barrier.trace(&PARAMETERS).bytes).expect("text");
    let trace = folder.file("run.trace", text.replace("PMPI_Barrier", "PMPI_Sendrecv"));
    let (status, out, err) = run(&["critical"], &trace);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("no critical path, as the trace has no messages and no coll"), "{err}");
    let tasks =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples/task-runtime.trace");
    let (status, _, err) = run(&["critical", "--map=starpu"], &tasks);
    assert_eq!(status, 2);
    assert!(err.contains("StarPU's traces do not record"), "{err}");
}

#[test]
fn efficiencies_are_those_of_pop() {
    let folder = Folder::new();
    // Ranks compute 1, 1.5, 2 and 2.5 s of 2.501 s.
    let (_, out, _) = run(&["waits"], &folder.case(Case::Barrier));
    let note = "note: parallel efficiency 70.0 % = load balance 70.0 % x communication efficiency \
                100.0 % (POP)\n";
    assert!(out.contains(note), "{out}");
    let (_, out, _) = run(
        &["waits"],
        &folder.file("computing.trace", {
            let text = String::from_utf8(Case::Barrier.trace(&PARAMETERS).bytes).expect("text");
            text.replace("PMPI_Barrier", "computing")
        }),
    );
    assert!(!out.contains("efficiency"), "{out}");
}

#[test]
fn several_files_must_be_one_trace() {
    let folder = Folder::new();
    let other = "\
%EventDef PajeDefineContainerType 70\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 71\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
70 Machine 0\n71 9 m Machine 0\n";
    let other = folder.file("other.trace", other);
    let trace = folder.case(Case::Barrier);
    for report in ["states", "waits", "summary"] {
        let (status, out, err) = run(&[report, trace.to_str().expect("a name")], &other);
        assert_eq!((status, out.as_str()), (2, ""), "{report}");
        assert!(err.contains("these files are not one trace"), "{err}");
        assert!(err.contains("`pj_profile compare` compares two traces"), "{err}");
    }
}

#[test]
fn sendrecv_without_messages_is_reported() {
    let folder = Folder::new();
    let text = String::from_utf8(Case::Barrier.trace(&PARAMETERS).bytes).expect("text");
    let trace = folder.file("run.trace", text.replace("PMPI_Barrier", "PMPI_Sendrecv"));
    let (status, out, err) = run(&["waits"], &trace);
    assert_eq!(status, 0);
    let why = "note: of 4 Sendrecv states, 0 have a message, as SMPI does not record it; waiting there is";
    assert!(out.contains(why) && out.contains("(cause not recorded)"), "{out}");
    assert_eq!(err, "");
    assert_eq!(run(&["waits", "--format=csv", "--no-warnings"], &trace).2, "");
}

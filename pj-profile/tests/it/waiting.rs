//! Tests of the reports `waits` and `critical` from the command line.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use datasets::passing::{Case, Parameters};
use tempfile::TempDir;

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

/// Returns the exit status, standard output and standard error of the program.
fn run(words: &[&str], trace: &Path) -> (i32, String, String) {
    let mut command = Command::cargo_bin("pj_profile").expect("the program");
    let output = command.args(words).arg(trace).output().expect("run");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a status"), text(output.stdout), text(output.stderr))
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
         wait at barrier,3,3.000000000,0.299880048,1.000000000,1.500000000\n"
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
         wait at barrier,2,1.000000000,0.500000000,0.500000000,0.500000000\n"
    );
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
    let (status, out, _) = run(&["critical", "-s", "1", "-e", "2"], &trace);
    assert_eq!(status, 0);
    assert!(out.contains("computing  rank-3") && out.contains("100.0 %"), "{out}");
}

#[test]
fn the_slow_rank_causes_the_delay() {
    let (status, out, err) = run(&["waits", "--by", "waiter"], &slow_rank());
    assert_eq!((status, err.as_str()), (0, ""));
    let line = out.lines().find(|line| line.contains("rank-3")).expect("a line");
    assert!(line.ends_with("60.00 ms       210.0 ms"), "{out}");
    shows("waiting.md", &out);
}

/// Checks that a page of the docs contains the lines of a report, except the title.
fn shows(page: &str, report: &str) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let docs = fs::read_to_string(docs).expect("a page");
    for line in report.lines().skip(2) {
        assert!(docs.contains(line), "{page} lacks\n{line}");
    }
}

#[test]
fn documents_show_current_reports() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let trace = examples.join("mpi.trace");
    for words in [&["waits", "--by", "waiter"][..], &["critical", "--by", "value", "--top", "3"]] {
        let (status, out, _) = run(words, &trace);
        assert_eq!(status, 0);
        assert!(out.lines().count() > 4, "{out}");
        shows("profile.md", &out);
    }
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
    csv(&["waits", "--dot", name], &folder.case(Case::LateSender));
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
        csv(&words, &trace).lines().count() - 1
    };
    assert_eq!((waits(&[]), waits(&["--eager", "0"])), (0, 1));
    assert_eq!((waits(&["--eager", "1000000"]), waits(&["--eager", "1000001"])), (1, 0));
    let text = "eager = 10\n[classes]\nPMPI_Send = \"send\"\nPMPI_Recv = \"recv\"\n";
    let map = folder.file("map.toml", text);
    let map = map.to_str().expect("text");
    assert_eq!(waits(&["--map", map]), 1);
    assert_eq!(waits(&["--map", "mpi"]), 0);
    let (_, _, err) = run(&["waits", "--map", map], &trace);
    assert_eq!(
        err,
        format!(
            "pj_profile: note: states that the map `{map}` does not know, which never count as waiting: computing\n"
        )
    );
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
    let (_, _, err) = run(&["waits"], &trace);
    assert_eq!(
        err,
        "pj_profile: note: assuming the root is rank-2 for PMPI_Bcast (change with --root)\n"
    );
    let pairs = |root| csv(&["waits", "--by", "pair", "--root", root], &trace).lines().count() - 1;
    assert_eq!((pairs("rank-2"), pairs("rank-1"), pairs("rank-0")), (2, 1, 0));
    let (status, _, err) = run(&["waits", "--root", "rank-9"], &trace);
    assert_eq!(status, 2);
    assert!(err.ends_with("--root: there is no container `rank-9`\n"), "{err}");
    let (status, _, err) = run(&["critical", "--group", "Node"], &trace);
    assert_eq!(status, 2);
    assert!(err.ends_with("--group: there is no container type `Node`\n"), "{err}");
    let (_, out, err) = run(&["waits", "--group", "Rank"], &trace);
    assert!(out.ends_with("There is nothing to report.\n"), "{out}");
    assert_eq!(
        err,
        "pj_profile: note: collectives not analysed, as each group has one container; try --group TYPE\n"
    );
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
            &["waits", "--by", "value"],
            "--by value does not apply to waits; values are kind, waiter, pair",
        ),
        (
            &["critical", "--by", "pair"],
            "--by pair does not apply to critical; values are container, value",
        ),
        (&["critical", "--dot", "x"], "--dot applies to comm and waits, not to critical"),
        (
            &["states", "--eager", "1"],
            "--eager applies to waits, critical and summary, not to states",
        ),
        (
            &["comm", "--map", "mpi"],
            "--map applies to time, waits, critical and summary, not to comm",
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
fn sendrecv_without_messages_is_reported() {
    let folder = Folder::new();
    let text = String::from_utf8(Case::Barrier.trace(&PARAMETERS).bytes).expect("text");
    let trace = folder.file("run.trace", text.replace("PMPI_Barrier", "PMPI_Sendrecv"));
    let (status, out, err) = run(&["waits"], &trace);
    assert_eq!(status, 0);
    assert!(out.ends_with("There is nothing to report.\n"), "{out}");
    assert_eq!(
        err,
        "pj_profile: note: of 4 Sendrecv states, 0 have a message, as SMPI does not record it; waiting there is \
         ignored\n"
    );
    assert_eq!(run(&["waits", "--no-warnings"], &trace).2, "");
}

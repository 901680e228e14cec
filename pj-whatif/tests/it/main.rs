//! Tests of the program from its command line.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use paje_sim::{Options, Trace};
use tempfile::TempDir;

mod refused;
mod simulated;
mod tasks;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples");

fn pj_whatif(words: &[&str]) -> (i32, String, String) {
    let output =
        Command::cargo_bin("pj_whatif").expect("the program is built").args(words).output();
    testkit::outcome(&output.expect("it runs"))
}

fn mpi() -> String {
    format!("{EXAMPLES}/mpi.trace")
}

/// Writes a trace in which rank 0 computes for 1 s. Three other ranks compute for 0.5 s and then
/// wait for rank 0.
fn uneven(folder: &Path) -> PathBuf {
    let mut text = testkit::ranks_head(&[]);
    for rank in 0..4 {
        text += &format!("3 0 r{rank} R 0 rank-{rank}\n");
    }
    for rank in 0..4 {
        let computes = if rank == 0 { 1.0 } else { 0.5 };
        text += &format!(
            "4 0 S r{rank} computing\n5 {computes} S r{rank}\n4 {computes} S r{rank} MPI_Barrier\n5 1 S r{rank}\n"
        );
    }
    let path = folder.join("uneven.trace");
    fs::write(&path, text).expect("writable");
    path
}

fn rows(path: &Path) -> Vec<String> {
    let trace =
        Trace::read(&fs::read(path).expect("readable")[..], &Options::default()).expect("a trace");
    let states = trace.states().map(|state| {
        let (lane, start, end) = (state.lane.container_name(), state.start, state.end);
        format!("{lane} {start:?} {end:?} {}", state.value_name())
    });
    let links = trace.links().map(|link| format!("{:?} {:?} {}", link.start, link.end, link.key()));
    let mut rows: Vec<String> = states.chain(links).collect();
    rows.sort();
    rows
}

#[test]
fn identity_is_exact() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("same.paje");
    let (status, stdout, stderr) =
        pj_whatif(&[&mpi(), "--identity", "-o", out.to_str().expect("UTF-8")]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.contains("+0.00 %") && !stdout.contains("-0.0"), "{stdout}");
    assert_eq!(rows(Path::new(&mpi())), rows(&out));
}

#[test]
fn balancing_1_s_and_three_times_0_5_s_takes_0_625_s() {
    let folder = TempDir::new().expect("a folder");
    let trace = uneven(folder.path());
    let trace = trace.to_str().expect("UTF-8");
    let (status, stdout, _) =
        pj_whatif(&[trace, "--balance", "state=computing,mode=global-instance", "--format", "csv"]);
    assert_eq!(status, 0);
    let lines: Vec<&str> = stdout.lines().take(7).collect();
    assert_eq!(
        lines,
        [
            "what,name,before,after",
            "makespan,,1.000000000,0.625000000",
            "not waiting,,0.625000000,1.000000000",
            "end,rank-0,1.000000000,0.625000000",
            "end,rank-1,1.000000000,0.625000000",
            "end,rank-2,1.000000000,0.625000000",
            "end,rank-3,1.000000000,0.625000000",
        ]
    );
    assert!(stdout.contains("waiting,rank-3,0.500000000,0.000000000"), "{stdout}");
    assert!(stdout.contains("critical path,computing,1.000000000,0.625000000"), "{stdout}");
}

#[test]
fn times_are_converted_to_seconds() {
    let folder = TempDir::new().expect("a folder");
    let trace = uneven(folder.path());
    let trace = trace.to_str().expect("UTF-8");
    let run = |more: &[&str]| {
        let words = [&[trace, "--cpu", "factor=2", "--format"][..], more].concat();
        let (status, stdout, stderr) = pj_whatif(&words);
        assert_eq!((status, stderr.as_str()), (0, ""));
        stdout
    };
    assert!(run(&["csv"]).contains("confidence,times in seconds: written by SimGrid,,"));
    let csv = run(&["csv", "--time-unit", "ms"]);
    assert!(csv.contains("makespan,,0.001000000,0.002000000\n"), "{csv}");
    assert!(csv.contains("waiting,rank-1,0.000500000,0.001000000\n"), "{csv}");
    assert!(csv.contains("critical path,computing,0.001000000,0.002000000\n"), "{csv}");
    assert!(csv.contains("confidence,times in milliseconds: as requested,,"), "{csv}");
    let text = run(&["text", "--time-unit", "us"]);
    assert!(text.contains("1.00 µs    2.00 µs   +100.00 %"), "{text}");
}

#[test]
fn the_page_shows_both_runs() {
    let folder = TempDir::new().expect("a folder");
    let trace = uneven(folder.path());
    let text = fs::read_to_string(&trace).expect("readable");
    fs::write(&trace, text.replace("rank-3", "<script>alert(3)</script>")).expect("writable");
    let page = |threads: &str| {
        let path = folder.path().join(format!("{threads}.html"));
        let words = ["--balance", "state=computing,mode=global-instance", "--threads", threads];
        let files = [trace.to_str().expect("UTF-8"), "--html", path.to_str().expect("UTF-8")];
        let (status, stdout, stderr) = pj_whatif(&[&files[..], &words].concat());
        assert_eq!((status, stderr.as_str()), (0, ""));
        assert!(stdout.contains("makespan"), "the report is also printed: {stdout}");
        fs::read_to_string(path).expect("readable")
    };
    let one = page("1");
    assert_eq!(one.matches("<svg").count(), 1);
    assert_eq!(one.matches("<script").count(), 1);
    for words in [
        ">before: 1.00 s<",
        ">after: 625 ms<",
        "&lt;script&gt;",
        "mode=global-instance",
        "-37.50 %",
        ">after<",
        ">before<",
    ] {
        assert!(one.contains(words), "{words}: {one}");
    }

    assert_eq!(one, page("3"));
}

#[test]
fn a_sweep_runs_once_per_value() {
    let folder = TempDir::new().expect("a folder");
    let trace = uneven(folder.path());
    let trace = trace.to_str().expect("UTF-8");
    let words =
        [trace, "--scale", "state=computing", "--sweep", "factor=0.5..2/4", "--format", "csv"];
    let (status, _, err) = pj_whatif(&[trace, "--cpu", "factor=2x"]);
    assert!(status == 2 && err.contains("factor=2x: expected a number, by which"), "{err}");
    let (status, stdout, _) = pj_whatif(&words);
    assert_eq!(status, 0);
    let found: Vec<&str> = stdout.lines().filter(|line| line.starts_with("sweep")).collect();
    let expected = [
        "0.5,1.000000000,0.500000000",
        "1,1.000000000,1.000000000",
        "1.5,1.000000000,1.500000000",
        "2,1.000000000,2.000000000",
    ];
    assert_eq!(found, expected.map(|rest| format!("sweep,factor={rest}")));
    for threads in ["1", "3"] {
        assert_eq!(pj_whatif(&[&words[..], &["--threads", threads]].concat()).1, stdout);
    }
}

#[test]
fn random_runs_depend_only_on_the_seed() {
    let folder = TempDir::new().expect("a folder");
    let trace = uneven(folder.path());
    let run = |how: &str, threads: &str| {
        let words = [
            trace.to_str().expect("UTF-8"),
            "--random",
            how,
            "--format",
            "json",
            "--threads",
            threads,
        ];
        let (status, stdout, stderr) = pj_whatif(&words);
        assert_eq!((status, stderr.as_str()), (0, ""));
        serde_json::from_str::<serde_json::Value>(&stdout).expect("JSON")["random"].clone()
    };
    let one = run("lognormal,cv=0.1,seed=1,runs=200", "1");
    assert_eq!(one, run("lognormal,cv=0.1,seed=1,runs=200", "3"));
    assert_ne!(one, run("lognormal,cv=0.1,seed=2,runs=200", "1"));
    let mean = one[0]["after"].as_f64().expect("a number");
    // Rank 0 determines the makespan. The mean time of rank 0 is 1 s.
    assert!((0.97..1.03).contains(&mean), "{mean}");
}

#[test]
fn wrong_usage_is_reported() {
    let folder = TempDir::new().expect("a folder");
    let trace = uneven(folder.path());
    let trace = trace.to_str().expect("UTF-8");
    let wrong = |words: &[&str]| {
        let (status, stdout, stderr) = pj_whatif(words);
        assert_eq!((status, stdout.as_str()), (2, ""), "{words:?}");
        stderr
    };
    assert!(wrong(&[trace]).contains("no hypothesis given"));
    assert!(wrong(&[trace, "--identity", "--cpu", "factor=2"]).contains("cannot be combined"));
    assert!(
        wrong(&[trace, "--scale", "state=compute,factor=2"])
            .contains("the trace has no such state; did you mean 'computing'?")
    );
    assert!(
        wrong(&[trace, "--cut", "state=computing", "--sweep", "factor=1..2/3"])
            .contains("no hypothesis leaves `factor` open")
    );
    assert!(wrong(&[trace, "--coll", "MPI_Barrier=star"]).contains("reduce+bcast"));
    let out = folder.path().join("none.paje");
    wrong(&[trace, "--scale", "state=nothing,factor=1", "-o", out.to_str().expect("UTF-8")]);
    assert!(!out.exists());
    let hypotheses = folder.path().join("hypotheses");
    fs::write(&hypotheses, "SCALE REGION \"computing\" half\n").expect("writable");
    let path = hypotheses.to_str().expect("UTF-8");
    let stderr = wrong(&[trace, "--hypothesis", path]);
    assert!(
        stderr.contains("hypotheses:1:26: expected a number of 0 or more, not `half`"),
        "{stderr}"
    );
    fs::write(&hypotheses, "SCALE REGION \"computing\" 0.5 # half\n").expect("writable");
    let (status, stdout, _) = pj_whatif(&[trace, "--hypothesis", path, "--format", "csv"]);
    assert!(status == 0 && stdout.contains("makespan,,1.000000000,0.500000000"), "{stdout}");
}

#[test]
fn an_invalid_trace_is_reported() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("bad.trace");
    fs::write(&path, "%EventDef PajePushState 1\n% Time date\n%EndEventDef\n1 0\n")
        .expect("writable");
    let (status, _, stderr) = pj_whatif(&[path.to_str().expect("UTF-8"), "--identity"]);
    assert!(status == 1 && stderr.contains("bad.trace:"), "{stderr}");
    assert_eq!(pj_whatif(&["/nowhere", "--identity"]).0, 2);
}

/// Writes a trace in which rank 0 computes for 3 s and sends. Rank 1 computes for 1 s, and its
/// receive ends 0.5 s after the send. Then it answers, and rank 0 receives that half a second
/// later.
fn answered(folder: &Path) -> PathBuf {
    let mut text = testkit::ranks_head(&[]) + "3 0 r0 R 0 rank-0\n3 0 r1 R 0 rank-1\n";
    let states = [
        (0, "computing", 0.0, 3.0),
        (0, "MPI_Send", 3.0, 3.0),
        (0, "MPI_Recv", 3.0, 4.0),
        (1, "computing", 0.0, 1.0),
        (1, "MPI_Recv", 1.0, 3.5),
        (1, "MPI_Send", 3.5, 3.5),
    ];
    for (rank, value, enter, exit) in states {
        text += &format!("4 {} S r{rank} {value}\n5 {} S r{rank}\n", enter, exit);
    }
    text += "6 3 L 0 M r0 a\n7 3.5 L 0 M r1 a\n6 3.5 L 0 M r1 b\n7 4 L 0 M r0 b\n";
    let path = folder.join("answered.trace");
    fs::write(&path, text).expect("a file");
    path
}

#[test]
fn the_interval_covers_what_the_trace_does_not_show() {
    let folder = TempDir::new().expect("a folder");
    let path = answered(folder.path()).display().to_string();
    let fast = "state=computing,container=rank-0,factor=0";
    let (_, out, _) = pj_whatif(&[&path, "--scale", fast, "--format", "csv"]);
    assert!(out.contains("makespan,,4.000000000,1.500000000"), "{out}");
    // A message that starts when it is posted arrives at 1.5 s, and the answer at 2 s.
    assert!(out.contains("interval,,1.500000000,2.000000000"), "{out}");
    assert!(
        out.contains("interval: if eager transfers start when posted, the makespan is 2.00 s"),
        "{out}"
    );
    let (_, out, _) = pj_whatif(&[&path, "--scale", fast]);
    let interval = "interval of the makespan: 1.50 s to 2.00 s (-62.50 % to -50.00 %)";
    assert!(out.contains(interval), "{out}");
    let given = ["--eager-start", "sent", "--progress", "async"];
    let (_, out, _) =
        pj_whatif(&[&[&path, "--scale", fast, "--format", "csv"], &given[..]].concat());
    assert!(!out.contains("interval"), "{out}");
}

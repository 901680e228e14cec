//! Tests the program from its command line.

use std::fs;
use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::CommandCargoExt;
use datasets::passing::Hazard;

pub(crate) fn program(words: &[&str]) -> Command {
    let mut command = Command::cargo_bin("pj_hazards").expect("the program is built");
    command.args(words);
    command
}

pub(crate) fn run(words: &[&str]) -> Output {
    program(words).output().expect("it runs")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn csv(table: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let place = |name: &&str| header.iter().position(|column| column == name).expect("a column");
    let places: Vec<usize> = names.iter().map(place).collect();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        places.iter().map(|place| fields[*place].to_owned()).collect()
    };
    lines.map(row).collect()
}

#[test]
fn statuses_and_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let (bad, good) = (folder.path().join("bad.trace"), folder.path().join("good.trace"));
    fs::write(&bad, "no trace\n").expect("writable");
    fs::write(&good, Hazard::Gather(3).trace()).expect("writable");
    let (bad, good) = (bad.to_str().expect("text"), good.to_str().expect("text"));
    for (words, status, said) in [
        (&["races", good][..], 1, ""),
        (
            &["races", "--wildcard=PMPI_Rcv", good],
            2,
            "no value of a state or link matches; did you",
        ),
        (&["deadlock", "--blocking=FOO", good], 2, "--blocking FOO: no value of a state or link"),
        (&["races", "--channel=tag", good], 2, "--channel tag: the trace has no such user-defined"),
        (
            &["race", good],
            2,
            "give the hazard first: races, orders, deadlock or barriers, not 'race'",
        ),
        (&["races", "--wildcard=PMPI_Recv", good], 1, ""),
        (&["races", "--end=0.000001", good], 0, ""),
        (&["deadlock", good], 0, ""),
        (&["races", bad], 1, "bad.trace"),
        (&["races", "/nowhere/it.trace"], 2, "/nowhere/it.trace"),
        (&[good], 2, "give the hazard first: races, orders, deadlock or barriers"),
        (&["races", "--count", good], 2, "--count applies to orders, not to races"),
        (
            &["deadlock", "--wildcard=x", good],
            2,
            "--wildcard applies to races, orders and barriers",
        ),
        (&["orders", "--count", "--late", good], 2, "--late"),
        (
            &["races", "--message-driven", good],
            2,
            "--message-driven applies to orders, not to races",
        ),
        (&["races", "--group=Node", good], 2, "--group Node: the trace has no such container type"),
        (&["races", "--root=rank-9", good], 2, "--root rank-9: the trace has no such container"),
        (&["races", "--group=Rank", "--root=rank-1", good], 1, ""),
        (&["races", "--format=runes", good], 2, "runes"),
        (&["races", "--in=Nothing", good], 2, "--in 'Nothing': the trace has no such container"),
        (&["races", "-s", "9e9", good], 0, "the window from 9000000000 s begins after the end"),
        (&["races", "-o", "/nowhere/it.csv", good], 2, "/nowhere/it.csv"),
        (&["races", "--map=/nowhere/it.toml", good], 2, "/nowhere/it.toml"),
    ] {
        let output = run(words);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {told}");
        assert!(told.contains(said), "{words:?}: {told}");
        assert_eq!(told.is_empty(), said.is_empty(), "{words:?}: {told}");
    }
}

#[test]
fn traces_without_messages_are_refused() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/");
    for (example, words, status) in [
        ("task-runtime.trace", &["races"][..], 2),
        ("task-runtime.trace", &["orders", "--count"], 2),
        ("task-runtime.trace", &["deadlock"], 2),
        ("task-runtime.trace", &["barriers"], 2),
    ] {
        let output = run(&[words, &[&format!("{examples}{example}")]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {said}");
        assert!(said.contains("the trace records no messages"), "{said}");
    }
    // The topology of a platform is not communication.
    let platform = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineLinkType 2\n% Name string\n% Type string\n% StartContainerType string\n\
% EndContainerType string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeStartLink 4\n% Time date\n% Type string\n% Container string\n% StartContainer string\n\
% Value string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 5\n% Time date\n% Type string\n% Container string\n% EndContainer string\n\
% Value string\n% Key string\n%EndEventDef
1 HOST 0\n1 LINK 0\n2 0-HOST1-LINK3 0 HOST LINK\n3 0 a HOST 0\n3 0 b HOST 0\n3 0 n LINK 0
4 0 0-HOST1-LINK3 0 a topology 1\n5 0 0-HOST1-LINK3 0 n topology 1\n\
4 0 0-HOST1-LINK3 0 b topology 2\n5 0 0-HOST1-LINK3 0 n topology 2\n";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("platform.trace");
    fs::write(&path, platform).expect("writable");
    let output = run(&["races", path.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
}

#[test]
fn findings_say_what_they_assume() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.trace");
    fs::write(&path, Hazard::Gather(3).trace()).expect("writable");
    let path = path.to_str().expect("text");
    let bound =
        "upper bound: every receive is taken as MPI_ANY_SOURCE; --wildcard names those that are";
    let output = run(&["races", path]);
    let printed = text(&output.stdout);
    assert!(
        printed.starts_with(&format!("times in seconds: written by SimGrid\n{bound}\n")),
        "{printed}"
    );
    let named = text(&run(&["races", "--wildcard=PMPI_Recv", path]).stdout);
    assert!(!named.contains("upper bound") && named.contains("race"), "{named}");
    let output = run(&["races", "--format=csv", "--time-unit=ms", path]);
    let said = text(&output.stderr);
    assert!(said.contains(bound) && said.contains("times in milliseconds: as requested"), "{said}");
    let seconds = |words: &[&str]| -> Vec<f64> {
        let table = text(&run(&[&["races", "--format=csv"], words, &[path]].concat()).stdout);
        let rows = csv(&table, &["first_sent"]);
        rows.iter().map(|row| row[0].parse().expect("a number")).collect()
    };
    let (as_seconds, as_milliseconds) = (seconds(&[]), seconds(&["--time-unit=ms"]));
    assert!(!as_seconds.is_empty());
    for (one, other) in as_seconds.iter().zip(as_milliseconds) {
        assert!((one - 1000.0 * other).abs() < 1e-6, "{one} {other}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.trace");
    fs::write(&path, Hazard::Gather(100).trace()).expect("writable");
    let words = ["races", "--limit=100000", path.to_str().expect("text")];
    let mut child =
        program(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn json_and_csv_have_the_same_contents() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("it.trace");
    fs::write(&path, Hazard::Gather(5).trace()).expect("writable");
    let path = path.to_str().expect("text");
    for words in [&["races"][..], &["orders"], &["orders", "--count"], &["deadlock"], &["barriers"]]
    {
        let told = |format| text(&run(&[words, &[format, path]].concat()).stdout);
        let (csv, json) = (told("--format=csv"), told("--format=json"));
        let rows: Vec<serde_json::Map<String, serde_json::Value>> =
            serde_json::from_str(&json).expect("valid JSON");
        assert_eq!(rows.len(), csv.lines().count() - 1, "{words:?}");
        let names: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
        for (row, line) in rows.iter().zip(csv.lines().skip(1)) {
            for (name, field) in names.iter().zip(line.split(',')) {
                match &row[*name] {
                    serde_json::Value::String(text) => assert_eq!(text, field),
                    serde_json::Value::Null => assert_eq!(field, "", "{name}"),
                    number => assert_eq!(number.as_f64(), field.parse().ok(), "{name}"),
                }
            }
        }
    }
}

#[test]
fn graphs_show_the_findings() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, dot) = (folder.path().join("it.trace"), folder.path().join("it.dot"));
    let trace = text(&Hazard::Circle.trace()).replace("rank-1", "\"x];\\evil [y\"");
    fs::write(&path, trace).expect("writable");
    let words = ["deadlock", "--graph", dot.to_str().expect("text"), path.to_str().expect("text")];
    assert_eq!(run(&words).status.code(), Some(1));
    let graph = fs::read_to_string(&dot).expect("the file was written");
    assert!(graph.contains(r#""x];\\evil [y" -> "rank-2" [label="sends""#), "{graph}");
}

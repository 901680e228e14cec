//! Tests of the program from its command line.

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

/// Returns some columns of a table.
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
        (&["races", "--wildcard=PMPI_Wait", good], 0, ""),
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
        (&["races", "--group=Node", good], 2, "--group: there is no container type `Node`"),
        (&["races", "--root=rank-9", good], 2, "--root: there is no container `rank-9`"),
        (&["races", "--group=Rank", "--root=rank-1", good], 1, ""),
        (&["races", "--format=runes", good], 2, "runes"),
        (&["races", "--in=Nothing", good], 0, "--in 'Nothing': the trace has no such container"),
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

/// Names that would be code in a graph are quoted.
#[test]
fn graphs_show_the_findings() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, dot) = (folder.path().join("it.trace"), folder.path().join("it.dot"));
    let trace = text(&Hazard::Circle.trace()).replace("rank-1", "\"x];\\evil [y\"");
    fs::write(&path, trace).expect("writable");
    let words = ["deadlock", "--dot", dot.to_str().expect("text"), path.to_str().expect("text")];
    assert_eq!(run(&words).status.code(), Some(1));
    let graph = fs::read_to_string(&dot).expect("the file was written");
    assert!(graph.contains(r#""x];\\evil [y" -> "rank-2" [label="sends""#), "{graph}");
}

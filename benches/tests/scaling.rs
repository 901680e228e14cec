//! Tests the whole scaling study, with scripts instead of `pj_dump` and `pj_split`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // A test that cannot continue fails.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// This script prints the trace (unless it gets `-q`) and statistics. `$threads` is an option.
const DUMP: &str = r#"
[ "$1" = --threads ] && [ "$3" = --pin ] && [ "$5" = --stats=json ] || exit 2
threads=$2
[ "$7" = -q ] || cat "$6"
echo '{"seconds":{"total":0.5,"serial":0.125},"imbalance":1.5}' >&2"#;

/// This script makes at most five pieces, as from a trace with five containers. The root is the
/// whole trace.
const SPLIT: &str = r#"
[ "$1" = --threads ] && [ "$3" = --pin ] && [ "$5" = --pieces ] && [ "$7" = --output ] || exit 2
mkdir "$8" && cat "$9" > "$8/root.trace" || exit 2
piece=0
while [ $piece -lt "$6" ] && [ $piece -lt 5 ]; do
    echo > "$8/piece-00$piece.trace"
    piece=$((piece + 1))
done"#;

fn scaling(folder: &Path, dump: &str, split: &str, words: &[&str]) -> Output {
    for (name, text) in [("pj_dump", dump), ("pj_split", split)] {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the folder is writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    }
    let (temporary, out) = (folder.join("temporary"), folder.join("out"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_scaling"));
    command.arg("--programs").arg(folder).arg("--out").arg(out).arg("--temp-dir").arg(&temporary);
    let output =
        command.args(["--quick", "--shapes", "mpi"]).args(words).output().expect("it starts");
    // Traces and pieces are removed, also after errors.
    assert_eq!(fs::read_dir(&temporary).expect("it is there").count(), 0);
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_case_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let given = folder.path().join("my, own.trace");
    fs::write(&given, datasets::generate(datasets::Shape::Mpi, 30_000, 2)).unwrap();
    let words = ["--threads", "1,3", "--size", "40kB", "--weak-size", "20kB"];
    let words = [&words[..], &["--pieces", "1,4,64,512", given.to_str().unwrap()]].concat();
    let output = scaling(folder.path(), DUMP, SPLIT, &words);
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("mpi: skipping 512 pieces: there are no more than 5"), "{stderr}");

    let out = folder.path().join("out");
    let mut reader = csv::Reader::from_path(out.join("runs.csv")).unwrap();
    let runs: Vec<HashMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    // Whether pages can be dropped depends on the file system.
    let caches: HashSet<&str> = runs.iter().map(|run| &*run["cache"]).collect();
    let caches = caches.len();
    // For each repetition and cache state, there are runs of cp, runs of the programs with all
    // threads and policies for the file and for three numbers of pieces, and runs of weak scaling.
    assert_eq!(runs.len(), 2 * caches * (2 * (1 + 2 * 2 * (3 + 3 * 3)) + 2 * 2 * 2), "{runs:?}");
    for run in &runs {
        let size = match (&*run["trace"], &*run["kind"], &*run["threads"]) {
            ("mpi", "strong", _) => 40_000.0,
            ("mpi", _, threads) => 20_000.0 * threads.parse::<f64>().unwrap(),
            _ => 30_000.0,
        };
        assert!((run["bytes"].parse::<f64>().unwrap() / size - 1.0).abs() < 0.01, "{run:?}");
        assert!(run["seconds"].parse::<f64>().unwrap() > 0.0, "{run:?}");
        let stats =
            if run["program"].starts_with("pj_dump") { ("0.250000", "1.500000") } else { ("", "") };
        assert_eq!((&*run["serial"], &*run["imbalance"]), stats, "{run:?}");
    }
    // Within a repetition each case runs once.
    let half = runs.len() / 4;
    assert!(runs[..half].iter().any(|run| run["run"] == "1"));
    let case = |run: &HashMap<String, String>| {
        ["trace", "kind", "program", "pieces", "threads", "pin", "cache", "run"]
            .map(|column| run[column].clone())
    };
    assert_eq!(runs.iter().map(case).collect::<HashSet<_>>().len(), runs.len());

    let tables = text(&output.stdout);
    assert!(tables.contains("| pj_split | 4 | 0.0 | none | cached | 1 |"), "{tables}");
    assert!(tables.contains("| pj_dump -q | – | 0.0 | compact | cached | 3 |"), "{tables}");
    assert!(tables.contains("Strong scaling of my, own.trace"), "{tables}");
    assert_eq!(fs::read_to_string(out.join("tables.md")).unwrap(), tables);
    let machine = fs::read_to_string(out.join("machine.txt")).unwrap();
    assert!(machine.contains("\nKernel: ") && machine.contains("\nLoad: "), "{machine}");
}

#[test]
fn programs_without_statistics_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let dump = "for trace; do :; done; cat \"$trace\"";
    let words = ["--threads", "2", "--pins", "none", "--size", "20kB", "--runs", "1"];
    let output = scaling(folder.path(), dump, SPLIT, &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("| – | – |"), "{}", text(&output.stdout));
}

#[test]
fn failures_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let other_rows = format!("{DUMP}\necho $threads");
    let other_pieces = format!("{SPLIT}\n[ \"$6\" = 1 ] || echo more >> \"$8/root.trace\"");
    for (dump, split, message) in [
        (&*other_rows, SPLIT, "mpi: 2 threads print other rows than one"),
        (DUMP, &*other_pieces, "mpi: 4 pieces give other rows than the trace"),
        ("echo 'no way' >&2; exit 1", SPLIT, "pj_dump failed (exit status: 1): no way"),
        (DUMP, "echo 'no way' >&2; exit 3", "pj_split failed (exit status: 3): no way"),
    ] {
        let words = ["--threads", "2", "--size", "20kB", "--weak-size", "20kB", "--pieces", "1,4"];
        let output = scaling(folder.path(), dump, split, &words);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}

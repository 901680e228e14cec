//! The study of pieces as a whole, with programs that only look like `pj_dump` and `pj_split`.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use benches::pieces::plots::{COPY_LABEL, SINGLE_LABEL, series_label};
use benches::pieces::record::HEADER;
use paje_workers::Pin;

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the folder is ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    path
}

/// Prints the trace, unless it is told to be quiet.
const DUMP: &str = r#"
[ "$1" = --threads ] && [ "$3" = --pin ] || exit 2
quiet=
for trace; do [ "$trace" != -q ] || quiet=yes; done
[ "$quiet" ] || cat "$trace""#;

/// Makes at most five pieces, as of a trace of five containers; the root has everything.
const SPLIT: &str = r#"
[ "$1" = --threads ] && [ "$3" = --pin ] && [ "$5" = --pieces ] && [ "$7" = --output ] || exit 2
mkdir "$8" && cat "$9" > "$8/root.trace" || exit 2
piece=0
while [ $piece -lt "$6" ] && [ $piece -lt 5 ]; do
    echo > "$8/piece-00$piece.trace"
    piece=$((piece + 1))
done"#;

fn pieces(folder: &Path, dump: &str, split: &str, words: &[&str]) -> Output {
    let temporary = folder.join("temporary");
    fs::create_dir_all(&temporary).expect("the folder is ours");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pieces"));
    command.arg("--dump").arg(script(folder, "pj_dump", dump));
    command.arg("--split").arg(script(folder, "pj_split", split));
    command.arg("--out").arg(folder.join("out")).arg("--temp-dir").arg(&temporary).args(words);
    let output = command.output().expect("Cargo has built it");
    // However it ends, pieces are gone.
    assert_eq!(fs::read_dir(&temporary).expect("it was made").count(), 0);
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_study_records_and_draws_every_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let given = folder.path().join("my own.trace");
    fs::write(&given, datasets::generate(datasets::Shape::Mpi, 30_000, 2)).unwrap();
    let words = ["--quick", "--shapes", "mpi", "--size", "40kB", "--threads", "1,3"];
    let words = [&words[..], &["--pieces", "1,4,64,512", given.to_str().unwrap()]].concat();
    let output = pieces(folder.path(), DUMP, SPLIT, &words);
    let told = text(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("mpi: 64 pieces are 5: no more containers have events"), "{told}");
    assert!(told.contains("mpi: 512 pieces are left out: there are no more than 5"), "{told}");

    let out = folder.path().join("out");
    let record = fs::read_to_string(out.join("runs.csv")).unwrap();
    let mut lines = record.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let lines: Vec<&str> = lines.collect();
    // Traces, repetitions; cp; threads, policies; the single file twice, each number of pieces thrice.
    assert_eq!(lines.len(), 2 * 2 * (1 + 2 * 2 * (2 + 3 * 3)), "{record}");
    let starts = lines.iter().filter(|line| line.contains(",pj_split,64,5,3,compact,")).count();
    assert_eq!(starts, 2 * 2, "{record}");
    // Within a repetition each configuration runs once before any runs again.
    let runs = lines.iter().take(1 + 4 * 11).map(|line| line.split(',').nth(7));
    assert!(runs.clone().all(|run| run == Some("1")), "{record}");

    let tables = text(&output.stdout);
    assert!(tables.contains("| pj_split | 4 | 1 | none |"), "{tables}");
    assert!(tables.contains("| pj_dump -q | – | 3 | compact |"), "{tables}");
    assert!(tables.contains("Replaying my own.trace from pieces"), "{tables}");
    assert_eq!(fs::read_to_string(out.join("tables.md")).unwrap(), tables);
    let machine = fs::read_to_string(out.join("machine.txt")).unwrap();
    assert!(machine.lines().any(|line| line.starts_with("load: ")), "{machine}");
    for (file, beside) in [("split", COPY_LABEL), ("replay", SINGLE_LABEL), ("dump", SINGLE_LABEL)]
    {
        for trace in ["mpi", "my-own-trace"] {
            let svg = fs::read_to_string(out.join(format!("{file}-{trace}.svg"))).unwrap();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let texts = document.descendants().filter(|node| node.has_tag_name("text"));
            let texts: Vec<&str> = texts.map(|node| node.text().unwrap_or("").trim()).collect();
            assert!(texts.contains(&beside), "{texts:?}");
            for (threads, pin) in [(1, Pin::None), (3, Pin::None), (3, Pin::Compact)] {
                assert!(texts.contains(&series_label(threads, &pin).as_str()), "{texts:?}");
            }
            for count in ["1", "4", "5"] {
                assert!(texts.contains(&count), "{count} has no tick: {texts:?}");
            }
            // Two circles for each point of the two free series, and for their places in the legend.
            let circles = document.descendants().filter(|node| node.has_tag_name("circle"));
            assert_eq!(circles.count(), 2 * 2 * (3 + 1), "{file}-{trace}");
        }
    }
}

#[test]
fn pieces_with_other_rows_are_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let split = format!("{SPLIT}\n[ \"$6\" = 1 ] || echo more >> \"$8/root.trace\"");
    let words = ["--quick", "--shapes", "mpi", "--size", "20kB", "--pieces", "1,4"];
    let output = pieces(folder.path(), DUMP, &split, &words);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(told.contains("mpi: the dump of 4 pieces is not that of the trace"), "{told}");
}

#[test]
fn a_program_that_fails_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--quick", "--shapes", "mpi", "--size", "20kB"];
    let output = pieces(folder.path(), DUMP, "echo 'no way' >&2; exit 1", &words);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(told.contains("pj_split failed (exit status: 1): no way"), "{told}");
    let output = pieces(folder.path(), "exit 3", SPLIT, &words);
    assert!(text(&output.stderr).contains("pj_dump failed (exit status: 3)"));
}

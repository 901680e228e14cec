//! Datasets that `--partition-by` writes.

use std::path::Path;
use std::process::Command;

use arrow_array::RecordBatch;

use crate::equal::files;
use crate::tables::{NATURES, bare, examples, number, pj_dump, printed_rows, read_file, row};
use crate::world;

fn rows_of_dataset(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for nature in NATURES {
        let divided = folder.join(nature.to_lowercase());
        let files = match nature {
            "Container" => vec![folder.join("container.parquet")],
            _ if divided.exists() => files(&divided),
            _ => Vec::new(),
        };
        for file in files {
            let (_, batches) = read_file(&file, "parquet");
            for batch in &batches {
                all.extend((0..batch.num_rows()).map(|i| row(nature, batch, i)));
            }
            if nature == "State" {
                let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
                check_place(&file, &batches, count);
            }
        }
    }
    all.sort();
    all
}

/// Checks that the rows of a file belong to its folder.
fn check_place(file: &Path, batches: &[RecordBatch], count: usize) {
    let key = |path: &Path, name: &str| -> Option<String> {
        let folder = path.file_name()?.to_str()?.strip_prefix(name)?.strip_prefix('=')?;
        let mut pieces = folder.split('%');
        let mut name = pieces.next()?.to_owned();
        for piece in pieces {
            let (code, rest) = piece.split_at(2);
            name.push(u8::from_str_radix(code, 16).ok()?.into());
            name.push_str(rest);
        }
        Some(name)
    };
    let folder = file.parent().expect("a folder");
    let rows = || batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |i| (batch, i)));
    if let Some(container) = key(folder, "Container") {
        assert!(count > 0, "{}", file.display());
        assert!(rows().all(|(batch, i)| bare(batch, "Container", i) == container));
        return;
    }
    let until: f64 = key(folder, "until").expect("a time").parse().expect("a time");
    let folder = folder.parent().expect("a folder");
    let begin: f64 = key(folder, "begin").expect("a time").parse().expect("a time");
    assert!(rows().all(|(batch, i)| (begin..until).contains(&number(batch, "Start", i))));
}

#[test]
fn datasets_hold_the_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, trace) in examples("trace").into_iter().enumerate() {
        let options = ["-n", "-z", "--sort"];
        let mut wanted = printed_rows(&options, &trace);
        wanted.sort();
        for by in ["time", "time:3", "container"] {
            let place = folder.path().join(format!("a/{number}-{by}"));
            let path = place.to_str().expect("text");
            let more = ["-O", path, "--partition-by", by];
            pj_dump(&[&options[..], &more].concat(), &trace);
            assert_eq!(rows_of_dataset(&place), wanted, "{} {by}", trace.display());
        }
    }
    // A dataset never mixes with older files.
    let mut command = Command::new(env!("CARGO_BIN_EXE_pj_dump"));
    command.arg(&examples("trace")[0]).args(["--partition-by", "time", "-O"]).arg(folder.path());
    let output = command.output().expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(world::said(&output).ends_with("a dataset needs a new folder\n"));
}

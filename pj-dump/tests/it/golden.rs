//! Compares the output for the example traces with recorded output of PajeNG.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tables::examples;
use crate::world::{dump, said};

/// Returns the options for a part of a recorded output's name, as in the examples' README.
fn options(part: &str) -> Vec<&'static str> {
    match part {
        "" => vec![],
        "c" => vec!["-c"],
        "d" => vec!["-d"],
        "i" => vec!["-i"],
        "l9" => vec!["-l", "9"],
        "n" => vec!["-n"],
        "p" => vec!["-p", "power"],
        "u" => vec!["-u"],
        "uh" => vec!["-u", "-h"],
        "ui" => vec!["-u", "-i"],
        "z" => vec!["-z"],
        _ => panic!("no options are known for .{part}.csv"),
    }
}

#[test]
fn examples_are_dumped_as_pajeng_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let mut compared = 0;
    for path in examples("csv") {
        let name = path.file_stem().and_then(OsStr::to_str).expect("names are text");
        let (name, part) = name.split_once('.').unwrap_or((name, ""));
        if name == "unsorted" {
            // The expected rows are those of the sorted trace.
            continue;
        }
        let output = Command::new(env!("CARGO_BIN_EXE_pj_dump"))
            .args(["--quotes", "strip"])
            .args(options(part))
            .arg(folder.join(format!("{name}.trace")))
            .output()
            .expect("the program starts");
        let wanted = fs::read(&path).expect("the recorded output can be read");
        let (found, wanted) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&wanted));
        for (i, (found, wanted)) in found.lines().zip(wanted.lines()).enumerate() {
            assert_eq!(found, wanted, "{}, row {}", path.display(), i + 1);
        }
        assert_eq!(found, wanted, "{}: {}", path.display(), said(&output));
        compared += 1;
    }
    assert!(compared >= 27, "{compared} outputs");
}

#[test]
fn examples_that_need_an_option_are_refused_without_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    for name in ["old-names", "open-links", "unsorted"] {
        let trace = fs::read(folder.join(format!("{name}.trace"))).expect("the example is there");
        let output = dump(&[], &trace);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
    }
}

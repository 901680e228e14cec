//! Recorded output: PajeNG's for the example traces, and our own, written by hand, where PajeNG is wrong.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::{dump, said, trace};

/// The options that a part of a recorded output's name stands for, as the examples' README says.
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
    for path in files(&folder, "csv") {
        let name = path.file_stem().and_then(OsStr::to_str).expect("names are text");
        let (name, part) = name.split_once('.').unwrap_or((name, ""));
        if name == "unsorted" {
            // Its rows are those of the trace sorted by time.
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

/// A case file: what it is about, then for each way to dump its trace the options, the rows and what
/// is said on standard error. `\xNN` stands for a byte. The trace follows the world of `world.rs`,
/// unless it begins with definitions of its own.
///
/// `PAJE_BLESS=1 cargo test -p pj-dump --test it` writes rows and messages anew; read what changed.
#[test]
fn our_own_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("PAJE_BLESS").is_some();
    let paths = files(&folder, "case");
    assert!(paths.len() >= 20, "{} cases", paths.len());
    for path in paths {
        let case = fs::read_to_string(&path).expect("a case is text");
        let mut parts = case.split("\n--- ");
        let about = parts.next().expect("there is a first part");
        let lines = parts.next().and_then(|part| part.strip_prefix("trace\n"));
        let lines = lines.unwrap_or_else(|| panic!("{}: no trace", path.display()));
        let bytes = unescaped(&format!("{lines}\n"));
        // A case about the last line says where it ends.
        let bytes = bytes.strip_suffix(b"\\c\n").unwrap_or(&bytes);
        let bytes = if lines.starts_with("%EventDef") { bytes.to_vec() } else { trace(bytes) };
        let mut anew = format!("{about}\n--- trace\n{lines}");
        for part in parts {
            let options = part.lines().next().expect("the options");
            let options = options.strip_prefix("pj_dump").expect("each way begins with pj_dump");
            let output = dump(&options.split_whitespace().collect::<Vec<_>>(), &bytes);
            let status = output.status.code().expect("the program ends by itself");
            let mut text = format!("pj_dump{options}\n{}", escaped(&output.stdout));
            for line in said(&output).lines() {
                text.push_str(&format!("| {line}\n"));
            }
            if status != 0 {
                text.push_str(&format!("exit status {status}\n"));
            }
            let text = text.trim_end_matches('\n');
            anew.push_str(&format!("\n--- {text}"));
            if !bless {
                assert_eq!(text, part.trim_end_matches('\n'), "{}", path.display());
            }
        }
        if bless {
            fs::write(&path, format!("{}\n", anew.trim_end_matches('\n'))).expect("writable");
        }
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension() == Some(OsStr::new(extension)));
    paths.sort();
    paths
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).expect("two hexadecimal digits"));
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push('\n'),
                c if c.is_control() => text.push_str(&format!("\\x{:02x}", c as u32)),
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

//! Tests the files and messages of the program.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// Runs the program. Returns its exit status, standard output and standard error.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (i32, Vec<u8>, String) {
    let output = Command::cargo_bin("pj_pack")
        .unwrap()
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

fn examples() -> Vec<std::path::PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "trace")).collect();
    paths.sort();
    assert!(paths.len() > 5);
    paths
}

/// Returns a folder with a trace, and the packed trace.
fn packed() -> (TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let text = datasets::generate(datasets::Shape::Mpi, 200_000, 3);
    fs::write(folder.path().join("t.trace"), &text).unwrap();
    assert_eq!(run(folder.path(), &["t.trace"]), (0, Vec::new(), String::new()));
    (folder, text)
}

#[test]
fn the_bytes_come_back() {
    let folder = tempfile::tempdir().unwrap();
    for path in examples() {
        let text = fs::read(&path).unwrap();
        let from = path.to_str().unwrap();
        assert_eq!(run(folder.path(), &[from, "-o", "t.pjp", "--segment", "4K"]).0, 0, "{from}");
        let (status, back, said) = run(folder.path(), &["--unpack", "t.pjp"]);
        assert_eq!((status, said.as_str()), (0, ""));
        assert!(back == text, "{from}");
        assert_eq!(run(folder.path(), &["--test", "t.pjp"]), (0, Vec::new(), String::new()));
    }
}

#[test]
fn threads_make_no_difference() {
    let (folder, _) = packed();
    let packed = |threads: &str| {
        run(folder.path(), &["t.trace", "-o", "-", "--segment", "20K", "--threads", threads]).1
    };
    let one = packed("1");
    assert!(one.len() > 1000);
    for threads in ["2", "3", "8"] {
        assert!(packed(threads) == one);
    }
    fs::write(folder.path().join("t.pjp"), &one).unwrap();
    for threads in ["1", "3"] {
        let (_, back, _) = run(folder.path(), &["-u", "t.pjp", "--threads", threads]);
        assert!(back == fs::read(folder.path().join("t.trace")).unwrap());
    }
}

#[test]
fn compressed_and_packed_traces_are_packed() {
    let (folder, text) = packed();
    for compression in testkit::COMPRESSIONS {
        let name = format!("c.trace.{}", if compression == "gzip" { "gz" } else { "x" });
        fs::write(folder.path().join(&name), testkit::pack(compression, &text)).unwrap();
        assert_eq!(run(folder.path(), &[&name, "-o", "c.pjp"]).0, 0);
        assert!(run(folder.path(), &["-u", "c.pjp"]).1 == text);
    }
    // The default name of the output lacks the suffix of the compression.
    assert_eq!(run(folder.path(), &["c.trace.gz"]).0, 0);
    assert!(
        fs::read(folder.path().join("c.trace.pjp")).unwrap()
            == fs::read(folder.path().join("c.pjp")).unwrap()
    );
    assert_eq!(run(folder.path(), &["c.pjp", "-o", "again.pjp"]).0, 0);
    assert!(
        fs::read(folder.path().join("again.pjp")).unwrap()
            == fs::read(folder.path().join("c.pjp")).unwrap()
    );
}

#[test]
fn standard_input_and_output() {
    let (folder, text) = packed();
    let through = |arguments: &[&str], bytes: &[u8]| {
        let mut command = Command::cargo_bin("pj_pack").unwrap();
        command.args(arguments).write_stdin(bytes).output().unwrap().stdout
    };
    let packed = through(&["-", "-o", "-"], &text);
    assert!(packed == fs::read(folder.path().join("t.trace.pjp")).unwrap());
    assert!(through(&["-u", "-"], &packed) == text);
    let (status, _, said) = run(folder.path(), &["-"]);
    assert_eq!(
        (status, said.as_str()),
        (2, "pj_pack: standard input needs -o OUT, the file to write (`-` for standard output)\n")
    );
}

#[test]
fn damage_is_reported_with_its_offset() {
    let (folder, _) = packed();
    let good = fs::read(folder.path().join("t.trace.pjp")).unwrap();
    for (damaged, says) in [
        (good[..good.len() - 1].to_vec(), "too early"),
        ([&good[..500], &[good[500] ^ 1], &good[501..]].concat(), "checksum"),
        (b"%EventDef".to_vec(), "ends too early"),
        (vec![b'x'; 100], "this is not a packed trace"),
    ] {
        fs::write(folder.path().join("bad.pjp"), damaged).unwrap();
        for option in ["--unpack", "--test", "--list", "--structure"] {
            let (status, _, said) = run(folder.path(), &[option, "bad.pjp"]);
            assert_eq!(status, 2, "{option}: {said}");
            assert!(said.contains("bad.pjp") && said.contains(says), "{option}: {said}");
        }
        let (status, _, said) = run(folder.path(), &["--unpack", "bad.pjp", "-o", "out.trace"]);
        assert!(status == 2 && !folder.path().join("out.trace").exists(), "{said}");
    }
    let (status, _, said) = run(folder.path(), &["missing.trace"]);
    assert!(
        status == 2
            && said.contains("missing.trace")
            && !folder.path().join("missing.trace.pjp").exists()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing() {
    let (folder, _) = packed();
    let (status, _, said) = run(folder.path(), &["t.trace", "-o", "/dev/full"]);
    assert!(status == 2 && said.contains("/dev/full"), "{said}");
}

#[test]
fn the_contents_are_listed() {
    let (folder, text) = packed();
    let (status, table, said) = run(folder.path(), &["--list", "t.trace.pjp"]);
    assert_eq!((status, said.as_str()), (0, ""));
    let table = String::from_utf8(table).unwrap();
    assert!(table.contains("PajePushState") && table.contains("lines by container"), "{table}");
    let (_, json, _) = run(folder.path(), &["--list", "--format", "json", "t.trace.pjp"]);
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["text_bytes"], text.len());
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(json["lines"], lines);
    let packed = fs::read(folder.path().join("t.trace.pjp")).unwrap();
    assert_eq!(json["packed_bytes"], packed.len());
    let pages = json["page_bytes"].as_object().unwrap().values();
    assert_eq!(pages.map(|size| size.as_u64().unwrap()).sum::<u64>(), packed.len() as u64);
    // The number of pushes is the same as in the text.
    let pushes = text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"12 ")).count();
    assert_eq!(json["events"]["PajePushState"], pushes);
    // Lines are counted by the identifiers of containers and types.
    let rank = json["containers"].as_array().unwrap().iter().find(|it| it["name"] == "rank-0");
    let rank = rank.unwrap();
    assert_eq!(rank["type"], "MPI");
    let id = rank["id"].as_str().unwrap();
    let words = |line: &[u8]| String::from_utf8_lossy(line).split(' ').map(String::from).collect();
    let lines: Vec<Vec<String>> = text.split(|byte| *byte == b'\n').map(words).collect();
    let times = lines.iter().filter(|words| ["11", "12", "13", "14"].contains(&words[0].as_str()));
    let states = times.clone().filter(|words| words[3] == id).count() as u64;
    assert!(states > 100 && rank["lines"].as_u64().unwrap() >= states, "{rank} {states}");
    let state = json["types"].as_array().unwrap().iter().find(|it| it["nature"] == "State");
    let of_state = times.filter(|words| words[2] == state.unwrap()["id"].as_str().unwrap());
    assert_eq!(state.unwrap()["lines"].as_u64().unwrap(), of_state.count() as u64);
}

/// Only the sizes of pages depend on the number of segments and on how segments are stored.
#[test]
fn segments_make_no_difference_to_what_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    for path in examples() {
        let from = path.to_str().unwrap();
        let listed = |segment: &str| {
            let made =
                run(folder.path(), &[from, "-o", "t.pjp", "--segment", segment, "--no-summary"]);
            assert_eq!(made.0, 0, "{from}");
            let (status, json, said) = run(folder.path(), &["--list", "--format", "json", "t.pjp"]);
            assert_eq!((status, said.as_str()), (0, ""), "{from}");
            let mut json: serde_json::Value = serde_json::from_slice(&json).unwrap();
            for page in ["segments", "page_bytes", "packed_bytes"] {
                json[page].take();
            }
            json
        };
        assert_eq!(listed("4K"), listed("64M"), "{from}");
    }
}

#[test]
fn wrong_usage() {
    let (folder, _) = packed();
    for (arguments, says) in [
        (&["a", "b", "-o", "c"][..], "-o names a single file"),
        (&["--unpack", "--test", "a"], "cannot be used with"),
        (&["a", "--segment", "1G"], "4K to 64M"),
        (&[], "is missing"),
    ] {
        let (status, _, said) = run(folder.path(), arguments);
        assert!(status == 2 && said.contains(says), "{arguments:?}: {said}");
    }
}

//! Kinds of input: they make no difference to what is told of a trace.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pj_validate::{Options, check};
use splitter::Input;
use tempfile::TempDir;

use crate::program::{outcome, run, text, used};
use crate::world::SOUND;
use testkit::{COMPRESSIONS, pack};

/// Errors and warnings, some of which are known only at the end, about lines near the beginning, next
/// to one another, and more than a buffer apart.
fn unsound() -> Vec<u8> {
    let many: String =
        (6..16_000).map(|i| format!("14 {i} Load p {}\n", i * 7919 % 1000)).collect();
    let lines = format!(
        "6 high State \"high tide\" ff0000\n6 low State \"low tide\" 0000ff\n\
         10 0 State p w\n10 1 Status p w\n{many}11 5 State q wait\n10 2 State q w\n99 1\n"
    );
    used(&lines).into_bytes()
}

fn piped(arguments: &[&str], trace: &[u8]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("pj_validate").unwrap();
    command.args(arguments).write_stdin(trace).output().unwrap()
}

#[test]
fn compressed_traces_are_told_of_as_plain_ones() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t");
    for (trace, status) in [(used(SOUND).into_bytes(), 0), (unsound(), 1)] {
        for arguments in [&["-cd", "t"][..], &["-qc", "t"], &["--json", "-c", "t"]] {
            let arguments_of_standard_input = &arguments[..arguments.len() - 1];
            fs::write(&path, &trace).unwrap();
            let plain = run(folder.path(), arguments);
            let plain_piped = piped(arguments_of_standard_input, &trace);
            assert_eq!(plain.status.code(), Some(status));
            if status == 1 {
                assert!(text(&plain.stdout).contains("high tide"), "a line that had passed");
            }
            let (first, second) = trace.split_at(trace.len() / 3);
            // Packed traces are not joined.
            let joined = COMPRESSIONS.into_iter().filter(|how| *how != "pjp");
            let halves: Vec<_> =
                joined.map(|how| [pack(how, first), pack(how, second)].concat()).collect();
            let whole = COMPRESSIONS.map(|how| pack(how, &trace));
            for packed in whole.iter().chain(&halves) {
                fs::write(&path, packed).unwrap();
                assert_eq!(outcome(&run(folder.path(), arguments)), outcome(&plain));
                let output = piped(arguments_of_standard_input, packed);
                assert_eq!(outcome(&output), outcome(&plain_piped));
            }
        }
    }
}

#[test]
fn compressed_data_that_are_cut_or_damaged() {
    let folder = TempDir::new().unwrap();
    let trace = unsound();
    for how in COMPRESSIONS {
        let whole = pack(how, &trace);
        let cut = whole[..whole.len() / 2].to_vec();
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 0x10;
        let longer = [&whole[..], b"% and then?\n"].concat();
        for (packed, reason) in [
            (cut, "end too early"),
            (whole[..7].to_vec(), "end too early"),
            (damaged, "are damaged ("),
            (longer, ""),
        ] {
            fs::write(folder.path().join("t"), &packed).unwrap();
            for arguments in [&["t"][..], &["--json", "t"]] {
                let output = run(folder.path(), arguments);
                let (status, stdout, stderr) = outcome(&output);
                assert_eq!((status, stdout), (2, ""), "{how}: {stderr}");
                let start = format!("pj_validate: t: {how}: the compressed data {reason}");
                assert!(stderr.starts_with(&start), "{stderr}");
                assert_eq!(stderr.lines().count(), 1, "{stderr}");
            }
            let output = piped(&[], &packed);
            let (status, stdout, stderr) = outcome(&output);
            assert_eq!((status, stdout), (2, ""), "{how}: {stderr}");
            let start = format!("pj_validate: standard input: {how}: the compressed data {reason}");
            assert!(stderr.starts_with(&start), "{stderr}");
        }
    }
}

/// Used to wait for ever: the pipe was opened again to fetch lines that had passed.
#[cfg(target_os = "linux")]
#[test]
fn a_named_pipe_is_not_read_twice() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pipe");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let trace = unsound();
    let wanted = text(&piped(&[], &trace).stdout).replace("<stdin>", "pipe");
    for bytes in [trace.clone(), pack("gzip", &trace), pack("xz", &trace)] {
        let to = path.clone();
        let writer = std::thread::spawn(move || {
            File::options().write(true).open(to).unwrap().write_all(&bytes).unwrap();
        });
        assert_eq!(outcome(&run(folder.path(), &["pipe"])), (1, wanted.as_str(), ""));
        writer.join().unwrap();
    }
}

#[test]
fn standard_input_is_read_from_where_it_stands() {
    let trace = unsound();
    let wanted = piped(&[], &trace);
    for how in ["none", "gzip", "zstd"] {
        let bytes = if how == "none" { trace.clone() } else { pack(how, &trace) };
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a line that another program has read\n").unwrap();
        let place = file.stream_position().unwrap();
        file.write_all(&bytes).unwrap();
        file.seek(SeekFrom::Start(place)).unwrap();
        let output = program().stdin(file).output().unwrap();
        assert_eq!(outcome(&output), outcome(&wanted), "{how}");
    }
}

#[test]
fn a_folder_is_no_trace() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    let wanted = format!("pj_validate: {path}: Is a directory\n");
    assert_eq!(outcome(&run(folder.path(), &[path])), (2, "", wanted.as_str()));
    let output = program().stdin(File::open(path).unwrap()).output().unwrap();
    let wanted = "pj_validate: standard input: Is a directory\n";
    assert_eq!(outcome(&output), (2, "", wanted));
}

#[test]
fn a_file_that_becomes_shorter_is_no_shorter_trace() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t");
    let trace = unsound();
    for left in [0, 1, trace.len() as u64 / 2] {
        fs::write(&path, &trace).unwrap();
        let input = Input::open(Some(Path::new(&path))).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(left).unwrap();
        let error = check(input, &Options::default()).unwrap_err();
        assert_eq!(error.to_string(), "the file became shorter while it was being read");
    }
}

fn program() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pj_validate"));
    command.stdin(Stdio::null());
    command
}

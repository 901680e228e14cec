//! Faults, each really injected: what fails is told, with status 2 and no verdict.

use std::fs::{self, File};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use testkit::ended;
use testkit::signal::{INT, TERM, is_ignored, send};

use crate::program::outcome;
use crate::world::trace;

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("pj_validate"))
}

/// A trace of some megabytes with a value for each line.
fn large() -> Vec<u8> {
    let lines: String = (0..100_000).map(|i| format!("10 {i} State p value{i}\n")).collect();
    trace(&lines).into_bytes()
}

/// The other end of a connection is closed with something unread.
#[test]
fn input_that_fails_in_the_middle() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut other, _) = listener.accept().unwrap();
    ours.write_all(b"unread").unwrap();
    let writer = std::thread::spawn(move || {
        other.peek(&mut [0]).unwrap();
        other.write_all(&large()).unwrap();
        // Bytes that are still on their way would be lost.
        std::thread::sleep(Duration::from_millis(200));
    });
    let output = program().stdin(OwnedFd::from(ours)).output().unwrap();
    writer.join().unwrap();
    let wanted = "pj_validate: standard input: Connection reset by peer\n";
    assert_eq!(outcome(&output), (2, "", wanted));
}

#[cfg(target_os = "linux")]
#[test]
fn no_room_for_the_report() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("t"), large()).unwrap();
    for options in [&[][..], &["--json"], &["-c"], &["--help"], &["--version"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = program();
        let command = command.args(options).arg("t").current_dir(folder.path()).stdout(full);
        let wanted = "pj_validate: standard output: No space left on device\n";
        assert_eq!(outcome(&command.output().unwrap()), (2, "", wanted), "{options:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_closed() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("t"), large()).unwrap();
    for options in ["", "--json", "--help"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {options} t >&-")]);
        shell.arg(assert_cmd::cargo::cargo_bin!("pj_validate")).current_dir(folder.path());
        let wanted = "pj_validate: standard output: Bad file descriptor\n";
        assert_eq!(outcome(&shell.output().unwrap()), (2, "", wanted), "{options:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_is_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("t"), large()).unwrap();
    let mut refused = 0;
    for mebibytes in [12, 16, 20, 24, 32, 200] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {}; exec \"$0\" t", mebibytes << 10)]);
        shell.arg(assert_cmd::cargo::cargo_bin!("pj_validate")).current_dir(folder.path());
        let output = shell.output().unwrap();
        if output.status.code().is_none() {
            // Too little for the C library to load the program, or to start a thread: it aborts.
            let stderr = String::from_utf8_lossy(&output.stderr);
            let is_of_libc = stderr.is_empty() || stderr.contains("Fatal glibc error: ");
            assert!(is_of_libc && output.stdout.is_empty(), "{mebibytes} MiB: {stderr}");
            continue;
        }
        let (status, stdout, stderr) = outcome(&output);
        match status {
            0 => assert!(stdout.contains("is sound"), "{mebibytes} MiB: {stdout}"),
            // The program cannot be loaded.
            127 => {}
            _ => {
                assert_eq!((status, stdout), (2, ""), "{mebibytes} MiB: {stderr}");
                assert!(stderr.starts_with("pj_validate: not enough memory ("), "{stderr}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn signals_end_the_program() {
    for number in [INT, TERM].into_iter().filter(|signal| !is_ignored(*signal)) {
        let mut command = program();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&large()).unwrap();
        assert!(send(&child, number));
        let output = ended(child);
        drop(stdin);
        assert_eq!(output.status.signal(), Some(number));
        assert!(output.stdout.is_empty() && output.stderr.is_empty());
    }
}

#[test]
fn lines_that_are_longer_than_allowed() {
    let folder = TempDir::new().unwrap();
    let text = trace(&format!("10 0 State p {}\n10 1 State p short\n", "x".repeat(3000)));
    fs::write(folder.path().join("t"), &text).unwrap();
    let line = trace("").lines().count() + 1;
    for (size, status) in [("2K", 1), ("1K", 1), ("4K", 0), ("1GiB", 0)] {
        let mut command = program();
        let output = command.args(["--max-line", size, "t"]).current_dir(folder.path()).output();
        let output = output.unwrap();
        let (found, stdout, _) = outcome(&output);
        assert_eq!(found, status, "{size}: {stdout}");
        let wanted = format!("t:{line}:1: error[line-too-long]: the line is longer than");
        assert_eq!(stdout.contains(&wanted), status == 1, "{size}: {stdout}");
    }
}

//! Injected faults. The message describes the failure, the status is 2, and there is no verdict.

use std::os::unix::process::ExitStatusExt;

use testkit::signal::{INT, TERM, ended_by, is_ignored};
use testkit::{failing_input, outcome};

use crate::world::{sandbox, trace};

fn large() -> Vec<u8> {
    let lines: String = (0..100_000).map(|i| format!("10 {i} State p value{i}\n")).collect();
    trace(&lines).into_bytes()
}

#[test]
fn input_that_fails_in_the_middle_is_reported() {
    let output = failing_input(sandbox(&[]).command(&[]), &large());
    let wanted = "pj_validate: standard input: Connection reset by peer\n";
    assert_eq!(outcome(&output), (2, String::new(), wanted.into()));
}

#[cfg(target_os = "linux")]
#[test]
fn refused_memory_ends_the_program() {
    let folder = sandbox(&[("t", &large())]);
    let mut refused = 0;
    for mebibytes in [12, 16, 20, 24, 32, 200] {
        let output = folder.shell(&format!("ulimit -v {}; exec \"$0\" t", mebibytes << 10));
        if output.status.code().is_none() {
            // The C library aborts if it cannot load the program or start a thread.
            let stderr = String::from_utf8_lossy(&output.stderr);
            let is_of_libc = stderr.is_empty() || stderr.contains("Fatal glibc error: ");
            assert!(is_of_libc && output.stdout.is_empty(), "{mebibytes} MiB: {stderr}");
            continue;
        }
        let (status, stdout, stderr) = outcome(&output);
        match status {
            0 => assert!(stdout.contains("is sound"), "{mebibytes} MiB: {stdout}"),
            127 => {}
            _ => {
                assert_eq!((status, &*stdout), (2, ""), "{mebibytes} MiB: {stderr}");
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
        let output = ended_by(number, sandbox(&[]).command(&[]), &large());
        assert_eq!(output.status.signal(), Some(number));
        assert!(output.stdout.is_empty() && output.stderr.is_empty());
    }
}

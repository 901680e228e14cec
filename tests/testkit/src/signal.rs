//! Signals, sent to programs as a shell sends them.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// SIGHUP.
pub const HUP: i32 = 1;
/// SIGINT.
pub const INT: i32 = 2;
/// SIGKILL, which no program can ignore.
pub const KILL: i32 = 9;
/// SIGTERM.
pub const TERM: i32 = 15;

/// A command that runs a program with SIGINT at its default, even if the tests run with SIGINT ignored, as a background
/// job of a shell does. Uses `env` of GNU coreutils.
pub fn interruptible(program: impl AsRef<OsStr>) -> Command {
    if is_set_to_be_ignored(INT) { interruptible_again(program) } else { Command::new(program) }
}

fn interruptible_again(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(program);
    command
}

/// Whether programs started from here ignore this signal from the beginning, as those of a background job of a shell do;
/// then a test has to be skipped. False where the system does not say.
pub fn is_ignored(signal: i32) -> bool {
    let is_ignored = is_set_to_be_ignored(signal);
    if is_ignored {
        eprintln!("skipped: the tests run with signal {signal} ignored");
    }
    is_ignored
}

fn is_set_to_be_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

/// Sends a signal to a child process; returns whether it was still there.
pub fn send(child: &Child, signal: i32) -> bool {
    let (signal, id) = (signal.to_string(), child.id().to_string());
    Command::new("kill").args(["-s", &signal, &id]).output().expect("kill starts").status.success()
}

/// Output of a program that gets a signal when it has read this input, and waits for more.
pub fn ended_by(signal: i32, mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    // More than a pipe holds: once it is written, most has been read.
    stdin.write_all(input).expect("the program reads");
    assert!(send(&child, signal));
    let output = crate::ended(child);
    drop(stdin);
    output
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A shell that starts with SIGINT ignored cannot undo that by itself.
    #[test]
    fn an_ignored_interrupt_is_heeded_again() {
        let ends = |inner: &Command| {
            let mut outer = Command::new("sh");
            outer.args(["-c", "trap '' INT; exec \"$@\"", "sh"]);
            outer.arg(inner.get_program()).args(inner.get_args());
            let ended = outer.args(["-c", "kill -s INT $$"]).status().expect("sh is there");
            std::os::unix::process::ExitStatusExt::signal(&ended) == Some(INT)
        };
        assert!(!ends(&Command::new("sh")));
        assert!(ends(&interruptible_again("sh")));
    }
}

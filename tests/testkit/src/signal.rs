//! Sends signals to programs.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};

/// SIGHUP.
pub const HUP: i32 = 1;
/// SIGINT.
pub const INT: i32 = 2;
/// SIGKILL, which cannot be ignored.
pub const KILL: i32 = 9;
/// SIGTERM.
pub const TERM: i32 = 15;

/// Returns a command that runs a program with the default action for SIGINT, even if the tests run
/// with SIGINT ignored, like a background job of a shell. Uses `env` of GNU coreutils.
pub fn interruptible(program: impl AsRef<OsStr>) -> Command {
    if is_set_to_be_ignored(INT) { interruptible_again(program) } else { Command::new(program) }
}

fn interruptible_again(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(program);
    command
}

/// Returns whether started programs ignore this signal, like background jobs of a shell, so that a
/// test must be skipped. Returns false if this cannot be determined.
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

/// Sends a signal to a child process. Returns whether the process still existed.
pub fn send(child: &Child, signal: i32) -> bool {
    let (signal, id) = (signal.to_string(), child.id().to_string());
    Command::new("kill").args(["-s", &signal, &id]).output().expect("kill starts").status.success()
}

/// Runs a program, and sends it a signal after it has read this input, while it waits for more.
pub fn ended_by(signal: i32, mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("it was asked for");
    // The input is larger than a pipe, so most of it has been read when the write returns.
    stdin.write_all(input).expect("the program reads");
    assert!(send(&child, signal));
    let output = crate::ended(child);
    drop(stdin);
    output
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_interrupt_is_enabled_again() {
        let ends = |inner: &Command| {
            let mut outer = Command::new("sh");
            outer.args(["-c", "trap '' INT; exec \"$@\"", "sh"]);
            outer.arg(inner.get_program()).args(inner.get_args());
            let ended = outer.args(["-c", "kill -s INT $$"]).status().expect("sh can be started");
            std::os::unix::process::ExitStatusExt::signal(&ended) == Some(INT)
        };
        assert!(!ends(&Command::new("sh")));
        assert!(ends(&interruptible_again("sh")));
    }
}

//! Signals, sent to programs as a shell sends them.

use std::process::{Child, Command};

/// SIGHUP.
pub const HUP: i32 = 1;
/// SIGINT.
pub const INT: i32 = 2;
/// SIGKILL, which no program can ignore.
pub const KILL: i32 = 9;
/// SIGTERM.
pub const TERM: i32 = 15;

/// Tells whether programs that are started from here begin with this signal ignored, as those of a job that a
/// shell put in the background do; then a test has to be left out. Where the system does not say: no.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    let is_ignored = ignored.is_some_and(|set| set >> (signal - 1) & 1 == 1);
    if is_ignored {
        eprintln!("skipped: who runs the tests has signal {signal} ignored");
    }
    is_ignored
}

/// Sends a signal to a program that we started; whether it was still there.
pub fn send(child: &Child, signal: i32) -> bool {
    let (signal, id) = (signal.to_string(), child.id().to_string());
    Command::new("kill").args(["-s", &signal, &id]).output().expect("kill starts").status.success()
}

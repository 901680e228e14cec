//! Signals that are ignored when a program starts.

use std::fs;

/// Returns the signals that were ignored when the program started, by bit; none where the system does not say.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Returns those of these signals that are not ignored already, as under `nohup`; ignored ones must stay so.
pub fn heeded(signals: impl IntoIterator<Item = i32>) -> impl Iterator<Item = i32> {
    let ignored = ignored();
    signals.into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

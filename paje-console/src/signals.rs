//! Finds the signals that are ignored when a program starts.

use std::fs;

/// Returns a bit set of the signals that are ignored. The set is empty if the system does not
/// report them.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Yields those of the given signals that are not ignored. Ignored signals must stay ignored, for
/// example under `nohup`.
pub fn heeded(signals: impl IntoIterator<Item = i32>) -> impl Iterator<Item = i32> {
    let ignored = ignored();
    signals.into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

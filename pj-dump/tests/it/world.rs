//! Event definitions, types and containers that the tests' traces share, and functions that dump
//! these traces.

use std::process::{Command, Output};

use datasets::{EVENTS, WORLD};
use testkit::Sandbox;
pub(crate) use testkit::said;

pub(crate) fn header() -> String {
    testkit::definitions(EVENTS)
}

pub(crate) fn trace(lines: &[u8]) -> Vec<u8> {
    [header().as_bytes(), WORLD.as_bytes(), lines].concat()
}

/// Returns the number of lines that precede the lines given to [`trace`].
pub(crate) fn lines_before() -> u64 {
    trace(b"").iter().filter(|byte| **byte == b'\n').count() as u64
}

pub(crate) fn dump(options: &[&str], trace: &[u8]) -> Output {
    testkit::fed(Command::new(env!("CARGO_BIN_EXE_pj_dump")).args(options), trace)
}

pub(crate) fn sandbox(files: &[(&str, &[u8])]) -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_pj_dump"), files)
}

//! Tests that rows in portions equal those of the whole trace, with one worker and with several.

use crate::agree;

pub fn run(trace: &[u8]) {
    let byte = |from_end: usize| trace.iter().rev().nth(from_end).copied().unwrap_or(0);
    agree::portions(trace, &crate::options(byte(0)), byte(0), byte(1), byte(2));
}

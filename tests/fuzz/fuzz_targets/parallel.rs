//! Tests that rows in portions equal those of the whole trace, with one worker and with several.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::agree;

fuzz_target!(|trace: &[u8]| {
    let byte = |from_end: usize| trace.iter().rev().nth(from_end).copied().unwrap_or(0);
    agree::portions(trace, &paje_fuzz::options(byte(0)), byte(0), byte(1), byte(2));
});

//! Tests that reports from portions and with several workers equal those from the whole trace and
//! with one worker.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::reports;

fuzz_target!(|bytes: &[u8]| {
    let byte = |from_end: usize| bytes.iter().rev().nth(from_end).copied().unwrap_or(0);
    let options = paje_fuzz::options(byte(0));
    if bytes.starts_with(b"%") {
        reports::agree(bytes, options, byte(1), byte(2));
    } else {
        reports::agree(&paje_fuzz::structured(bytes), options, byte(1), byte(2));
    }
});

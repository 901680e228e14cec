//! Tests that the replay agrees with the checker.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::agree;

fuzz_target!(|trace: &[u8]| {
    agree::verdict(trace, &paje_fuzz::options(trace.last().copied().unwrap_or(0)));
});

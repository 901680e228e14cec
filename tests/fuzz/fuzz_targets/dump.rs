//! Tests that rows do not depend on the size of blocks and the number of workers.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::agree;

fuzz_target!(|trace: &[u8]| {
    let byte = trace.last().copied().unwrap_or(0);
    agree::blocks(trace, &paje_fuzz::options(byte), byte, trace.len() as u8);
});

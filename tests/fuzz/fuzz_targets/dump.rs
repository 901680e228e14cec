//! Rows in blocks of several sizes, with one worker and with several.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::agree;

fuzz_target!(|trace: &[u8]| {
    let byte = trace.last().copied().unwrap_or(0);
    agree::blocks(trace, &paje_fuzz::options(byte), byte, trace.len() as u8);
});

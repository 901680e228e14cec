//! Tests that the pieces of a trace together have the rows of the trace.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::pieces;

fuzz_target!(|bytes: &[u8]| {
    let byte = |from_end: usize| bytes.iter().rev().nth(from_end).copied().unwrap_or(0);
    let (mut options, choice) = (paje_fuzz::options(byte(0)), byte(1));
    options.recover = byte(0) & 0x10 != 0 && !bytes.is_empty();
    if bytes.starts_with(b"%") {
        pieces::agree(bytes, &options, choice);
    } else {
        pieces::agree(&paje_fuzz::structured(bytes), &options, choice);
    }
});

//! Tests that the pieces of a trace together have the rows of the trace.

use crate::pieces;

pub fn run(bytes: &[u8]) {
    let byte = |from_end: usize| bytes.iter().rev().nth(from_end).copied().unwrap_or(0);
    let (mut options, choice) = (crate::options(byte(0)), byte(1));
    options.recover = byte(0) & 0x10 != 0 && !bytes.is_empty();
    if bytes.starts_with(b"%") {
        pieces::agree(bytes, &options, choice);
    } else {
        pieces::agree(&crate::structured(bytes), &options, choice);
    }
}

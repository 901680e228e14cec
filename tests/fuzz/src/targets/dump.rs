//! Tests that rows do not depend on the size of blocks and the number of workers.

use crate::agree;

pub fn run(trace: &[u8]) {
    let byte = trace.last().copied().unwrap_or(0);
    agree::blocks(trace, &crate::options(byte), byte, trace.len() as u8);
}

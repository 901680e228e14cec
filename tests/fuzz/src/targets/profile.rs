//! Tests that reports from portions and with several workers equal those from the whole trace and
//! with one worker.

use crate::reports;

pub fn run(bytes: &[u8]) {
    let byte = |from_end: usize| bytes.iter().rev().nth(from_end).copied().unwrap_or(0);
    let options = crate::options(byte(0));
    if bytes.starts_with(b"%") {
        reports::agree(bytes, options, byte(1), byte(2));
    } else {
        reports::agree(&crate::structured(bytes), options, byte(1), byte(2));
    }
}

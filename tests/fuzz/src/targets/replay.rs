//! Tests that the replay agrees with the checker.

use crate::agree;

pub fn run(trace: &[u8]) {
    agree::verdict(trace, &crate::options(trace.last().copied().unwrap_or(0)));
}

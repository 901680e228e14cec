//! Tests that the replay agrees with the checker on random damaged traces.

use crate::agree;

pub fn run(bytes: &[u8]) {
    let byte = bytes.first().copied().unwrap_or(0);
    agree::verdict(&crate::structured(bytes), &crate::options(byte));
}

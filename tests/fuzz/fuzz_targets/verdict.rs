//! Tests that the replay agrees with the checker on random damaged traces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::agree;

fuzz_target!(|bytes: &[u8]| {
    let byte = bytes.first().copied().unwrap_or(0);
    agree::verdict(&paje_fuzz::structured(bytes), &paje_fuzz::options(byte));
});

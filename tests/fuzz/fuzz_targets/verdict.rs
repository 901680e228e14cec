//! The replay beside the checker, on random traces with some damage.

#![no_main]

use libfuzzer_sys::fuzz_target;
use paje_fuzz::agree;

fuzz_target!(|bytes: &[u8]| {
    let byte = bytes.first().copied().unwrap_or(0);
    agree::verdict(&paje_fuzz::structured(bytes), &paje_fuzz::options(byte));
});

//! Requests to `pj_view`: who is answered knows the token, and a head is the same in any pieces.

#![no_main]

#[path = "../../../pj-view/tests/it/heads.rs"]
mod heads;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| heads::check(bytes));

//! Tests that `pj_view` answers only requests with its token, and that a request's head may arrive
//! in any pieces.

#![no_main]

#[path = "../../../pj-view/tests/it/heads.rs"]
mod heads;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| heads::check(bytes));

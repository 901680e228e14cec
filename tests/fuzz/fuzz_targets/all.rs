//! All targets. The variable `PAJE_TARGET` names the one to run.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use paje_fuzz::targets::{ALL, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let wanted = std::env::var("PAJE_TARGET").unwrap_or_default();
    let found = ALL.iter().find(|(name, _)| *name == wanted);
    found.unwrap_or_else(|| panic!("PAJE_TARGET={wanted} names no target")).1
});

fuzz_target!(|bytes: &[u8]| TARGET(bytes));

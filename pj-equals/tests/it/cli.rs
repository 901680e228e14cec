//! Checks command lines against their output, recorded in the text file.

use std::path::Path;

use testkit::check_sessions;

use crate::world::{WORLD, trace};

#[test]
fn command_lines_print_as_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cli.txt");
    check_sessions(env!("CARGO_BIN_EXE_pj_equals"), &trace(WORLD), &path);
}

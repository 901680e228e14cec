//! Checks command lines against their output, recorded in the text files.

use std::path::Path;

use testkit::check_sessions;

use crate::world::trace;

fn check(file: &str) {
    let head = String::from_utf8(trace(b"")).expect("text");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(file);
    check_sessions(env!("CARGO_BIN_EXE_pj_dump"), &head, &path);
}

#[test]
fn command_lines_print_as_recorded() {
    check("cli.txt");
}

#[test]
fn pj_dump_csv_prints_as_recorded() {
    check("csv.txt");
}

#[test]
fn traces_in_several_files_print_as_recorded() {
    check("files.txt");
}

#[test]
fn unusual_inputs_print_as_recorded() {
    check("strangers.txt");
}

#[test]
fn rows_and_messages_are_as_recorded() {
    check("golden.txt");
}

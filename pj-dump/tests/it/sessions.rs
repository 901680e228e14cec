//! Command lines of the program, and what they print: see the text files.

use std::path::Path;

use testkit::check_sessions;

use crate::world::trace;

fn check(file: &str) {
    let head = String::from_utf8(trace(b"")).expect("text");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(file);
    check_sessions(env!("CARGO_BIN_EXE_pj_dump"), &head, &path);
}

#[test]
fn command_lines() {
    check("cli.txt");
}

#[test]
fn pj_dump_csv() {
    check("csv.txt");
}

#[test]
fn traces_in_many_files() {
    check("files.txt");
}

#[test]
fn traces_of_strangers() {
    check("strangers.txt");
}

#[test]
fn rows_and_messages() {
    check("golden.txt");
}

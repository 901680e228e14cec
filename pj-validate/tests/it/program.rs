//! Command lines of the program, and what they print: see the text files.

use std::path::Path;

use testkit::check_sessions;

use crate::world::{sandbox, trace, used};

fn check(file: &str, head: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(file);
    check_sessions(env!("CARGO_BIN_EXE_pj_validate"), head, &path);
}

#[test]
fn command_lines() {
    check("program.txt", &used(""));
}

#[test]
fn traces_in_many_files() {
    check("files.txt", &trace(""));
}

#[test]
#[cfg(unix)]
fn no_permission() {
    use std::os::unix::fs::PermissionsExt;
    let folder = sandbox(&[("t", b"")]);
    std::fs::set_permissions(folder.path("t"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(folder.path("t")).is_ok() {
        return; // The superuser may read everything.
    }
    let wanted = "pj_validate: t: Permission denied\n";
    assert_eq!(folder.run(&["t"]), (2, String::new(), wanted.into()));
}

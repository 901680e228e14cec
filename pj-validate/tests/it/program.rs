//! Checks command lines against their output, recorded in the text files.

use std::path::Path;

use testkit::check_sessions;

use crate::world::{sandbox, trace, used};

fn check(file: &str, head: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(file);
    check_sessions(env!("CARGO_BIN_EXE_pj_validate"), head, &path);
}

#[test]
fn command_lines_print_as_recorded() {
    check("program.txt", &used(""));
}

#[test]
fn traces_in_several_files_print_as_recorded() {
    check("files.txt", &trace(""));
}

#[test]
#[cfg(unix)]
fn unreadable_files_are_reported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = sandbox(&[("t", b"")]);
    std::fs::set_permissions(folder.path("t"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(folder.path("t")).is_ok() {
        return; // The superuser may read everything.
    }
    let wanted = "pj_validate: t: Permission denied\n";
    assert_eq!(folder.run(&["t"]), (2, String::new(), wanted.into()));
}

//! Finds PajeNG's programs, for comparisons.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of PajeNG's `pj_dump`: `PAJENG_PJ_DUMP`, or its path on Debian.
pub fn pj_dump() -> Option<PathBuf> {
    find("PAJENG_PJ_DUMP", &["pj_dump", "/usr/bin/pj_dump.pajeng", "/usr/bin/pj_dump"])
}

/// Returns the path of PajeNG's `pj_equals`: `PAJENG_PJ_EQUALS`, or its path on Debian.
pub fn pj_equals() -> Option<PathBuf> {
    find("PAJENG_PJ_EQUALS", &["/usr/bin/pj_equals.pajeng", "/usr/bin/pj_equals"])
}

/// Finds a program. Our Debian package renames PajeNG's programs to `….pajeng`.
fn find(variable: &str, places: &[&str]) -> Option<PathBuf> {
    let places: Vec<PathBuf> = match std::env::var_os(variable) {
        Some(program) => vec![program.into()],
        None => places.iter().map(PathBuf::from).collect(),
    };
    places.into_iter().find(|program| is_pajeng(program))
}

/// Returns whether the help mentions a flex-based reader, as only PajeNG's does.
fn is_pajeng(program: &Path) -> bool {
    let help = Command::new(program).arg("--help").output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("flex-based"))
}

/// Prints why a test compares nothing.
pub fn skipped(program: &str) {
    eprintln!(
        "skipped: PajeNG's {program} is not installed (Debian package pajeng; or name the program in \
         PAJENG_{})",
        program.to_uppercase()
    );
}

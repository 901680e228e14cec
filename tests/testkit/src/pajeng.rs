//! PajeNG's programs, where they are installed. It is run and compared with; its source is not read.

use std::path::{Path, PathBuf};
use std::process::Command;

/// PajeNG's `pj_dump`: what `PAJENG_PJ_DUMP` names, or where it is on a Debian.
pub fn pj_dump() -> Option<PathBuf> {
    find("PAJENG_PJ_DUMP", &["pj_dump", "/usr/bin/pj_dump.pajeng", "/usr/bin/pj_dump"])
}

/// PajeNG's `pj_equals`: what `PAJENG_PJ_EQUALS` names, or where it is on a Debian.
pub fn pj_equals() -> Option<PathBuf> {
    find("PAJENG_PJ_EQUALS", &["/usr/bin/pj_equals.pajeng", "/usr/bin/pj_equals"])
}

/// Our Debian package puts PajeNG's programs aside, as `….pajeng`.
fn find(variable: &str, places: &[&str]) -> Option<PathBuf> {
    let places: Vec<PathBuf> = match std::env::var_os(variable) {
        Some(program) => vec![program.into()],
        None => places.iter().map(PathBuf::from).collect(),
    };
    places.into_iter().find(|program| is_pajeng(program))
}

/// Its option list offers a flex-based reader, in words that ours does not use.
fn is_pajeng(program: &Path) -> bool {
    let help = Command::new(program).arg("--help").output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("flex-based"))
}

/// Says why a test passes that compared nothing.
pub fn skipped(program: &str) {
    eprintln!(
        "skipped: PajeNG's {program} is not installed (Debian package pajeng; or name the program in \
         PAJENG_{})",
        program.to_uppercase()
    );
}

//! A file system that is soon full.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Output of a shell's `script` in a folder where `small` holds no more than `size` (`64k`), with the program as
/// `$0`. Nobody else sees that file system, and it needs no root. `None`, and a line that says so, where none can
/// be mounted.
pub fn on_small_disk(size: &str, script: &str, program: &str, folder: &Path) -> Option<Output> {
    fs::create_dir(folder.join("small")).expect("writable");
    let script = format!("mount -t tmpfs -o size={size} tmpfs small && echo mounted && {script}");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
    let mut output = command.arg(program).current_dir(folder).output().ok()?;
    let Some(rest) = output.stdout.strip_prefix(b"mounted\n") else {
        let why = String::from_utf8_lossy(&output.stderr);
        eprintln!("skipped: no file system can be mounted here: {why}");
        return None;
    };
    output.stdout = rest.to_vec();
    Some(output)
}

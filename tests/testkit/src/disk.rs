use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a shell script in a folder, with the program as `$0`. The subfolder `small` is a file
/// system of `size` (`64k`). This does not need root, and other processes do not see the file
/// system. If the file system cannot be mounted, prints a message and returns `None`.
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

//! Runs and measures whole processes.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::Result;

/// Measurements of a process.
#[derive(Clone, Debug, Default)]
pub struct Timed {
    /// Elapsed time in seconds, from before the process starts until it has ended.
    pub seconds: f64,
    /// Processor time of all threads in user mode, in seconds.
    pub user: f64,
    /// Processor time of all threads in the kernel, in seconds.
    pub system: f64,
    /// Size in bytes, as counted by the kernel.
    pub peak_memory: u64,
    /// Exit status.
    pub status: i32,
    /// Standard error.
    pub stderr: String,
}

/// Runs a program without input and discards its output.
pub fn timed(command: &mut Command) -> Result<Timed> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let timed = end(spawn(command)?)?;
    Ok(Timed { seconds: start.elapsed().as_secs_f64(), ..timed })
}

/// Runs a program like [`timed`], but returns an error if it does not succeed.
pub fn succeed(command: &mut Command) -> Result<Timed> {
    let timed = timed(command)?;
    if timed.status == 0 {
        return Ok(timed);
    }
    Err(failure(command, &timed).into())
}

fn failure(command: &Command, timed: &Timed) -> String {
    let name = PathBuf::from(command.get_program());
    let name = name.file_name().unwrap_or(name.as_os_str()).to_string_lossy().into_owned();
    format!("{name} failed (exit status: {}): {}", timed.status, timed.stderr.trim())
}

/// Summary of a program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Number of bytes of the output.
    pub bytes: u64,
    /// Hash, which is equal for equal output within this process.
    pub hash: u64,
}

/// Runs a program without input, and hashes its output.
pub fn output(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(command)?;
    let mut out = child.stdout.take().expect("it was piped");
    // Hash only full blocks. Otherwise the hash would depend on how the pipe cuts the output.
    let (mut block, mut hasher, mut bytes) = (Vec::new(), DefaultHasher::new(), 0);
    while (&mut out).take(1 << 20).read_to_end(&mut block)? > 0 {
        hasher.write(&block);
        bytes += block.len() as u64;
        block.clear();
    }
    let timed = end(child)?;
    if timed.status != 0 {
        return Err(failure(command, &timed).into());
    }
    Ok(Output { bytes, hash: hasher.finish() })
}

/// Builds packages of this source tree as they are shipped, and returns the folder with their
/// programs.
pub fn build(packages: &[&str]) -> Result<PathBuf> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--profile", "dist", "--all-features"]);
    packages.iter().for_each(|package| _ = command.args(["-p", package]));
    if !command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).status()?.success() {
        return Err("our programs do not build".into());
    }
    // Cargo puts the programs of each profile into a folder beside the folder of this program.
    let this = std::env::current_exe()?;
    Ok(this.parent().ok_or("this program is in no folder")?.with_file_name("dist"))
}

fn spawn(command: &mut Command) -> Result<Child> {
    let program = PathBuf::from(command.get_program());
    Ok(command.spawn().map_err(|error| format!("{}: {error}", program.display()))?)
}

/// Waits for the end of a program whose standard output was read to its end or is discarded. Until
/// then, its standard error must fit into a pipe.
fn end(mut child: Child) -> Result<Timed> {
    let mut stderr = Vec::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_end(&mut stderr)?;
    }
    let used = child.wait4()?;
    Ok(Timed {
        seconds: 0.0,
        user: used.rusage.utime.as_secs_f64(),
        system: used.rusage.stime.as_secs_f64(),
        peak_memory: used.rusage.maxrss,
        status: used.status.code().ok_or_else(|| used.status.to_string())?,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
    })
}

//! Runs of `pj_dump` and other programs, and of the floor beside them.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use paje_workers::Pin;
use serde_json::Value;
use wait4::Wait4;

use super::Result;
use super::record::Stats;

/// The programs that are run.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `pj_dump`, or one that takes the same options.
    pub dump: PathBuf,
    /// This program, for the floor.
    pub scaling: PathBuf,
    /// Options of `pj_dump` beyond those for threads.
    pub options: Vec<String>,
}

/// Arguments of a program.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The trace.
    pub trace: &'a Path,
    /// Number of threads.
    pub threads: usize,
    /// Placement of these threads.
    pub pin: &'a Pin,
}

/// Measurements of one run of a program.
#[derive(Clone, Debug)]
pub struct Timed {
    /// Wall clock, in seconds, from before the process starts until it has ended.
    pub seconds: f64,
    /// Seconds of processor time, in the program and in the kernel, of all its threads.
    pub cpu: f64,
    /// Bytes, as the kernel counts them.
    pub peak_memory: u64,
    /// Text on standard error.
    pub told: String,
}

/// All rows, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Their number of bytes.
    pub bytes: u64,
    /// Equal for equal rows, within this process.
    pub hash: u64,
}

impl Programs {
    /// `dump`, or `pj_dump` of this source tree, which is built first.
    ///
    /// # Errors
    ///
    /// A program that does not build.
    pub fn find(dump: Option<PathBuf>, options: &str) -> Result<Programs> {
        let scaling = std::env::current_exe()?;
        let dump = match dump {
            Some(dump) => dump,
            None => build("pj-dump")?.join("pj_dump"),
        };
        let options = options.split_whitespace().map(str::to_owned).collect();
        Ok(Programs { dump, scaling, options })
    }

    /// Runs `pj_dump`, rows thrown away; returns wall clock seconds and what it told.
    ///
    /// # Errors
    ///
    /// A program that does not run or fails.
    pub fn dump(&self, call: Call<'_>) -> Result<(f64, Stats)> {
        let timed = self.dump_timed(call)?;
        Ok((timed.seconds, stats(&timed.told)))
    }

    /// Runs `pj_dump`, rows thrown away; returns what the kernel counted.
    ///
    /// # Errors
    ///
    /// A program that does not run or fails.
    pub fn dump_timed(&self, call: Call<'_>) -> Result<Timed> {
        timed(&mut self.dump_command(call), "pj_dump")
    }

    /// Runs `pj_dump` untimed and reads its rows.
    ///
    /// # Errors
    ///
    /// A program that does not run or fails.
    pub fn rows(&self, call: Call<'_>) -> Result<Rows> {
        let mut command = self.dump_command(call);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn(&mut command)?;
        let mut out = child.stdout.take().ok_or("a pipe was asked for, and is not there")?;
        // Always full pieces, or the hash would depend on how the pipe cuts them.
        let (mut piece, mut hasher, mut bytes) = (Vec::new(), DefaultHasher::new(), 0);
        loop {
            piece.clear();
            let count = (&mut out).take(1 << 20).read_to_end(&mut piece)?;
            if count == 0 {
                break;
            }
            hasher.write(&piece);
            bytes += count as u64;
        }
        end(child, "pj_dump")?;
        Ok(Rows { bytes, hash: hasher.finish() })
    }

    /// Runs the floor, moving `copy` bytes; returns wall clock seconds and lines of the trace.
    ///
    /// # Errors
    ///
    /// A floor that fails.
    pub fn floor(&self, call: Call<'_>, copy: u64) -> Result<(f64, u64)> {
        let mut command = Command::new(&self.scaling);
        command.arg("--floor").arg(call.trace).arg("--copy").arg(copy.to_string());
        command
            .arg("--threads")
            .arg(call.threads.to_string())
            .args(["--pins", &call.pin.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = spawn(&mut command)?;
        let mut lines = String::new();
        let mut out = child.stdout.take().ok_or("a pipe was asked for, and is not there")?;
        out.read_to_string(&mut lines)?;
        end(child, "floor")?;
        let seconds = start.elapsed().as_secs_f64();
        Ok((seconds, lines.trim().parse()?))
    }

    fn dump_command(&self, call: Call<'_>) -> Command {
        let mut command = Command::new(&self.dump);
        command.args(["--threads", &call.threads.to_string(), "--pin", &call.pin.to_string()]);
        command.arg("--stats=json").args(&self.options).arg(call.trace).stdin(Stdio::null());
        command
    }
}

/// Runs a program that reads nothing, with its output thrown away; `name` is for errors.
///
/// # Errors
///
/// A program that does not run or fails.
pub fn timed(command: &mut Command, name: &str) -> Result<Timed> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let child = spawn(command)?;
    let timed = end(child, name)?;
    Ok(Timed { seconds: start.elapsed().as_secs_f64(), ..timed })
}

/// Builds a package of this source tree as it is shipped, and returns the folder with its programs.
///
/// # Errors
///
/// A package that does not build.
pub fn build(package: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--profile", "dist", "--all-features", "-p", package])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()?;
    if !status.success() {
        return Err(format!("{package} does not build").into());
    }
    let this = std::env::current_exe()?;
    // Cargo puts programs of one profile side by side.
    let folder = this.parent().ok_or("this program is in no folder")?;
    Ok(folder.with_file_name("dist"))
}

fn spawn(command: &mut Command) -> Result<Child> {
    let program = command.get_program().to_owned();
    let name = |error| format!("{}: {error}", Path::new(&program).display());
    Ok(command.spawn().map_err(name)?)
}

/// Waits for a program to end well, and returns what it told and took, but for the wall clock.
///
/// Standard output has been read to its end by now. What is told is a few lines: it fits in a pipe
/// until here.
fn end(mut child: Child, name: &str) -> Result<Timed> {
    let mut told = Vec::new();
    if let Some(mut pipe) = child.stderr.take() {
        pipe.read_to_end(&mut told)?;
    }
    let used = child.wait4()?;
    let told = String::from_utf8_lossy(&told).into_owned();
    if !used.status.success() {
        return Err(format!("{name} failed ({}): {}", used.status, told.trim()).into());
    }
    let cpu = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    Ok(Timed { seconds: 0.0, cpu, peak_memory: used.rusage.maxrss, told })
}

/// The object on the last line; empty where there is none.
fn stats(told: &str) -> Stats {
    let last = told.lines().rev().find(|line| !line.trim().is_empty());
    let object: Value =
        last.and_then(|line| serde_json::from_str(line).ok()).unwrap_or(Value::Null);
    let seconds = |name: &str| object["seconds"][name].as_f64();
    Stats {
        total: seconds("total"),
        replay: seconds("replay"),
        export: seconds("export"),
        serial: seconds("serial"),
        imbalance: object["imbalance"].as_f64(),
        peak_memory: object["peak_memory"].as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read_from_the_last_line() {
        let told = "pj_dump: a warning\n\
            {\"version\":\"0.1.0\",\"threads\":2,\"pin\":\"none\",\"bytes\":9,\"lines\":9,\
            \"seconds\":{\"total\":0.5,\"replay\":0.25,\"export\":0.125,\"serial\":0.125},\
            \"workers\":[{\"decode\":0.1,\"replay\":0.1,\"export\":0.1,\"idle\":0}],\
            \"imbalance\":1.03,\"peak_memory\":4096}\n";
        let stats = stats(told);
        assert_eq!(stats.total, Some(0.5));
        assert_eq!((stats.replay, stats.export), (Some(0.25), Some(0.125)));
        assert_eq!(stats.serial_share(), Some(0.25));
        assert_eq!((stats.imbalance, stats.peak_memory), (Some(1.03), Some(4096)));
    }

    #[test]
    fn no_statistics_are_no_fault() {
        for told in ["", "\n", "pj_dump: a warning\n", "{\"seconds\":7}\n", "[1]\n", "{\n"] {
            assert_eq!(stats(told), Stats::default(), "{told}");
        }
    }
}

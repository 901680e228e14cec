//! Finds and runs the programs.

use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) ours: PathBuf,
    pub(crate) split: Option<PathBuf>,
    pub(crate) pajeng: Option<PathBuf>,
}

impl Programs {
    pub(crate) fn find(ours: Option<PathBuf>, pajeng: PathBuf) -> Result<Self, String> {
        let beside = || std::env::current_exe().map(|path| path.with_file_name("pj_dump"));
        let ours = ours.map_or_else(beside, Ok).map_err(|error| error.to_string())?;
        // The path must be absolute, because the program runs in other folders.
        let ours = ours.canonicalize().map_err(|error| {
            format!(
                "{}: {error}; build it with `cargo build --release --features tables`",
                ours.display()
            )
        })?;
        let there = |path: PathBuf| Some(path).filter(|path| path.is_file());
        Ok(Programs { split: there(ours.with_file_name("pj_split")), ours, pajeng: there(pajeng) })
    }
}

impl fmt::Display for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} beside ", self.ours.display())?;
        match &self.pajeng {
            Some(path) => write!(f, "{}, and the checker", path.display()),
            None => f.write_str("the checker (PajeNG is not installed)"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) rows: Vec<u8>,
    pub(crate) said: String,
}

impl Ended {
    /// Returns the exit status. After a signal, returns the status that a shell would report.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }
}

/// Time limit of a run, enough for these traces on a busy machine.
const HANGS: Duration = Duration::from_secs(120);

pub(crate) fn run(command: &mut Command, stdin: Option<&[u8]>) -> Result<Ended, String> {
    if stdin.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = start(command)?;
    std::thread::scope(|scope| {
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), stdin) {
            // A program that finds an error does not read the rest.
            scope.spawn(move || drop(pipe.write_all(bytes)));
        }
        ended(child)
    })
}

pub(crate) fn start(command: &mut Command) -> Result<Child, String> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    child.map_err(|error| format!("{command:?} cannot be started: {error}"))
}

pub(crate) fn ended(mut child: Child) -> Result<Ended, String> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let rows = scope.spawn(move || all(stdout));
        let said = scope.spawn(move || all(stderr));
        let began = Instant::now();
        let mut pause = Duration::from_micros(200);
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if began.elapsed() > HANGS => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err("it hangs".into());
                }
                Ok(None) => std::thread::sleep(pause),
                Err(error) => return Err(error.to_string()),
            }
            pause = (pause * 2).min(Duration::from_millis(5));
        };
        let rows = rows.join().map_err(|_| "no rows")?.map_err(|error| error.to_string())?;
        let said = said.join().map_err(|_| "no words")?.map_err(|error| error.to_string())?;
        Ok(Ended { status, rows, said: String::from_utf8_lossy(&said).into_owned() })
    })
}

fn all(from: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        from.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        all.push(entry?.file_name().to_string_lossy().into_owned());
    }
    all.sort();
    Ok(all)
}

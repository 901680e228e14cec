//! Injects faults, which must be reported and must not leave incomplete output.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use datasets::Rng;

use crate::program::{Ended, ended, names, run, start};
use crate::trial::{Summary, Trial};

const FAULTS: [&str; 6] = [
    "faults: closed pipe",
    "faults: full output",
    "faults: failing input",
    "faults: signal",
    "faults: little memory",
    "faults: limited files",
];

pub(crate) fn inject(trial: &Trial<'_>, rng: &mut Rng, sum: &mut Summary) -> Result<(), String> {
    let fault = rng.below(FAULTS.len() as u64);
    let result = match fault {
        0 => closed_pipe(trial, rng),
        1 => full_output(trial),
        2 => failing_input(trial, rng),
        3 => signal(trial, rng),
        4 => little_memory(trial, rng),
        _ => whole_files(trial, rng),
    };
    let name = FAULTS[fault as usize];
    sum.count(name);
    let result = result.map_err(|problem| format!("{name}: {problem}"));
    let left = names(trial.folder).map_err(|error| error.to_string())?;
    if left.iter().any(|name| !["t", "types.csv"].contains(&&**name)) {
        return Err(format!("{name}: files are left behind: {left:?}"));
    }
    result
}

fn wanted(found: &Ended, right: bool) -> Result<(), String> {
    if right { Ok(()) } else { Err(format!("status {}: {}", found.code(), found.said)) }
}

/// Closes the pipe while the program writes rows.
fn closed_pipe(trial: &Trial<'_>, rng: &mut Rng) -> Result<(), String> {
    let mut child = start(trial.ours().args(["--threads", "2", "t"]))?;
    let mut stdout = child.stdout.take().ok_or("no output")?;
    let mut some = vec![0; rng.below(2000) as usize];
    // The program may print fewer bytes.
    let _ = stdout.read_exact(&mut some);
    drop(stdout);
    let found = ended(child)?;
    wanted(&found, found.code() == trial.reference.code())
}

fn full_output(trial: &Trial<'_>) -> Result<(), String> {
    let full = File::options().write(true).open("/dev/full").map_err(|error| error.to_string())?;
    let mut command = trial.ours();
    let child = command.arg("t").stdout(full).stderr(Stdio::piped()).spawn();
    let found = ended(child.map_err(|error| error.to_string())?)?;
    let fine = if trial.reference.rows.is_empty() { trial.reference.code() } else { 2 };
    wanted(&found, found.code() == fine && (fine != 2 || found.said.contains("No space left")))
}

/// Makes reading fail by closing the other end of a connection while there is unread data.
fn failing_input(trial: &Trial<'_>, rng: &mut Rng) -> Result<(), String> {
    let connected = || -> std::io::Result<_> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut ours = TcpStream::connect(listener.local_addr()?)?;
        let (other, _) = listener.accept()?;
        ours.write_all(b"unread")?;
        other.peek(&mut [0])?;
        Ok((ours, other))
    };
    let (ours, mut other) = connected().map_err(|error| error.to_string())?;
    let length = rng.below(trial.trace.len() as u64 + 1) as usize;
    let part = &trial.trace[..length];
    let mut command = trial.ours();
    command.stdin(OwnedFd::from(ours));
    let child = start(&mut command)?;
    drop(command);
    let found = std::thread::scope(|scope| {
        scope.spawn(move || drop(other.write_all(part)));
        ended(child)
    })?;
    // Status 1 is right too, because the text before the failure may be invalid.
    let right = match found.code() {
        2 => found.said.ends_with("Connection reset by peer\n"),
        1 => true,
        _ => false,
    };
    wanted(&found, right && found.rows.is_empty())
}

fn signal(trial: &Trial<'_>, rng: &mut Rng) -> Result<(), String> {
    use rustix::process::{Pid, Signal, kill_process};
    let (signal, number) = rng.pick(&[(Signal::INT, 2), (Signal::TERM, 15), (Signal::KILL, 9)]);
    let mut command = trial.ours();
    let child = start(command.args(["--type-hierarchy", "types.csv", "--threads", "3", "t"]))?;
    std::thread::sleep(Duration::from_micros(rng.below(6000)));
    let _ = kill_process(Pid::from_child(&child), signal);
    let found = ended(child)?;
    // The program may have ended before the signal.
    let fine = found.code() == 128 + number || found.code() == trial.reference.code();
    wanted(&found, fine)?;
    types_are_whole(trial)
}

fn types_are_whole(trial: &Trial<'_>) -> Result<(), String> {
    let path = trial.folder.join("types.csv");
    let Ok(found) = fs::read(&path) else { return Ok(()) };
    fs::remove_file(&path).map_err(|error| error.to_string())?;
    run(trial.ours().args(["--type-hierarchy", "types.csv", "t"]), None)?;
    let whole = fs::read(&path).map_err(|error| format!("types.csv: {error}"))?;
    if whole == found { Ok(()) } else { Err("types.csv is incomplete".into()) }
}

fn limited(trial: &Trial<'_>, limit: &str) -> Result<Ended, String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]).arg(&trial.programs.ours);
    shell.args(&trial.options).args(["--type-hierarchy", "types.csv", "--threads", "3", "t"]);
    run(shell.current_dir(trial.folder), None)
}

fn little_memory(trial: &Trial<'_>, rng: &mut Rng) -> Result<(), String> {
    // With less memory, the system cannot load the program (13 MB of code and tables) and kills it.
    let found = limited(trial, &format!("-v {}", 16_000 + rng.below(48_000)))?;
    let told = found.said.contains("pj_dump: ") || found.said.contains("memory");
    let right = match found.code() {
        // The program cannot be loaded.
        127 | 126 => true,
        // The libraries of Rust and C abort if a thread cannot allocate its first bytes.
        2 | 134 => told && found.rows.is_empty(),
        code => code == trial.reference.code() && found.rows == trial.reference.rows,
    };
    wanted(&found, right)?;
    types_are_whole(trial)
}

/// Limits the size of files, which makes a write fail.
fn whole_files(trial: &Trial<'_>, rng: &mut Rng) -> Result<(), String> {
    let found = limited(trial, &format!("-f {}", rng.below(3)))?;
    let fine = found.code() == trial.reference.code() || found.code() == 2;
    wanted(&found, fine)?;
    types_are_whole(trial)
}

//! Reads callgrind's profiles of a program.
//!
//! Valgrind's manual describes the format in "Callgrind Format Specification". Each line below a
//! function (`fn=`) is a cost. The line after `calls=` is the inclusive cost of these calls.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) struct Valgrind {
    pub(crate) program: PathBuf,
    pub(crate) misses: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) lines: u64,
    pub(crate) rows: u64,
    pub(crate) decode: u64,
    pub(crate) replay: u64,
    pub(crate) export: u64,
    pub(crate) all: u64,
    pub(crate) misses: Option<Misses>,
}

#[derive(Debug)]
pub(crate) struct Misses {
    pub(crate) branches: u64,
    pub(crate) nearest: u64,
}

/// Entry points of the phases. The cost of a call counts for the called phase, even if another
/// phase makes the call.
const DECODE: &[&str] = &["paje_decode::decode::Decoder::decode"];
const REPLAY: &[&str] = &[
    "paje_replay::replay::shard::Shard::replay",
    "paje_replay::replay::link_merger::LinkMerger::merge",
];
const EXPORT: &[&str] = &[
    "pj_dump::output::rows::RowFormatter::lane_rows",
    "pj_dump::output::rows::RowFormatter::container_row",
];

impl Valgrind {
    pub(crate) fn count(&self, trace: &Path) -> Result<Counts, Box<dyn Error>> {
        let profile = tempfile::NamedTempFile::new()?;
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--quiet", "--compress-pos=no"]);
        if self.misses {
            command.args(["--branch-sim=yes", "--cache-sim=yes"]);
        }
        command.arg(format!("--callgrind-out-file={}", profile.path().display()));
        command.arg(&self.program).args(["--threads", "1"]).arg(trace);
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("valgrind: {error} (Debian: apt-get install valgrind)"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} {}: {said}", self.program.display(), trace.display()).into());
        }
        let newlines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count() as u64;
        let mut counts = read(&fs::read_to_string(profile.path())?)?;
        counts.lines = newlines(&fs::read(trace)?);
        counts.rows = newlines(&output.stdout);
        Ok(counts)
    }
}

fn read(profile: &str) -> Result<Counts, Box<dyn Error>> {
    let mut counts = Counts::default();
    let mut events: Vec<&str> = Vec::new();
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut total = Vec::new();
    // Phase of the called function, if the next line is the cost of calls.
    let mut calls: Option<Option<usize>> = None;
    let (mut callee, mut caller) = ("", "");
    let mut phases = [0u64; 3];
    for line in profile.lines() {
        if let Some(list) = line.strip_prefix("events: ") {
            events = list.split_whitespace().collect();
        } else if let Some(list) = line.strip_prefix("totals: ") {
            total = list.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
        } else if let Some(name) = line.strip_prefix("fn=") {
            caller = full_name(name, &mut names);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            callee = full_name(name, &mut names);
        } else if line.starts_with("calls=") {
            let phase = phase_of(callee).filter(|phase| phase_of(caller) != Some(*phase));
            calls = Some(phase);
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
            && let Some(Some(phase)) = calls.take()
        {
            let cost = line.split_whitespace().nth(1).ok_or("a cost without a number")?;
            phases[phase] += cost.parse::<u64>()?;
        }
    }
    let of = |event: &str| {
        let index = events.iter().position(|name| *name == event);
        index.and_then(|index| total.get(index)).copied()
    };
    counts.all = of("Ir").ok_or("a profile without instructions")?;
    [counts.decode, counts.replay, counts.export] = phases;
    if phases.contains(&0) {
        return Err("a phase is missing in the profile; build the program with symbols".into());
    }
    if let (Some(branches), Some(indirect)) = (of("Bcm"), of("Bim")) {
        let nearest = of("D1mr").unwrap_or(0) + of("D1mw").unwrap_or(0);
        counts.misses = Some(Misses { branches: branches + indirect, nearest });
    }
    Ok(counts)
}

/// Returns the name of a function. A profile contains each name only once, after its number in
/// brackets.
fn full_name<'a>(written: &'a str, names: &mut HashMap<&'a str, &'a str>) -> &'a str {
    match written.split_once(' ') {
        Some((number, name)) => {
            names.insert(number, name);
            name
        }
        None => names.get(written).copied().unwrap_or(written),
    }
}

fn phase_of(function: &str) -> Option<usize> {
    // Recursive calls and copies of a function have a suffix after its name.
    let is = |door: &&str| {
        function
            .strip_prefix(*door)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '<', ':']))
    };
    [DECODE, REPLAY, EXPORT].iter().position(|doors| doors.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_of_calls_are_the_phases() {
        let profile = "events: Ir Bcm Bim D1mr D1mw\n\
            fn=(1) main\n\
            12 5\n\
            cfn=(2) paje_decode::decode::Decoder::decode\n\
            calls=2 0\n\
            13 700 1 1 1 1\n\
            cfn=(3) paje_replay::replay::shard::Shard::replay\n\
            calls=1 0\n\
            14 80 0 0 0 0\n\
            cfn=(4) pj_dump::output::rows::RowFormatter::lane_rows\n\
            calls=1 0\n\
            15 9 0 0 0 0\n\
            cfn=(5) malloc\n\
            calls=1 0\n\
            16 1000 0 0 0 0\n\
            \n\
            fn=(2)\n\
            20 600\n\
            cfn=(2)\n\
            calls=1 0\n\
            21 100\n\
            totals: 1794 6 1 2 3\n";
        let counts = read(profile).expect("it is a profile");
        assert_eq!((counts.decode, counts.replay, counts.export), (700, 80, 9));
        assert_eq!(counts.all, 1794);
        let misses = counts.misses.expect("they were counted");
        assert_eq!((misses.branches, misses.nearest), (7, 5));
    }

    #[test]
    fn a_profile_without_names_is_refused() {
        assert!(read("events: Ir\nfn=(1) ???\n1 5\ntotals: 5\n").is_err());
    }
}

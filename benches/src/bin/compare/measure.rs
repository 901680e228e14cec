//! Runs of programs on one trace.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use wait4::Wait4;

use crate::programs::Programs;

/// A trace to run the programs on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    pub(crate) path: &'a Path,
    /// Options that all programs get.
    pub(crate) options: &'a [String],
    /// True if it is measured although the dumps differ.
    pub(crate) different_too: bool,
}

/// Program that is measured, and how it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Least work of one thread: the file read, its lines counted, as many bytes moved as the
    /// dump has.
    Floor,
    /// Our `pj_dump` with one thread.
    Single,
    /// Our `pj_dump`, with all threads.
    Dump,
    /// PajeNG's.
    PajengDump,
    /// Our `pj_dump -q`: everything but the rows.
    Replay,
    /// Our `pj_validate -q`.
    Validate,
    /// PajeNG's `pj_dump -q`.
    PajengReplay,
}

/// The number of jobs.
const JOBS: usize = 7;

impl Job {
    pub(crate) const ALL: [Job; JOBS] = [
        Job::Floor,
        Job::Single,
        Job::Dump,
        Job::PajengDump,
        Job::Replay,
        Job::Validate,
        Job::PajengReplay,
    ];

    /// Its name in tables and records.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Job::Floor => "floor",
            Job::Single => "pj_dump --threads 1",
            Job::Dump => "pj_dump",
            Job::PajengDump => "PajeNG pj_dump",
            Job::Replay => "pj_dump -q",
            Job::Validate => "pj_validate -q",
            Job::PajengReplay => "PajeNG pj_dump -q",
        }
    }

    /// Runs in a row, of which the last one counts. Who comes first after PajeNG finds the memory that it gave back in the hands of the
    /// machine's host, and on a virtual machine pays as much for it as for a replay.
    const fn turns(self) -> usize {
        match self {
            Job::PajengDump | Job::PajengReplay => 1,
            _ => 2,
        }
    }

    fn words(self, programs: &Programs, case: &Case<'_>, output: u64) -> Vec<String> {
        let (program, own): (_, &[&str]) = match self {
            Job::Floor => (&programs.compare, &[]),
            Job::Single => (&programs.dump, &["--quotes", "strip", "--threads", "1"]),
            Job::Dump => (&programs.dump, &["--quotes", "strip"]),
            Job::PajengDump => (&programs.pajeng, &[]),
            Job::Replay => (&programs.dump, &["--quotes", "strip", "-q"]),
            Job::Validate => (&programs.validate, &["-q"]),
            Job::PajengReplay => (&programs.pajeng, &["-q"]),
        };
        let mut words = vec![program.display().to_string()];
        words.extend(own.iter().map(ToString::to_string));
        match self {
            Job::Floor => words.push(format!("--floor={output}")),
            _ => words.extend_from_slice(case.options),
        }
        words.push(case.path.display().to_string());
        words
    }
}

/// One run of one program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    pub(crate) trace: String,
    /// Size of the trace.
    pub(crate) bytes: u64,
    pub(crate) job: Job,
    /// 1-based.
    pub(crate) run: u32,
    pub(crate) seconds: f64,
    /// Seconds of processor time in the program.
    pub(crate) user: f64,
    /// Seconds of processor time in the kernel.
    pub(crate) system: f64,
    /// The program's peak memory on this trace, in bytes, from a run of its own.
    pub(crate) peak: u64,
}

/// Compares the two dumps of a trace, then runs every program `runs` times on it.
pub(crate) fn case(
    case: &Case<'_>,
    programs: &Programs,
    runs: u32,
    folder: &Path,
) -> Result<Vec<Round>, Box<dyn Error>> {
    let bytes = std::fs::metadata(case.path)
        .map_err(|error| format!("{}: {error}", case.path.display()))?
        .len();
    let (peaks, output) = peaks(case, programs)?;
    let mut rounds = Vec::new();
    for run in 1..=runs {
        let times = hyperfine(case, programs, output, &folder.join("round.json"))?;
        for ((job, peak), [seconds, user, system]) in Job::ALL.into_iter().zip(peaks).zip(times) {
            let trace = case.name.to_owned();
            rounds.push(Round { trace, bytes, job, run, seconds, user, system, peak });
        }
    }
    Ok(rounds)
}

/// The peak memory of each job, in bytes, and the size of our dump; the two dumps are compared on the
/// way.
fn peaks(case: &Case<'_>, programs: &Programs) -> Result<([u64; JOBS], u64), Box<dyn Error>> {
    let start = |job: Job, output: u64, out: Stdio| -> io::Result<Child> {
        let words = job.words(programs, case, output);
        Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::null())
            .spawn()
    };
    let mut ours = start(Job::Dump, 0, Stdio::piped())?;
    let mut theirs = start(Job::PajengDump, 0, Stdio::piped())?;
    let (out, reference) = (ours.stdout.take(), theirs.stdout.take());
    let (out, reference) = out.zip(reference).ok_or("a pipe was asked for, and is not there")?;
    let mut out = BufReader::new(Counting { input: out, bytes: 0 });
    let mut reference = BufReader::new(reference);
    let difference = first_difference(&mut out, &mut reference)?;
    if case.different_too {
        io::copy(&mut out, &mut io::sink())?;
        io::copy(&mut reference, &mut io::sink())?;
    }
    let output = out.into_inner().bytes;
    drop(reference);
    // With their pipes closed, both end soon.
    let (dump, pajeng_dump) = (peak(Job::Dump, &mut ours), peak(Job::PajengDump, &mut theirs));
    if let Some(line) = difference.filter(|_| !case.different_too) {
        return Err(format!("the dumps differ in line {line}").into());
    }
    let (dump, pajeng_dump) = (dump?, pajeng_dump?);
    let mut peaks = [0; JOBS];
    for (known, job) in peaks.iter_mut().zip(Job::ALL) {
        *known = match job {
            Job::Dump => dump,
            Job::PajengDump => pajeng_dump,
            _ => peak(job, &mut start(job, output, Stdio::null())?)?,
        };
    }
    Ok((peaks, output))
}

/// Counts what is read.
struct Counting<R> {
    input: R,
    bytes: u64,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

/// Waits for a program to end well, and returns its peak memory in bytes.
fn peak(job: Job, child: &mut Child) -> Result<u64, Box<dyn Error>> {
    let used = child.wait4()?;
    // The validator refuses some traces that PajeNG takes, and has read them all the same.
    let fine = match used.status.code() {
        Some(0) => true,
        Some(1) => job == Job::Validate,
        _ => false,
    };
    if fine {
        Ok(used.rusage.maxrss)
    } else {
        Err(format!("{} failed ({})", job.name(), used.status).into())
    }
}

/// The first line in which two texts differ, 1-based.
fn first_difference(a: &mut impl BufRead, b: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut line = 1;
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let count = left.len().min(right.len());
        if count == 0 {
            return Ok((left.len() != right.len()).then_some(line));
        }
        let (left, right) = (&left[..count], &right[..count]);
        if left != right {
            let same = left.iter().zip(right).take_while(|(l, r)| l == r).map(|(l, _)| l);
            return Ok(Some(line + newlines(same)));
        }
        line += newlines(left.iter());
        a.consume(count);
        b.consume(count);
    }
}

fn newlines<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.filter(|byte| **byte == b'\n').count() as u64
}

/// Runs every job; returns seconds, and seconds of processor time in the program and in the
/// kernel, in the order of [`Job::ALL`].
fn hyperfine(
    case: &Case<'_>,
    programs: &Programs,
    output: u64,
    results: &Path,
) -> Result<[[f64; 3]; JOBS], Box<dyn Error>> {
    let mut command = Command::new("hyperfine");
    command.args(["--shell=none", "--runs=1", "--ignore-failure", "--style=none", "--export-json"]);
    command.arg(results);
    for job in Job::ALL {
        let words = quoted(&job.words(programs, case, output));
        command.args(std::iter::repeat_n(words, job.turns()));
    }
    let ran = command.stdin(Stdio::null()).output()?;
    if !ran.status.success() {
        return Err(format!("hyperfine: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    let json: Value = serde_json::from_reader(BufReader::new(File::open(results)?))?;
    let mut times = [[0.0; 3]; JOBS];
    let mut turns = 0;
    for (job, times) in Job::ALL.into_iter().zip(&mut times) {
        turns += job.turns();
        let result = &json["results"][turns - 1];
        for (time, key) in times.iter_mut().zip(["mean", "user", "system"]) {
            *time = result[key].as_f64().ok_or_else(|| format!("hyperfine gives no {key}"))?;
        }
    }
    Ok(times)
}

/// Words as a shell reads them, each between single quotes.
fn quoted(words: &[String]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_by_line() {
        let find = |a: &str, b: &str| {
            // A small buffer, so that the texts come in pieces that do not match.
            let (mut a, mut b) = (a.as_bytes(), BufReader::with_capacity(3, b.as_bytes()));
            first_difference(&mut a, &mut b).unwrap()
        };
        assert_eq!(find("", ""), None);
        assert_eq!(find("a\nb\nc\n", "a\nb\nc\n"), None);
        assert_eq!(find("a\nb\nc\n", "a\nb\nd\n"), Some(3));
        assert_eq!(find("a\nb\n", "a\n"), Some(2));
        assert_eq!(find("x", "y"), Some(1));
    }

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted(&["a b".into(), "it's".into()]), r"'a b' 'it'\''s'");
    }
}

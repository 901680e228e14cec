//! Runs the programs on one trace.

use std::error::Error;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use benches::process;

#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) compare: PathBuf,
    pub(crate) ours: PathBuf,
    pub(crate) pajeng: PathBuf,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) name: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) options: &'a [String],
    /// Whether the trace is measured even if the dumps differ.
    pub(crate) different_too: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// The minimum work of one thread, as in [`benches::floor`].
    Floor,
    Single,
    Dump,
    PajengDump,
    Replay,
    Validate,
    PajengReplay,
}

impl Job {
    pub(crate) const ALL: [Job; 7] = [
        Job::Floor,
        Job::Single,
        Job::Dump,
        Job::PajengDump,
        Job::Replay,
        Job::Validate,
        Job::PajengReplay,
    ];

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
}

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) trace: String,
    pub(crate) bytes: u64,
    pub(crate) job: Job,
    pub(crate) run: u32,
    pub(crate) timed: process::Timed,
}

impl Case<'_> {
    /// Compares the two dumps, then runs every program `runs` times.
    pub(crate) fn measure(&self, runs: u32) -> Result<Vec<Run>, Box<dyn Error>> {
        let bytes = self.path.metadata();
        let bytes = bytes.map_err(|error| format!("{}: {error}", self.path.display()))?.len();
        let output = self.compare_dumps()?;
        let mut all = Vec::new();
        for run in 1..=runs {
            for job in Job::ALL {
                // After PajeNG's program has run, the next run may be slow because the host of a
                // virtual machine has reclaimed memory. So run ours twice and count the second run.
                let pajeng = matches!(job, Job::PajengDump | Job::PajengReplay);
                let mut timed = self.run(job, output)?;
                if !pajeng {
                    timed = self.run(job, output)?;
                }
                all.push(Run { trace: self.name.to_owned(), bytes, job, run, timed });
            }
        }
        Ok(all)
    }

    fn command(&self, job: Job, output: u64) -> Command {
        let Programs { compare, ours, pajeng } = self.programs;
        let (program, words): (_, &[&str]) = match job {
            Job::Floor => (compare.clone(), &[]),
            Job::Single => (ours.join("pj_dump"), &["--quotes", "strip", "--threads", "1"]),
            Job::Dump => (ours.join("pj_dump"), &["--quotes", "strip"]),
            Job::PajengDump => (pajeng.clone(), &[]),
            Job::Replay => (ours.join("pj_dump"), &["--quotes", "strip", "-q"]),
            Job::Validate => (ours.join("pj_validate"), &["-q"]),
            Job::PajengReplay => (pajeng.clone(), &["-q"]),
        };
        let mut command = Command::new(program);
        match job {
            Job::Floor => command.arg(format!("--floor={output}")),
            _ => command.args(words).args(self.options),
        };
        command.arg(self.path);
        command
    }

    fn run(&self, job: Job, output: u64) -> Result<process::Timed, Box<dyn Error>> {
        let timed = process::timed(&mut self.command(job, output))?;
        // The validator refuses some traces that PajeNG accepts, but reads them completely.
        if timed.status == 0 || (timed.status == 1 && job == Job::Validate) {
            return Ok(timed);
        }
        Err(format!("{} failed (exit status {})", job.name(), timed.status).into())
    }

    fn compare_dumps(&self) -> Result<u64, Box<dyn Error>> {
        let start = |job| {
            let mut command = self.command(job, 0);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
        };
        let (mut ours, mut pajeng) = (start(Job::Dump)?, start(Job::PajengDump)?);
        let mut out = BufReader::new(ours.stdout.take().expect("it was piped"));
        let mut reference = BufReader::new(pajeng.stdout.take().expect("it was piped"));
        let (bytes, difference) = first_difference(&mut out, &mut reference)?;
        let rest = io::copy(&mut out, &mut io::sink())?;
        io::copy(&mut reference, &mut io::sink())?;
        for (job, child) in [(Job::Dump, &mut ours), (Job::PajengDump, &mut pajeng)] {
            let status = child.wait()?;
            if !status.success() {
                return Err(format!("{} failed ({status})", job.name()).into());
            }
        }
        match difference.filter(|_| !self.different_too) {
            Some(line) => Err(format!("the dumps differ in line {line}").into()),
            None => Ok(bytes + rest),
        }
    }
}

/// Returns the number of equal bytes, and the first line that differs, counted from 1.
fn first_difference(a: &mut impl BufRead, b: &mut impl BufRead) -> io::Result<(u64, Option<u64>)> {
    let newlines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    let (mut bytes, mut line) = (0, 1);
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let count = left.len().min(right.len());
        let (left_rest, right_rest) = (left.len() - count, right.len() - count);
        let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        line += newlines(&left[..same]);
        if same < count || (count == 0 && left_rest + right_rest > 0) {
            return Ok((bytes, Some(line)));
        }
        if count == 0 {
            return Ok((bytes, None));
        }
        bytes += count as u64;
        a.consume(count);
        b.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_by_line() {
        let find = |a: &str, b: &str| {
            // The small buffer makes blocks end at other positions on this side.
            let (mut a, mut b) = (a.as_bytes(), BufReader::with_capacity(3, b.as_bytes()));
            first_difference(&mut a, &mut b).unwrap()
        };
        assert_eq!(find("", ""), (0, None));
        assert_eq!(find("a\nb\nc\n", "a\nb\nc\n"), (6, None));
        assert_eq!(find("a\nb\nc\n", "a\nb\nd\n"), (3, Some(3)));
        assert_eq!(find("a\nb\n", "a\n"), (2, Some(2)));
        assert_eq!(find("x", "y"), (0, Some(1)));
    }
}

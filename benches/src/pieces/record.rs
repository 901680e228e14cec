//! A run of a program, the file of all runs, and what they come to.

use std::fmt::Write as _;

use paje_workers::Pin;

use crate::scaling::record;
use crate::scaling::speed::{median, minimum};

/// Program that is run, with its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Job {
    /// `cp` of the trace.
    Copy,
    /// `pj_split` of the trace.
    Split,
    /// `pj_dump -q`.
    Replay,
    /// `pj_dump`, rows thrown away.
    Dump,
}

impl Job {
    /// Its name in tables and records.
    pub const fn name(self) -> &'static str {
        match self {
            Job::Copy => "cp",
            Job::Split => "pj_split",
            Job::Replay => "pj_dump -q",
            Job::Dump => "pj_dump",
        }
    }
}

/// A number of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pieces {
    /// As many as there are.
    pub count: usize,
    /// As many as were asked for.
    pub asked: usize,
}

/// Key of a configuration: runs with the same one are repetitions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The program.
    pub job: Job,
    /// Threads of the program.
    pub threads: usize,
    /// Placement of these threads.
    pub pin: Pin,
    /// Made by `pj_split`, replayed by `pj_dump`; `None` is the single file.
    pub pieces: Option<Pieces>,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The shape of a generated trace, or the name of a file.
    pub trace: String,
    /// Size of the trace as a single file.
    pub bytes: u64,
    /// Its configuration: program, threads, placement, pieces.
    pub key: Key,
    /// The repetition, 1-based.
    pub run: u32,
    /// Wall clock of the whole process.
    pub seconds: f64,
    /// Processor time of all threads, in seconds.
    pub cpu: f64,
    /// Bytes.
    pub peak_memory: u64,
}

/// The first line of the file of all runs.
pub const HEADER: &str = "trace,bytes,program,asked,pieces,threads,pin,run,seconds,cpu,peak_memory";

/// All runs, one a line. `asked` (how many pieces were asked for) and `pieces` (how many there are) are
/// empty for the single file.
pub fn csv(runs: &[Run]) -> String {
    let mut text = format!("{HEADER}\n");
    let number = |count: Option<usize>| count.map(|count| count.to_string()).unwrap_or_default();
    for run in runs {
        let Key { job, threads, pin, pieces } = &run.key;
        let _ = writeln!(
            text,
            "{},{},{},{},{},{threads},{},{},{:.6},{:.6},{}",
            record::name(&run.trace),
            run.bytes,
            job.name(),
            number(pieces.map(|pieces| pieces.asked)),
            number(pieces.map(|pieces| pieces.count)),
            record::pin(pin),
            run.run,
            run.seconds,
            run.cpu,
            run.peak_memory,
        );
    }
    text
}

/// Summary of the runs of one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Their configuration: program, threads, placement, pieces.
    pub key: Key,
    /// Median of the wall clock, in seconds.
    pub median: f64,
    /// The fastest run's seconds.
    pub minimum: f64,
    /// Median of the processor time, in seconds.
    pub cpu: f64,
    /// The largest of all runs, in bytes.
    pub peak_memory: u64,
}

/// All points of one trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// The shape of a generated trace, or the name of a file.
    pub trace: String,
    /// Size of the trace as a single file.
    pub bytes: u64,
    /// By what was run, threads, place and pieces, the single file first.
    pub points: Vec<Point>,
}

impl Points {
    /// Those of one trace's runs; `None` if there are no runs.
    pub fn new(runs: &[Run]) -> Option<Points> {
        let first = runs.first()?;
        let mut runs: Vec<&Run> = runs.iter().collect();
        runs.sort_by(|a, b| a.key.cmp(&b.key));
        let points = runs.chunk_by(|a, b| a.key == b.key).filter_map(point).collect();
        Some(Points { trace: first.trace.clone(), bytes: first.bytes, points })
    }

    /// Those of a program.
    pub fn of(&self, job: Job) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(move |point| point.key.job == job)
    }

    /// Point of `job` for the single file, with as many threads in the same places.
    pub fn single(&self, job: Job, like: &Key) -> Option<&Point> {
        let (threads, pin) = match job {
            // It has one thread, and goes where it wants.
            Job::Copy => (1, Pin::None),
            _ => (like.threads, like.pin.clone()),
        };
        let key = Key { job, threads, pin, pieces: None };
        self.points.iter().find(|point| point.key == key)
    }
}

fn point(runs: &[&Run]) -> Option<Point> {
    Some(Point {
        key: runs.first()?.key.clone(),
        median: median(runs.iter().map(|run| run.seconds))?,
        minimum: minimum(runs.iter().map(|run| run.seconds))?,
        cpu: median(runs.iter().map(|run| run.cpu))?,
        peak_memory: runs.iter().map(|run| run.peak_memory).max()?,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn run(job: Job, threads: usize, pin: Pin, count: usize, seconds: f64) -> Run {
        let pieces = (count > 0).then_some(Pieces { count, asked: count });
        Run {
            trace: "mpi".into(),
            bytes: 1_000_000_000,
            key: Key { job, threads, pin, pieces },
            run: 1,
            seconds,
            cpu: seconds * threads as f64,
            peak_memory: 9_000_000 * seconds as u64,
        }
    }

    #[test]
    fn every_run_is_a_line() {
        let few = Some(Pieces { count: 3, asked: 64 });
        let mut odd = run(Job::Split, 2, "0,1".parse().unwrap(), 0, 0.5);
        odd.key.pieces = few;
        odd.trace = "a \"b\",\nc".into();
        let text = csv(&[run(Job::Copy, 1, Pin::None, 0, 2.0), odd]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                HEADER,
                "\"mpi\",1000000000,cp,,,1,none,1,2.000000,2.000000,18000000",
                "\"a \"\"b\"\", c\",1000000000,pj_split,64,3,2,\"0,1\",1,0.500000,1.000000,0",
            ]
        );
    }

    #[test]
    fn medians_and_what_stands_beside_them() {
        let runs = [
            run(Job::Dump, 2, Pin::None, 8, 3.0),
            run(Job::Dump, 2, Pin::None, 0, 2.0),
            run(Job::Copy, 1, Pin::None, 0, 1.0),
            run(Job::Dump, 2, Pin::None, 8, 4.0),
            run(Job::Dump, 2, Pin::None, 8, 9.0),
            run(Job::Dump, 2, Pin::Compact, 0, 5.0),
        ];
        let points = Points::new(&runs).unwrap();
        let dumps: Vec<_> = points.of(Job::Dump).collect();
        let told = dumps.iter().map(|point| (point.key.pin.clone(), point.median, point.minimum));
        let expected = [(Pin::None, 2.0, 2.0), (Pin::None, 4.0, 3.0), (Pin::Compact, 5.0, 5.0)];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        let eight = dumps[1];
        assert_eq!((eight.cpu, eight.peak_memory), (8.0, 81_000_000));
        assert_eq!(points.single(Job::Dump, &eight.key), Some(dumps[0]));
        assert_eq!(points.single(Job::Copy, &eight.key).unwrap().median, 1.0);
        assert_eq!(points.single(Job::Replay, &eight.key), None);
        assert_eq!(Points::new(&[]), None);
    }
}

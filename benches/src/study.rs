//! Runs the scaling study.
//!
//! First, every number of threads dumps every trace of a source and its pieces once without timing.
//! The rows must equal the rows of one thread. Then all cases take turns in each repetition, so
//! that the noise of a shared machine affects all of them alike.
//!
//! This process must stay small, because Linux includes the memory of a parent in a child's peak
//! until the child runs its program.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use datasets::Shape;
use paje_workers::Pin;
use serde_json::Value;

use crate::process::{self, Output};
use crate::{Result, cache};

/// Parameters of a study.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Numbers of threads, increasing, beginning with 1.
    pub threads: Vec<usize>,
    /// Placements of the threads.
    pub pins: Vec<Pin>,
    /// States of the page cache.
    pub caches: Vec<Cache>,
    /// Numbers of pieces, increasing.
    pub pieces: Vec<usize>,
    /// Number of repetitions.
    pub runs: u32,
    /// Bytes of a trace for strong scaling.
    pub size: u64,
    /// Bytes per thread for weak scaling.
    pub weak_size: u64,
    /// Folder of `pj_dump` and `pj_split`.
    pub programs: PathBuf,
    /// Options of both programs.
    pub options: Vec<String>,
}

/// Strong or weak scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The same trace for any number of threads.
    Strong,
    /// A trace whose size is proportional to the number of threads.
    Weak,
}

/// Where the trace is when a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Cache {
    /// In memory.
    Cached,
    /// On its device only.
    Dropped,
}

/// The program that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// The [floor](crate::floor), with the same number of threads in the same places.
    Floor,
    /// `pj_dump`.
    Dump,
    /// `pj_dump -q`: no rows.
    Replay,
    /// `pj_split`.
    Split,
    /// `cp` of the trace's contents, by one thread.
    Copy,
}

/// A configuration. Runs of the same configuration are repetitions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// Strong or weak scaling.
    pub kind: Kind,
    /// Program that is run.
    pub program: Program,
    /// Number of pieces that the program makes or reads, or 0 for a single file.
    pub pieces: usize,
    /// Placement of the threads.
    pub pin: Pin,
    /// State of the page cache.
    pub cache: Cache,
    /// Number of threads.
    pub threads: usize,
}

/// A run of a case.
#[derive(Clone, Debug)]
pub struct Run {
    /// Shape of a generated trace, or name of a file.
    pub trace: String,
    /// Size of the trace as a single file.
    pub bytes: u64,
    /// The program and its configuration.
    pub case: Case,
    /// Number of the repetition, from 1.
    pub run: u32,
    /// Wall clock in seconds.
    pub seconds: f64,
    /// Processor time in seconds.
    pub cpu: f64,
    /// Peak memory in bytes.
    pub peak_memory: u64,
    /// Part of the time in which only one thread worked, if `pj_dump --stats=json` reports it.
    pub serial: Option<f64>,
    /// Time of the busiest worker divided by the mean of all workers, if `pj_dump --stats=json`
    /// reports it.
    pub imbalance: Option<f64>,
}

/// Source of traces.
#[derive(Clone, Debug)]
pub enum Source {
    /// A generator.
    Shape(Shape),
    /// A file. It cannot grow, so there is no weak scaling.
    File(PathBuf),
}

impl Source {
    /// Returns the name in records.
    pub fn name(&self) -> String {
        match self {
            Source::Shape(shape) => shape.name().to_owned(),
            Source::File(path) => {
                path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
            }
        }
    }
}

#[derive(Debug)]
struct Trace {
    kind: Kind,
    bytes: u64,
    path: PathBuf,
    /// The single file that `pj_split` splits. It equals `path` if there are no pieces.
    whole: PathBuf,
    /// All files of the trace: `path`, and the pieces that this file names, if any.
    files: Vec<PathBuf>,
    pieces: usize,
    /// Number of pieces that `pj_split` was asked to make.
    asked: usize,
    /// Numbers of threads with which the trace is replayed.
    threads: Vec<usize>,
    lines: u64,
    rows: Output,
}

/// Measures one source. Traces and pieces are kept in `folder` during the study. `progress` gets
/// one line at a time.
pub fn measure(
    source: &Source,
    plan: &Plan,
    folder: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Run>> {
    let folder = tempfile::tempdir_in(folder)?;
    let mut traces = traces(source, plan, folder.path())?;
    for trace in &mut traces {
        plan.check(trace)?;
    }
    plan.split(&mut traces, folder.path(), progress)?;
    let mut caches = plan.caches.clone();
    if caches.contains(&Cache::Dropped) && !cache::can_drop(&traces[0].path)? {
        progress("the page cache cannot be dropped here; skipping runs without it");
        caches.retain(|cache| *cache != Cache::Dropped);
    }
    let mut runs = Vec::new();
    for run in 1..=plan.runs {
        for cache in caches.iter().copied() {
            for file in traces.iter().flat_map(|trace| &trace.files) {
                // One thread reads the file again, so that all runs find its pages on the same
                // memory node.
                cache::drop_pages(file)?;
                cache::warm(file)?;
            }
            for trace in &traces {
                for case in plan.cases(trace, cache) {
                    runs.push(plan.once(source, trace, case, run, folder.path())?);
                }
            }
        }
        progress(&format!("repetition {run} of {}", plan.runs));
    }
    Ok(runs)
}

fn traces(source: &Source, plan: &Plan, folder: &Path) -> Result<Vec<Trace>> {
    let trace = |path: PathBuf, kind, threads: &[usize]| -> Result<Trace> {
        let size = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?;
        let (files, threads) = (vec![path.clone()], threads.to_vec());
        let rows = Output { bytes: 0, hash: 0 };
        let (bytes, whole) = (size.len(), path.clone());
        let (pieces, asked, lines) = (0, 0, 0);
        Ok(Trace { kind, bytes, path, whole, files, pieces, asked, threads, lines, rows })
    };
    let shape = match source {
        Source::File(path) => return Ok(vec![trace(path.clone(), Kind::Strong, &plan.threads)?]),
        Source::Shape(shape) => *shape,
    };
    let generate = |kind: Kind, size: u64, threads: &[usize]| {
        let path = folder.join(format!("{kind:?}-{}.trace", threads[0]));
        datasets::write(shape, size, 1, &mut File::create(&path)?)?;
        trace(path, kind, threads)
    };
    let mut traces = vec![generate(Kind::Strong, plan.size, &plan.threads)?];
    for threads in &plan.threads {
        traces.push(generate(Kind::Weak, plan.weak_size * *threads as u64, &[*threads])?);
    }
    Ok(traces)
}

impl Plan {
    /// Counts the lines of a trace and hashes its rows, which all numbers of threads must print.
    fn check(&self, trace: &mut Trace) -> Result<()> {
        trace.lines = cache::warm(&trace.path)?;
        let rows = |threads| process::output(&mut self.dump(&trace.path, threads, &Pin::None));
        trace.rows = rows(1)?;
        for threads in trace.threads.iter().copied().filter(|threads| *threads > 1) {
            if rows(threads)? != trace.rows {
                return Err(format!("{threads} threads print other rows than one").into());
            }
        }
        Ok(())
    }

    /// Splits the first trace into each number of pieces, until a larger number does not give more
    /// pieces.
    fn split(
        &self,
        traces: &mut Vec<Trace>,
        folder: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<()> {
        for asked in self.pieces.iter().copied() {
            let (single, most) = (&traces[0], self.threads.iter().copied().max().unwrap_or(1));
            let to = folder.join(format!("pieces-{asked}"));
            process::succeed(&mut self.split_command(single, asked, most, &Pin::None, &to))?;
            let files = fs::read_dir(&to)?.map(|entry| Ok(entry?.path()));
            let files: Vec<PathBuf> = files.collect::<Result<_>>()?;
            let pieces = files.len() - 1;
            if traces.last().is_some_and(|last| last.pieces >= pieces) {
                progress(&format!("skipping {asked} pieces: there are no more than {pieces}"));
                fs::remove_dir_all(&to)?;
                continue;
            }
            let (kind, threads, path) =
                (Kind::Strong, single.threads.clone(), to.join("root.trace"));
            let (bytes, lines, rows) = (single.bytes, single.lines, single.rows);
            let whole = single.whole.clone();
            if process::output(&mut self.dump(&path, most, &Pin::None))? != rows {
                return Err(format!("{pieces} pieces give other rows than the trace").into());
            }
            let split =
                Trace { kind, bytes, path, whole, files, pieces, asked, threads, lines, rows };
            traces.push(split);
        }
        Ok(())
    }

    /// Returns the cases of a trace in a state of the page cache, in the order of their runs.
    fn cases(&self, trace: &Trace, cache: Cache) -> Vec<Case> {
        let (kind, pieces) = (trace.kind, trace.pieces);
        let split = kind == Kind::Strong && !self.pieces.is_empty();
        let programs: &[Program] = match (split, pieces) {
            (false, _) => &[Program::Floor, Program::Dump],
            (true, 0) => &[Program::Floor, Program::Dump, Program::Replay],
            (true, _) => &[Program::Split, Program::Dump, Program::Replay],
        };
        let case = |program, threads, pin: &Pin| {
            let pin = pin.clone();
            Case { kind, program, pieces, pin, cache, threads }
        };
        let mut cases = Vec::new();
        if split && pieces == 0 {
            cases.push(case(Program::Copy, 1, &Pin::None));
        }
        for threads in trace.threads.iter().copied() {
            for pin in &self.pins {
                cases.extend(programs.iter().map(|program| case(*program, threads, pin)));
            }
        }
        cases
    }

    fn once(
        &self,
        source: &Source,
        trace: &Trace,
        case: Case,
        run: u32,
        folder: &Path,
    ) -> Result<Run> {
        if case.cache == Cache::Dropped {
            trace.files.iter().try_for_each(|file| cache::drop_pages(file))?;
        }
        let (copy, again) = (folder.join("copy"), folder.join("again"));
        let mut command = match case.program {
            Program::Floor => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("--floor").arg(&trace.path).arg("--copy");
                command.arg(trace.rows.bytes.to_string());
                command.args(["--lines", &trace.lines.to_string()]);
                command.args(["--threads", &case.threads.to_string()]);
                command.args(["--pins", &case.pin.to_string()]);
                command
            }
            Program::Copy => {
                let mut command = Command::new("cp");
                command.args(["--reflink=never", "--"]).arg(&trace.path).arg(&copy);
                command
            }
            Program::Split => {
                self.split_command(trace, trace.asked, case.threads, &case.pin, &again)
            }
            Program::Dump | Program::Replay => self.dump(&trace.path, case.threads, &case.pin),
        };
        if case.program == Program::Replay {
            command.arg("-q");
        }
        let timed = process::succeed(&mut command)?;
        // Remove files now, so that the kernel does not write them to the device during the next
        // run.
        match case.program {
            Program::Copy => fs::remove_file(&copy)?,
            Program::Split => fs::remove_dir_all(&again)?,
            _ => {}
        }
        let stats = timed.stderr.lines().rev().find_map(|line| serde_json::from_str(line).ok());
        let stats: Value = stats.unwrap_or_default();
        let seconds = |name: &str| stats["seconds"][name].as_f64();
        Ok(Run {
            trace: source.name(),
            bytes: trace.bytes,
            case,
            run,
            seconds: timed.seconds,
            cpu: timed.user + timed.system,
            peak_memory: timed.peak_memory,
            serial: seconds("serial").zip(seconds("total")).map(|(serial, total)| serial / total),
            imbalance: stats["imbalance"].as_f64(),
        })
    }

    fn program(&self, name: &str, threads: usize, pin: &Pin) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.args(["--threads", &threads.to_string(), "--pin", &pin.to_string()]);
        command.args(&self.options);
        command
    }

    fn dump(&self, trace: &Path, threads: usize, pin: &Pin) -> Command {
        let mut command = self.program("pj_dump", threads, pin);
        command.arg("--stats=json").arg(trace);
        command
    }

    fn split_command(
        &self,
        trace: &Trace,
        pieces: usize,
        threads: usize,
        pin: &Pin,
        to: &Path,
    ) -> Command {
        let mut command = self.program("pj_split", threads, pin);
        command.args(["--pieces", &pieces.to_string()]).arg("--output").arg(to).arg(&trace.whole);
        command
    }
}

/// Returns the powers of two below `most`, and `most`.
pub fn default_threads(most: usize) -> Vec<usize> {
    let powers = (0..usize::BITS).map(|power| 1 << power);
    powers.take_while(|threads| *threads < most).chain([most.max(1)]).collect()
}

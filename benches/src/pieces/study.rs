//! Which runs there are, and in which order.
//!
//! First the trace is cut into each number of pieces, untimed, and the dump of every root must be that
//! of the trace. Then, in each repetition, all combinations take turns.
//!
//! This process stays small on purpose: until a child has replaced itself by its program, its memory
//! is its parent's, and Linux lets that count for the child's peak.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use paje_workers::Pin;

use super::record::{Job, Key, Pieces, Run};
use crate::scaling::program::{self, Call, Programs, Timed};
use crate::scaling::study::Source;
use crate::scaling::{Result, cache};

/// Parameters that are varied, and sizes and repetitions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Policies of placement.
    pub pins: Vec<Pin>,
    /// Numbers of pieces to ask for, increasing.
    pub pieces: Vec<usize>,
    /// Repetitions.
    pub runs: u32,
    /// Bytes of a generated trace.
    pub size: u64,
}

/// The programs that are run.
#[derive(Clone, Debug)]
pub struct Tools {
    /// For `pj_dump`. Its options are for `pj_split` too.
    pub dump: Programs,
    /// `pj_split`, or one that takes the same options.
    pub split: PathBuf,
}

impl Tools {
    /// The given programs, or those of this source tree, which are built first.
    ///
    /// # Errors
    ///
    /// A program that does not build.
    pub fn find(dump: Option<PathBuf>, split: Option<PathBuf>, options: &str) -> Result<Tools> {
        let split = match split {
            Some(split) => split,
            None => program::build("pj-split")?.join("pj_split"),
        };
        Ok(Tools { dump: Programs::find(dump, options)?, split })
    }

    /// Takes the trace of a call apart; `to` must not exist yet.
    fn split(&self, call: Call<'_>, pieces: usize, to: &Path) -> Result<Timed> {
        let mut command = Command::new(&self.split);
        command.args(["--threads", &call.threads.to_string(), "--pin", &call.pin.to_string()]);
        command.args(["--pieces", &pieces.to_string()]).args(&self.dump.options);
        command.arg("--output").arg(to).arg(call.trace);
        program::timed(&mut command, "pj_split")
    }

    fn replay(&self, call: Call<'_>, rows: bool) -> Result<Timed> {
        let mut dump = self.dump.clone();
        if !rows {
            dump.options.push("-q".into());
        }
        dump.dump_timed(call)
    }
}

/// The trace in pieces.
#[derive(Clone, Debug)]
struct Parts {
    pieces: Pieces,
    folder: PathBuf,
    /// The file that names them.
    root: PathBuf,
}

/// Measures one source; what is written meanwhile is in `folder`, and removed from it in the end.
///
/// `tell` is told what goes on, a line at a time.
///
/// # Errors
///
/// A program that fails, a dump that is not that of the trace, or files that cannot be used.
pub fn measure(
    source: &Source,
    plan: &Plan,
    tools: &Tools,
    folder: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Run>> {
    let folder = tempfile::Builder::new().prefix("trace-").tempdir_in(folder)?;
    let path = match source {
        Source::File(path) => path.clone(),
        Source::Shape(shape) => {
            let path = folder.path().join(format!("{shape}.trace"));
            datasets::write(*shape, plan.size, 1, &mut File::create(&path)?)?;
            path
        }
    };
    let bytes = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?.len();
    let parts = cut(&path, plan, tools, folder.path(), tell)?;
    let trace = Trace { name: source.name(), bytes, path, parts: &parts, tools };
    trace.check(plan)?;
    tell("all dumps are the same");
    let mut runs = Vec::new();
    for run in 1..=plan.runs {
        trace.warm()?;
        trace.repetition(plan, run, folder.path(), &mut runs)?;
        tell(&format!("repetition {run} of {}", plan.runs));
    }
    Ok(runs)
}

/// Cuts a trace into each number of pieces, as long as that gives more of them.
fn cut(
    path: &Path,
    plan: &Plan,
    tools: &Tools,
    folder: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Parts>> {
    let threads = plan.threads.iter().copied().max().unwrap_or(1);
    let mut all: Vec<Parts> = Vec::new();
    for asked in plan.pieces.iter().copied() {
        let to = folder.join(format!("pieces-{asked}"));
        tools.split(Call { trace: path, threads, pin: &Pin::None }, asked, &to)?;
        let count = pieces_in(&to)?;
        if all.last().is_some_and(|last| last.pieces.count >= count) {
            tell(&format!("{asked} pieces are left out: there are no more than {count}"));
            fs::remove_dir_all(&to)?;
            continue;
        }
        if count < asked {
            tell(&format!("{asked} pieces are {count}: no more containers have events"));
        }
        let (pieces, root) = (Pieces { count, asked }, to.join("root.trace"));
        all.push(Parts { pieces, folder: to, root });
    }
    Ok(all)
}

fn pieces_in(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        count += usize::from(entry?.file_name().to_string_lossy().starts_with("piece-"));
    }
    Ok(count)
}

/// A trace with all its pieces.
struct Trace<'a> {
    name: String,
    bytes: u64,
    path: PathBuf,
    parts: &'a [Parts],
    tools: &'a Tools,
}

impl Trace<'_> {
    /// All dumps must be the same: of the trace with one thread, of every root with as many as are
    /// measured.
    fn check(&self, plan: &Plan) -> Result<()> {
        let threads = plan.threads.iter().copied().max().unwrap_or(1);
        let call = |trace, threads| Call { trace, threads, pin: &Pin::None };
        let rows = self.tools.dump.rows(call(&self.path, 1))?;
        for parts in self.parts {
            if self.tools.dump.rows(call(&parts.root, threads))? != rows {
                let count = parts.pieces.count;
                return Err(format!("the dump of {count} pieces is not that of the trace").into());
            }
        }
        Ok(())
    }

    /// Has everything in the page cache, and on the device, so that no run pays for another's writing.
    fn warm(&self) -> Result<()> {
        cache::warm(&self.path)?;
        for parts in self.parts {
            for entry in fs::read_dir(&parts.folder)? {
                let path = entry?.path();
                File::open(&path)?.sync_all()?;
                cache::warm(&path)?;
            }
        }
        Ok(())
    }

    /// Every combination once.
    fn repetition(&self, plan: &Plan, run: u32, folder: &Path, runs: &mut Vec<Run>) -> Result<()> {
        let mut add = |job, threads, pin: &Pin, pieces, timed: Timed| {
            let Timed { seconds, cpu, peak_memory, .. } = timed;
            let (trace, bytes) = (self.name.clone(), self.bytes);
            let key = Key { job, threads, pin: pin.clone(), pieces };
            runs.push(Run { trace, bytes, key, run, seconds, cpu, peak_memory });
        };
        add(Job::Copy, 1, &Pin::None, None, self.copy(&folder.join("copy"))?);
        for threads in plan.threads.iter().copied() {
            for pin in &plan.pins {
                let call = |trace| Call { trace, threads, pin };
                for (job, rows) in [(Job::Replay, false), (Job::Dump, true)] {
                    add(job, threads, pin, None, self.tools.replay(call(&self.path), rows)?);
                }
                for parts in self.parts {
                    let (again, pieces) = (folder.join("again"), Some(parts.pieces));
                    let split = self.tools.split(call(&self.path), parts.pieces.asked, &again)?;
                    // At once: what is gone is not written to the device meanwhile.
                    fs::remove_dir_all(&again)?;
                    add(Job::Split, threads, pin, pieces, split);
                    for (job, rows) in [(Job::Replay, false), (Job::Dump, true)] {
                        let timed = self.tools.replay(call(&parts.root), rows)?;
                        add(job, threads, pin, pieces, timed);
                    }
                }
            }
        }
        Ok(())
    }

    /// Copies the trace's contents: some file systems would only note that they are the same.
    fn copy(&self, to: &Path) -> Result<Timed> {
        let mut command = Command::new("cp");
        command.args(["--reflink=never", "--"]).arg(&self.path).arg(to);
        let timed = program::timed(&mut command, "cp")?;
        fs::remove_file(to)?;
        Ok(timed)
    }
}

//! Which runs there are, and in which order.
//!
//! For each trace shape: first every number of threads dumps every trace once, untimed, and must
//! print the bytes that one thread prints. Then, in each repetition, all combinations take turns.
//!
//! This process stays small on purpose: a program that asks the kernel for its own peak of memory may be
//! told that of its parent, if it is larger.

use std::fs::File;
use std::path::{Path, PathBuf};

use datasets::Shape;
use paje_workers::Pin;

use super::Result;
use super::cache;
use super::program::{Call, Programs};
use super::record::{Cache, Kind, Run};

/// Parameters that are varied, and sizes and repetitions.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Numbers of threads, increasing, with 1.
    pub threads: Vec<usize>,
    /// Policies of placement.
    pub pins: Vec<Pin>,
    /// States of the page cache.
    pub caches: Vec<Cache>,
    /// Repetitions.
    pub runs: u32,
    /// Bytes of a trace for strong scaling.
    pub size: u64,
    /// Bytes for each thread for weak scaling.
    pub weak_size: u64,
}

/// Source of a trace.
#[derive(Clone, Debug)]
pub enum Source {
    /// From the generators.
    Shape(Shape),
    /// From a file. It cannot grow: there is no weak scaling then.
    File(PathBuf),
}

impl Source {
    /// The generated traces, then the given ones.
    ///
    /// # Errors
    ///
    /// Two with the same name: records could not tell them apart.
    pub fn all(shapes: &[Shape], traces: &[PathBuf]) -> std::result::Result<Vec<Source>, String> {
        let shapes = shapes.iter().copied().map(Source::Shape);
        let sources: Vec<_> = shapes.chain(traces.iter().cloned().map(Source::File)).collect();
        let mut names: Vec<String> = sources.iter().map(Source::name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two traces are called `{}`", pair[0])),
            None => Ok(sources),
        }
    }

    /// A file of it: if it is generated, of so many bytes in `folder`.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn on_disk(&self, size: u64, folder: &Path) -> Result<PathBuf> {
        let shape = match self {
            Source::File(path) => return Ok(path.clone()),
            Source::Shape(shape) => *shape,
        };
        let path = folder.join(format!("{shape}.trace"));
        datasets::write(shape, size, 1, &mut File::create(&path)?)?;
        Ok(path)
    }

    /// Its name in records and plots.
    pub fn name(&self) -> String {
        match self {
            Source::Shape(shape) => shape.name().to_owned(),
            Source::File(path) => {
                path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
            }
        }
    }
}

/// A trace on the disk.
#[derive(Clone, Debug)]
struct Trace {
    path: PathBuf,
    kind: Kind,
    /// The threads that it is measured with.
    threads: Vec<usize>,
    bytes: u64,
    lines: u64,
    output_bytes: u64,
}

/// One combination.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// Index of the trace.
    trace: usize,
    threads: usize,
    pin: Pin,
}

/// Measures one source; generated traces are in `folder` meanwhile.
///
/// `tell` is told what goes on, a line at a time.
///
/// # Errors
///
/// A program that fails, rows that depend on the number of threads, or files that cannot be used.
pub fn measure(
    source: &Source,
    plan: &Plan,
    programs: &Programs,
    folder: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Run>> {
    let mut traces = traces(source, plan, folder)?;
    for trace in &mut traces {
        check(trace, programs)?;
    }
    let mut caches = plan.caches.clone();
    if caches.contains(&Cache::Dropped) && !cache::can_drop(&traces[0].path)? {
        tell("the page cache cannot be dropped here: no runs without it");
        caches.retain(|cache| *cache != Cache::Dropped);
    }
    let steps = steps(&traces, &plan.pins);
    let mut runs = Vec::new();
    for run in 1..=plan.runs {
        for cache in &caches {
            if *cache == Cache::Cached {
                prepare(&traces, caches.len() > 1)?;
            }
            for step in &steps {
                runs.push(once(source, &traces[step.trace], step, *cache, run, programs)?);
            }
        }
        tell(&format!("repetition {run} of {}", plan.runs));
    }
    for trace in traces {
        if matches!(source, Source::Shape(_)) {
            std::fs::remove_file(&trace.path)?;
        }
    }
    Ok(runs)
}

/// Makes the traces of a source.
fn traces(source: &Source, plan: &Plan, folder: &Path) -> Result<Vec<Trace>> {
    let trace = |path: PathBuf, kind, threads| -> Result<Trace> {
        let size = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Trace { path, kind, threads, bytes: size.len(), lines: 0, output_bytes: 0 })
    };
    let shape = match source {
        Source::File(path) => {
            return Ok(vec![trace(path.clone(), Kind::Strong, plan.threads.clone())?]);
        }
        Source::Shape(shape) => *shape,
    };
    let generate = |kind: Kind, size: u64, threads: &[usize]| {
        let path = folder.join(format!("{shape}-{}-{}.trace", kind.name(), threads[0]));
        datasets::write(shape, size, 1, &mut File::create(&path)?)?;
        trace(path, kind, threads.to_vec())
    };
    let mut traces = vec![generate(Kind::Strong, plan.size, &plan.threads)?];
    for threads in &plan.threads {
        traces.push(generate(Kind::Weak, plan.weak_size * *threads as u64, &[*threads])?);
    }
    Ok(traces)
}

/// Counts a trace's lines and rows; every number of threads must dump the same.
fn check(trace: &mut Trace, programs: &Programs) -> Result<()> {
    trace.lines = cache::warm(&trace.path)?;
    let call = |threads| Call { trace: &trace.path, threads, pin: &Pin::None };
    let rows = programs.rows(call(1))?;
    for threads in trace.threads.iter().filter(|threads| **threads > 1) {
        if programs.rows(call(*threads))? != rows {
            return Err(format!("{threads} threads print other rows than one").into());
        }
    }
    trace.output_bytes = rows.bytes;
    Ok(())
}

/// All combinations, in the order in which they take turns.
fn steps(traces: &[Trace], pins: &[Pin]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, trace) in traces.iter().enumerate() {
        for threads in &trace.threads {
            steps.extend(pins.iter().map(|pin| Step {
                trace: index,
                threads: *threads,
                pin: pin.clone(),
            }));
        }
    }
    steps
}

/// Puts the traces into the page cache.
///
/// On a machine with several memory nodes it matters where: after runs without the cache, pages would
/// lie wherever the last program's threads were. So all are read anew, by one thread, for all runs.
fn prepare(traces: &[Trace], anew: bool) -> Result<()> {
    for trace in traces {
        if anew {
            cache::drop_pages(&trace.path)?;
        }
        cache::warm(&trace.path)?;
    }
    Ok(())
}

/// The floor, then the program.
fn once(
    source: &Source,
    trace: &Trace,
    step: &Step,
    cache: Cache,
    run: u32,
    programs: &Programs,
) -> Result<Run> {
    let call = Call { trace: &trace.path, threads: step.threads, pin: &step.pin };
    let ready = || match cache {
        Cache::Cached => Ok(()),
        Cache::Dropped => cache::drop_pages(&trace.path),
    };
    ready()?;
    let (floor, lines) = programs.floor(call, trace.output_bytes)?;
    if lines != trace.lines {
        return Err(format!("the floor counts {lines} lines, not {}", trace.lines).into());
    }
    ready()?;
    let (seconds, stats) = programs.dump(call)?;
    Ok(Run {
        shape: source.name(),
        bytes: trace.bytes,
        kind: trace.kind,
        threads: step.threads,
        pin: step.pin.clone(),
        cache,
        run,
        seconds,
        floor,
        output_bytes: trace.output_bytes,
        stats,
    })
}

/// Powers of two up to `most`, and `most`.
pub fn default_threads(most: usize) -> Vec<usize> {
    let mut threads: Vec<usize> =
        (0..usize::BITS).map(|power| 1 << power).take_while(|threads| *threads < most).collect();
    threads.push(most.max(1));
    threads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads() {
        assert_eq!(default_threads(0), [1]);
        assert_eq!(default_threads(1), [1]);
        assert_eq!(default_threads(2), [1, 2]);
        assert_eq!(default_threads(12), [1, 2, 4, 8, 12]);
        assert_eq!(default_threads(16), [1, 2, 4, 8, 16]);
    }

    #[test]
    fn combinations_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let plan = Plan {
            threads: vec![1, 4],
            pins: vec![Pin::None, Pin::Compact],
            caches: vec![Cache::Cached],
            runs: 1,
            size: 30_000,
            weak_size: 20_000,
        };
        let traces = traces(&Source::Shape(Shape::Mpi), &plan, folder.path()).unwrap();
        let about = |bytes: u64, size: u64| bytes.abs_diff(size) * 100 <= size;
        assert!(about(traces[0].bytes, 30_000), "{traces:?}");
        assert!(about(traces[1].bytes, 20_000), "{traces:?}");
        assert!(about(traces[2].bytes, 80_000), "{traces:?}");
        let told: Vec<_> = steps(&traces, &plan.pins)
            .iter()
            .map(|step| (traces[step.trace].kind, step.threads, step.pin.clone()))
            .collect();
        use {Kind::Strong, Kind::Weak, Pin::Compact, Pin::None};
        assert_eq!(
            told,
            [
                (Strong, 1, None),
                (Strong, 1, Compact),
                (Strong, 4, None),
                (Strong, 4, Compact),
                (Weak, 1, None),
                (Weak, 1, Compact),
                (Weak, 4, None),
                (Weak, 4, Compact),
            ]
        );
    }
}

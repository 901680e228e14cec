//! How a trace is read.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use paje_sim::{Error, ErrorKind, Options, Progress, Selection, Source, Trace as Replayed};
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use splitter::Input;
use workers::Workers;

use crate::errors;
use crate::job::{self, Caller, Request};
use crate::kept::Kept;
use crate::keywords::must_be;
use crate::options::Asked;
use crate::source::{Given, Object};
use crate::trace::Trace;

/// From one call of who is told of progress to the next.
const PACE: Duration = Duration::from_millis(100);

/// What a replay needs, in the thread that it has.
struct Replay {
    given: Given,
    options: Options,
    follow: bool,
    workers: Workers,
    told: Arc<Told>,
}

/// How far it is.
#[derive(Default)]
struct Told {
    progress: Progress,
    /// Bytes taken of a compressed file, and how many it has; the latter is also known of others.
    taken: OnceLock<(Option<Arc<AtomicU64>>, Option<u64>)>,
}

impl Told {
    /// Bytes read so far, and how many there are.
    fn bytes(&self) -> (u64, Option<u64>) {
        let (taken, size) =
            self.taken.get().map_or((None, None), |(taken, size)| (taken.as_ref(), *size));
        let named = self.progress.named_files();
        match (taken, size) {
            (Some(taken), Some(size)) => {
                (taken.load(Ordering::Relaxed) + named.0, Some(size + named.1))
            }
            // What is decoded is what is read, in named files too as long as they are not compressed.
            (_, Some(size)) => {
                let total = size + named.1;
                (self.progress.bytes().min(total), Some(total))
            }
            (_, None) => (self.progress.bytes(), None),
        }
    }
}

impl Replay {
    /// The trace, and the workers; or why there is none.
    fn run(self, ask: Sender<Request>) -> Result<(Replayed, Workers), Error> {
        let Replay { given, options, follow, workers, told } = self;
        let (path, further) = given.paths();
        let mut input = given.open(ask)?;
        let taken = input.compression().map(|_| input.read_so_far());
        let _ = told.taken.set((taken, input.size()));
        let read = |source: Source<'_>| {
            let mut source = source.followed_by(further);
            if follow {
                source = source.reading_files(path);
            }
            Replayed::read_with(source, &options, &workers, &told.progress)
        };
        let trace = if input.compression().is_some() {
            let trace = read(Source::stream(&mut input));
            undamaged(trace, input)
        } else {
            read(Source::from(input))
        };
        trace.map(|trace| (trace, workers))
    }
}

/// Of compressed data, checksums at the end tell whether what came before is what was once written: an
/// invalid trace is read to its end, since damage that made it invalid is what its user must know of.
fn undamaged(trace: Result<Replayed, Error>, mut input: Input) -> Result<Replayed, Error> {
    if trace.as_ref().is_err_and(|error| !matches!(error.kind(), ErrorKind::Stopped)) {
        std::io::copy(&mut input, &mut std::io::sink())?;
    }
    trace
}

/// The thread that called, meanwhile.
struct Watcher<'a, 'py> {
    told: &'a Told,
    object: Option<Object>,
    callback: Option<&'a Bound<'py, PyAny>>,
    last: Instant,
}

impl Caller for Watcher<'_, '_> {
    fn stop(&self) {
        self.told.progress.stop();
    }

    fn look(&mut self, _: Python<'_>) -> PyResult<()> {
        if let Some(callback) = self.callback
            && self.last.elapsed() >= PACE
        {
            callback.call1(self.told.bytes())?;
            self.last = Instant::now();
        }
        Ok(())
    }

    fn serve(&mut self, py: Python<'_>, request: Request) -> PyResult<()> {
        let Request::Read(bytes, answer) = request;
        if let Some(object) = &self.object {
            // If nobody waits for them any more, they are not needed.
            let _ = answer.send(object.read(py, bytes)?);
        }
        py.check_signals()?;
        self.look(py)
    }
}

/// Replays a trace: see pajereplay.read.
#[pyfunction]
pub(crate) fn read(
    source: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
    asked: &Bound<'_, PyDict>,
) -> PyResult<Trace> {
    let py = source.py();
    let given = Given::new(source)?;
    let (name, object) = (given.name().to_owned(), given.object(py));
    let asked = Asked::new(asked)?;
    let mut tables = asked.tables()?;
    if let Some(progress) = progress
        && !progress.is_callable()
    {
        return Err(PyTypeError::new_err(must_be("progress", "True or a function", progress)));
    }
    let told = Arc::new(Told::default());
    let workers = asked.workers()?;
    let threads = workers.threads();
    let replay = Replay {
        given,
        options: asked.replay()?,
        follow: asked.follow_files,
        workers,
        told: Arc::clone(&told),
    };
    let mut watcher = Watcher { told: &told, object, callback: progress, last: Instant::now() };
    let replayed = job::run(py, &mut watcher, move |ask| replay.run(ask))?;
    let (trace, workers) = replayed.map_err(|error| errors::of_trace(py, &name, &error))?;
    if let Some(callback) = progress {
        let (bytes, size) = told.bytes();
        callback.call1((size.unwrap_or(bytes), size))?;
    }
    warn_of_unmatched(py, &tables.selection, &trace)?;
    tables.metadata = metadata(&name, &trace);
    Ok(Trace::new(Kept::new(trace, tables, asked.durations, workers), name, threads))
}

/// Warns of patterns that nothing in the trace matches: most are misspelt.
fn warn_of_unmatched(py: Python<'_>, selection: &Selection, trace: &Replayed) -> PyResult<()> {
    if selection.is_everything() {
        return Ok(());
    }
    let selected = selection.resolve(trace);
    let types = selected.unmet_types().map(|glob| ("types", glob, "type"));
    let containers = selected.unmet_containers().map(|glob| ("containers", glob, "container"));
    for (keyword, glob, what) in types.chain(containers) {
        let message = format!("{keyword}={:?}: the trace has no such {what}", glob.as_str());
        // At the line that called pajereplay.read.
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(message)?, 2)?;
    }
    Ok(())
}

/// What goes with each table: who made it, and of which trace. The keys are those of `pj_dump -O`.
fn metadata(name: &Path, trace: &Replayed) -> BTreeMap<String, String> {
    let facts = [
        ("paje.writer", concat!("pajereplay ", env!("CARGO_PKG_VERSION")).to_owned()),
        ("paje.trace", name.display().to_string()),
        ("paje.end", trace.end().to_string()),
        ("paje.bytes", trace.bytes().to_string()),
        ("paje.lines", trace.lines().to_string()),
        ("paje.comments", String::from_utf8_lossy(trace.comments()).into_owned()),
    ];
    facts.into_iter().map(|(key, fact)| (key.to_owned(), fact)).collect()
}

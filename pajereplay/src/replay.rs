//! How a trace is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use paje_sim::{Error, Options, Progress, Source, Trace as Replayed};
use pyo3::prelude::*;
use splitter::Folders;
use workers::Workers;

use crate::errors;
use crate::job::{self, Caller, Request};
use crate::kept::Kept;
use crate::options::Asked;
use crate::source::{Given, Object};
use crate::trace::Trace;

/// From one call of who is told of progress to the next.
const PACE: Duration = Duration::from_millis(100);

/// What a replay needs, in the thread that it has.
struct Replay {
    given: Given,
    options: Options,
    /// Where the files may lie that the trace names, if they are read.
    folders: Option<Folders>,
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
        let Replay { given, options, folders, workers, told } = self;
        let (path, further) = given.paths();
        let input = given.open(ask)?;
        let taken = input.compression().map(|_| input.read_so_far());
        let _ = told.taken.set((taken, input.size()));
        let mut source = Source::from(input).followed_by(further);
        if let Some(folders) = folders {
            source = source.reading_files(path, folders);
        }
        let trace = Replayed::read_with(source, &options, &workers, &told.progress)?;
        Ok((trace, workers))
    }
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
    asked: Asked,
) -> PyResult<Trace> {
    let py = source.py();
    let given = Given::new(source)?;
    let (name, object) = (given.name().to_owned(), given.object(py));
    let mut tables = asked.tables()?;
    let told = Arc::new(Told::default());
    let workers = asked.workers()?;
    let threads = workers.threads();
    let (path, further) = given.paths();
    let folders = asked.folders(py, path.iter().chain(&further).map(PathBuf::as_path))?;
    let replay =
        Replay { given, options: asked.replay()?, folders, workers, told: Arc::clone(&told) };
    let mut watcher = Watcher { told: &told, object, callback: progress, last: Instant::now() };
    let replayed = job::run(py, &mut watcher, move |ask| replay.run(ask))?;
    let (trace, workers) = replayed.map_err(|error| errors::of_trace(py, &name, &error))?;
    if let Some(callback) = progress {
        let (bytes, size) = told.bytes();
        callback.call1((size.unwrap_or(bytes), size))?;
    }
    tables.metadata = metadata(&name, &trace);
    Ok(Trace::new(Kept::new(trace, tables, workers), name, threads))
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

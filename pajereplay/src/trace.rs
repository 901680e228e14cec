//! A trace, as Python sees it, and how it is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use paje_export::Table as Which;
use paje_sim::recovered::OpenState;
use paje_sim::{Error, ErrorKind, Options, Progress, Source, Trace as Replayed};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use splitter::Input;
use workers::Workers;

use crate::errors;
use crate::job::{self, Caller, Request};
use crate::kept::Kept;
use crate::options::Asked;
use crate::source::{Given, Object};
use crate::table::Table;

/// From one call of who is told of progress to the next.
const PACE: Duration = Duration::from_millis(100);

/// A replayed trace: what pajereplay.read returns.
///
/// Its tables are made when they are first asked for, and kept: see Table. The trace itself stays in
/// memory too, about as large as its tables are.
#[pyclass(module = "pajereplay", frozen)]
pub(crate) struct Trace {
    kept: Arc<Kept>,
    name: PathBuf,
    threads: usize,
}

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
    asked: Asked,
) -> PyResult<Trace> {
    let py = source.py();
    let given = Given::new(source)?;
    let (name, object) = (given.name().to_owned(), given.object(py));
    let mut tables = asked.tables()?;
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
    tables.metadata = metadata(&name, &trace);
    Ok(Trace { kept: Arc::new(Kept::new(trace, tables, workers)), name, threads })
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

impl Trace {
    fn table(&self, which: Which) -> Table {
        Table { kept: Arc::clone(&self.kept), which }
    }
}

#[pymethods]
impl Trace {
    /// The containers, the root among them: Parent, Type, Start, End, Name.
    #[getter]
    fn containers(&self) -> Table {
        self.table(Which::Container)
    }

    /// The states: Container, Type, Start, End, Imbrication, Value.
    #[getter]
    fn states(&self) -> Table {
        self.table(Which::State)
    }

    /// The values of variables over time: Container, Type, Start, End, Value.
    #[getter]
    fn variables(&self) -> Table {
        self.table(Which::Variable)
    }

    /// The events: Container, Type, Time, Value.
    #[getter]
    fn events(&self) -> Table {
        self.table(Which::Event)
    }

    /// The links: Container, Type, Start, End, Value, StartContainer, EndContainer, Key.
    #[getter]
    fn links(&self) -> Table {
        self.table(Which::Link)
    }

    /// The types, and their values below them: Parent, Name, Nature.
    #[getter]
    fn type_hierarchy(&self) -> Table {
        self.table(Which::TypeHierarchy)
    }

    /// The containers, and the types of what is in each: Parent, Name, Type, Nature.
    #[getter]
    fn entity_hierarchy(&self) -> Table {
        self.table(Which::EntityHierarchy)
    }

    /// When the trace ends, in seconds: its latest time, or stop_at.
    #[getter]
    fn end(&self) -> f64 {
        self.kept.trace.end()
    }

    /// How many objects there are, as a dict: containers (without the root), states, variables, events,
    /// links. Those that natures, types and containers leave out do not count; those that start and end
    /// leave out do.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.kept.trace.counts();
        let dict = PyDict::new(py);
        dict.set_item("containers", counts.containers)?;
        dict.set_item("states", counts.states)?;
        dict.set_item("variables", counts.variables)?;
        dict.set_item("events", counts.events)?;
        dict.set_item("links", counts.links)?;
        Ok(dict)
    }

    /// What was read, as a dict: source, lines, bytes (of text), event_lines, threads, seconds (of the
    /// replay), version (of pajereplay).
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trace = &self.kept.trace;
        let dict = PyDict::new(py);
        dict.set_item("source", self.name.display().to_string())?;
        dict.set_item("lines", trace.lines())?;
        dict.set_item("bytes", trace.bytes())?;
        dict.set_item("event_lines", trace.event_lines())?;
        dict.set_item("threads", self.threads)?;
        dict.set_item("seconds", trace.times().wall.as_secs_f64())?;
        dict.set_item("version", env!("CARGO_PKG_VERSION"))?;
        Ok(dict)
    }

    /// What was doubtful, as a list of Problem, once for each kind and event definition.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut all: Vec<_> = self.kept.trace.warnings().iter().collect();
        all.sort_by_key(|warning| (warning.file_number, warning.first_line));
        let problems = all.into_iter().map(|warning| {
            let fields = PyDict::new(py);
            fields.set_item("severity", "warning")?;
            fields.set_item("code", warning.kind.code())?;
            fields.set_item("message", warning.kind.sentence())?;
            fields.set_item("file", warning.file.as_deref().unwrap_or(&self.name).as_os_str())?;
            fields.set_item("line", warning.first_line)?;
            fields.set_item("count", warning.count)?;
            problem(&fields)
        });
        problems.collect()
    }

    /// What recover=True left out or mended, as a list of Problem, once for each kind of problem.
    #[getter]
    fn recovered<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let recovery = self.kept.trace.recovered();
        let problems = recovery.problems.iter().map(|recovered| {
            let fields = PyDict::new(py);
            fields.set_item("severity", "error")?;
            let code = match recovered.error.kind() {
                ErrorKind::Invalid(problem) => problem.code(),
                _ => "unreadable-file",
            };
            fields.set_item("code", code)?;
            fields.set_item("message", errors::message(&recovered.error))?;
            errors::place(&fields, &self.name, &recovered.error)?;
            fields.set_item("count", recovered.count)?;
            fields.set_item("remedy", recovered.remedy.word())?;
            problem(&fields)
        });
        problems.collect()
    }

    /// The first states that were open where recover=True cut the trace off, and ended there, as tuples of
    /// container, type and value.
    #[getter]
    fn open_states(&self) -> Vec<(String, String, String)> {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let open = self.kept.trace.recovered().open_states.iter();
        open.map(|OpenState { container, type_, value, .. }| {
            (text(container), text(type_), text(value))
        })
        .collect()
    }

    /// Lets go of the rows of all tables. What was made of them keeps what it needs; they are made again when
    /// they are asked for.
    fn release(&self, py: Python<'_>) {
        py.detach(|| Which::ALL.into_iter().for_each(|which| self.kept.release(which)));
    }

    fn __repr__(&self) -> String {
        let counts = self.kept.trace.counts();
        format!(
            "<pajereplay.Trace {}: {} containers, {} states, {} variables, {} events, {} links, end {} s>",
            self.name.display(),
            counts.containers,
            counts.states,
            counts.variables,
            counts.events,
            counts.links,
            self.kept.trace.end()
        )
    }
}

/// A `Problem` of these fields.
pub(crate) fn problem<'py>(fields: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let class = fields.py().import("pajereplay._records")?.getattr("Problem")?;
    class.call((), Some(fields))
}

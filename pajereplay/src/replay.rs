//! How a trace is read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use paje_read::{Keywords, Replay, Told, metadata};
use pyo3::prelude::*;

use crate::errors;
use crate::job::{self, Caller, Request};
use crate::kept::Kept;
use crate::options::{Asked, wrong};
use crate::source::{Given, Object};
use crate::trace::Trace;

/// From one call of who is told of progress to the next.
const PACE: Duration = Duration::from_millis(100);

/// The thread that called, meanwhile.
struct Watcher<'a, 'py> {
    told: &'a Told,
    object: Option<Object>,
    callback: Option<&'a Bound<'py, PyAny>>,
    last: Instant,
}

impl Caller for Watcher<'_, '_> {
    fn stop(&self) {
        self.told.stop();
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
    let keywords = Keywords::from(asked);
    let mut tables = keywords.tables().map_err(wrong)?;
    let told = Arc::new(Told::default());
    let mut replay = Replay::new(&keywords, Arc::clone(&told)).map_err(wrong)?;
    (replay.path, replay.further) = given.paths();
    let threads = replay.threads();
    let mut watcher = Watcher { told: &told, object, callback: progress, last: Instant::now() };
    let replayed = job::run(py, &mut watcher, move |ask| replay.run(|| given.open(ask)))?;
    let (trace, workers) = replayed.map_err(|error| errors::of_trace(py, &name, &error))?;
    if let Some(callback) = progress {
        let (bytes, size) = told.bytes();
        callback.call1((size.unwrap_or(bytes), size))?;
    }
    tables.metadata = metadata(&name, &trace);
    Ok(Trace::new(Kept::new(trace, tables, workers), name, threads))
}

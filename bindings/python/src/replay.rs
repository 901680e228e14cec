//! Implements `pajereplay.read`.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use paje_bindings::{Replay, ReplayStatus, metadata};
use paje_sim::{Selection, TimeRange};
use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::job::{self, Caller, Request};
use crate::kept::{Kept, Part};
use crate::keywords::{Arguments, must_be};
use crate::options::{FLAG, keywords, wrong};
use crate::packed;
use crate::source::{Given, Object, serve};
use crate::trace::Trace;

const PACE: Duration = Duration::from_millis(100);

/// Serves the file object and reports progress, in the calling thread.
struct Watcher<'a, 'py> {
    status: &'a ReplayStatus,
    object: Option<Object>,
    callback: Option<&'a Bound<'py, PyAny>>,
    last: Instant,
}

impl Caller for Watcher<'_, '_> {
    fn stop(&self) {
        self.status.stop();
    }

    fn look(&mut self, _: Python<'_>) -> PyResult<()> {
        if let Some(callback) = self.callback
            && self.last.elapsed() >= PACE
        {
            callback.call1(self.status.bytes())?;
            self.last = Instant::now();
        }
        Ok(())
    }

    fn serve(&mut self, py: Python<'_>, request: Request) -> PyResult<()> {
        serve(self.object.as_ref(), py, request)?;
        self.look(py)
    }
}

#[pyfunction]
pub(crate) fn read(
    source: &Bound<'_, PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
    asked: &Bound<'_, PyDict>,
) -> PyResult<Trace> {
    let py = source.py();
    let given = Given::new(source)?;
    let asked = Arguments(asked);
    // A copy has the name of the original.
    let copied: Option<PathBuf> = asked.get("name", "a name, or None")?;
    let again = given.single_path().filter(|_| copied.is_none()).map(Path::to_owned);
    let (name, object) = (copied.unwrap_or_else(|| given.name().to_owned()), given.object(py));
    let mut keywords = keywords(&asked)?;
    let durations = asked.get("durations", FLAG)?;
    let mut tables = keywords.tables().map_err(wrong)?;
    let mut begins = None;
    if asked.get("begins", FLAG)? {
        let TimeRange { from, to } = std::mem::take(&mut tables.selection.window);
        begins = Some(from..to);
        // The window has both its ends.
        keywords.end = Some(to.next_down()).filter(|end| end.is_finite() && to.is_finite());
    }
    if let Some(progress) = progress
        && !progress.is_callable()
    {
        return Err(PyTypeError::new_err(must_be("progress", "True or a function", progress)));
    }
    let status = Arc::new(ReplayStatus::default());
    let (path, further) = given.paths();
    let replay = Replay::new(&keywords, Arc::clone(&status)).map_err(wrong)?;
    let replay = replay.of_files(path, further, &keywords);
    let mut replay = replay.map_err(|(folder, error)| errors::of_file(py, &folder, &error))?;
    if begins.is_some() {
        replay.within_containers();
    }
    // Without the lanes, profiles would lack containers without states in the window.
    let lanes = given.single_path().filter(|_| begins.is_none()).and_then(packed::lanes);
    let is_part = (lanes.is_some() || begins.is_some()) && replay.within_window();
    let again = again.map(|path| (keywords.clone(), path));
    let memory_limit = replay.memory_limit();
    let part = Part { lanes: lanes.filter(|_| is_part), begins, again, memory_limit };
    let threads = replay.threads();
    let mut watcher = Watcher { status: &status, object, callback: progress, last: Instant::now() };
    let replayed = job::run(py, &mut watcher, move |ask| replay.run(|| given.open(ask)))?;
    let (trace, workers) = replayed.map_err(|error| errors::of_trace(py, &name, &error))?;
    if let Some(callback) = progress {
        let (bytes, size) = status.bytes();
        callback.call1((size.unwrap_or(bytes), size))?;
    }
    warn_of_unmatched(py, &tables.selection, &trace)?;
    tables.metadata = metadata(&name, &trace);
    let fetched: Option<u64> = asked.get("bytes_read", "a number, or None")?;
    let read = fetched.unwrap_or(status.bytes().0);
    Ok(Trace::new(Kept::new(trace, tables, durations, workers, part), name, threads, read))
}

/// Warns about patterns without a match, since they are often misspelt.
fn warn_of_unmatched(
    py: Python<'_>,
    selection: &Selection,
    trace: &paje_sim::Trace,
) -> PyResult<()> {
    if selection.is_everything() {
        return Ok(());
    }
    let selected = trace.select(selection);
    let types = selected.unmet_types().map(|glob| ("types", glob, "type"));
    let containers = selected.unmet_containers().map(|glob| ("containers", glob, "container"));
    for (keyword, glob, what) in types.chain(containers) {
        let message = format!("{keyword}={:?}: the trace has no such {what}", glob.as_str());
        // Attributes the warning to the caller of pajereplay.read.
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(message)?, 2)?;
    }
    Ok(())
}

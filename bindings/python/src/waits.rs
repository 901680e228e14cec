//! Wait states of a trace that is read in portions.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use paje_analysis::Table;
use paje_analysis::asked::{About, within_limit};
use paje_analysis::waits::portions::{First, Found};
use paje_bindings::{Keywords, ReplayStatus, as_file};
use paje_sim::{Portion, Trace};
use paje_workers::Workers;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use splitter::Input;

use crate::analysis::{self, Analysis, Failed};
use crate::job::{self, Caller};
use crate::keywords::Arguments;
use crate::options::{keywords, wrong};

/// Returns wait states by kind, computed in memory that does not depend on the length of the trace.
/// Returns None if that is impossible. `size` is the number of bytes of text in a portion.
#[pyfunction]
#[pyo3(signature = (path, asked, size, *, map=None, root=None, eager=None, bytes=None))]
#[allow(clippy::too_many_arguments)] // Python passes them by keyword.
pub(crate) fn waits_in_portions(
    py: Python<'_>,
    path: PathBuf,
    asked: &Bound<'_, PyDict>,
    size: u64,
    map: Option<&str>,
    root: Option<String>,
    eager: Option<u64>,
    bytes: Option<String>,
) -> PyResult<Option<Analysis>> {
    let about = About { map: analysis::map(map)?, group: None, root, eager, bytes };
    let (keywords, status) = (keywords(&Arguments(asked))?, Arc::new(ReplayStatus::default()));
    // Wrong keywords are errors of the caller.
    keywords.replay().and(keywords.workers().map(drop)).map_err(wrong)?;
    let readings = Readings { path: path.clone(), keywords, status: Arc::clone(&status), size };
    let found = job::run(py, &mut Stop(status), move |_| readings.waits(&about))?;
    let found = found.map_err(|failed| failed.raised(py, &path))?;
    found.as_ref().map(Analysis::of).transpose()
}

struct Stop(Arc<ReplayStatus>);

impl Caller for Stop {
    fn stop(&self) {
        self.0.stop();
    }
}

/// Readings of one trace in portions.
struct Readings {
    path: PathBuf,
    keywords: Keywords,
    status: Arc<ReplayStatus>,
    size: u64,
}

impl Readings {
    fn read(
        &self,
        see: &mut (dyn FnMut(&Trace) -> bool + Send),
    ) -> Result<(Trace, Workers), Failed> {
        let replay = analysis::replay(&self.keywords, &self.path, Arc::clone(&self.status));
        let mut see = |portion: &Portion<'_>| match see(portion.trace()) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let open = || Input::open(Some(as_file(&self.path)));
        let read = replay.and_then(|replay| replay.run_in_portions(open, self.size, &mut see));
        read.map_err(Failed::Read)
    }

    fn waits(&self, about: &About) -> Result<Option<Table>, Failed> {
        let wrong = |error: paje_bindings::Wrong| Failed::Analysis(error.0);
        let window = self.keywords.tables().map_err(wrong)?.selection.window;
        let limit = self.keywords.replay().map_err(wrong)?.memory.map(|limit| limit.bytes);
        let mut first = First::default();
        let (trace, _) = self.read(&mut |trace| {
            first.see(trace);
            true
        })?;
        let plan = about.plan(first, &trace, window).map_err(Failed::Analysis)?;
        let Some(mut growing) = plan else { return Ok(None) };
        loop {
            let (mut now, mut refused) = (Some(growing), Ok(()));
            let read = self.read(&mut |trace| {
                now = now.take().map(|now| now.see(trace));
                let needed = now.as_ref().map_or(0, |now| now.bytes());
                refused = limit.map_or(Ok(()), |limit| within_limit(needed, limit));
                refused.is_ok()
            });
            refused.map_err(Failed::Analysis)?;
            let workers = read?.1;
            growing = match workers.run(|| now.map(|now| now.finish())) {
                Some(Found::Again(next)) => *next,
                Some(Found::Table(table)) => return Ok(Some(table)),
                Some(Found::Nothing) | None => return Ok(None),
            };
        }
    }
}

//! The tasks of a run of StarPU. A file beside the trace describes them.

use std::path::{Path, PathBuf};

use paje_analysis::classes::Map;
use paje_analysis::tasks::{Findings, TaskRun, What};
use paje_analysis::why::{self, Verdict};
use paje_console::Failure;
use paje_console::beside::Tasks;
use paje_sim::Trace;

use super::{Explained, Tracks};
use crate::cli::Cli;
use crate::view::View;

const WAITS: &str = "tasks wait for tasks, not for workers; `pj_profile tasks --by worker` shows why each worker idles";

/// File that describes the tasks of a trace, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct TasksFile {
    options: Tasks,
    file: Option<PathBuf>,
}

impl TasksFile {
    pub(crate) fn of(cli: &Cli, trace: Option<&Path>) -> Self {
        let options = cli.tasks.clone();
        TasksFile { file: options.file(trace, &cli.reading.named), options }
    }

    /// Analyses the tasks of a trace. Returns `None` if the trace is not of StarPU or no file
    /// describes its tasks.
    pub(super) fn explained(&self, view: &View, map: &Map) -> Option<Explained> {
        let is_starpu = map.name() == "starpu" || self.options.tasks.is_some();
        let file = self.file.as_deref().filter(|_| is_starpu)?;
        let found = self.findings(&view.trace, map, file);
        Some(found.map_or_else(|why| Explained::refused(&why), |found| explained(view, &found)))
    }

    fn findings<'t>(
        &self,
        trace: &'t Trace,
        map: &Map,
        file: &Path,
    ) -> Result<Findings<'t>, String> {
        if !trace.has_user_defined() {
            return Err("the tasks have their numbers in user-defined fields, which are not kept; start pj_view with \
                        --fields"
                .into());
        }
        let contents = self.options.open(file).map_err(|failure| match failure {
            Failure::File(path, error) => format!("{}: {error}", path.display()),
            _ => format!("{} cannot be read", file.display()),
        })?;
        let run = TaskRun::read(trace, map, contents)
            .map_err(|error| format!("{}{error}", file.display()))?;
        Findings::new(run, (f64::NEG_INFINITY, f64::INFINITY))
            .ok_or_else(|| "the trace has no states of tasks".into())
    }
}

fn explained(view: &View, found: &Findings<'_>) -> Explained {
    let tracks = Tracks::of(view, found.run.tracks.list());
    let parts = found.path.parts.iter().filter_map(|part| {
        let (What::Task(task) | What::Before(task)) = part.what else { return None };
        let worker = found.run.tasks[task as usize].execution?.worker;
        Some((found.run.workers[worker as usize].track, part.start, part.end))
    });
    Explained {
        waits: Err(WAITS.into()),
        path: Ok(tracks.path(view, parts)),
        verdict: Ok(verdict(found)),
    }
}

fn verdict(found: &Findings<'_>) -> Verdict {
    let mut verdict = why::of_tasks(found);
    // The first note has the bounds, which are in the verdict.
    let notes = found.notes().into_iter().skip(1);
    verdict.doubts.extend(notes.map(|note| note.trim_start_matches("note: ").to_owned()));
    verdict
}

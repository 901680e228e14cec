//! The report `tasks`, and `waits` and `critical` of runs whose tasks are known.

use std::path::Path;

use paje_analysis::Table;
use paje_analysis::classes::Map;
use paje_analysis::tasks::{Findings, TaskRun};
use paje_console::Failure;
use paje_sim::Trace;

use crate::cli::{Cli, Report};

/// Analyses the tasks of a run. Returns `None` if the trace is not of StarPU, or its tasks are not described.
pub(crate) fn find<'t>(
    cli: &Cli,
    name: &Path,
    trace: &'t Trace,
    map: &Map,
) -> Result<Option<Findings<'t>>, Failure> {
    let unsuitable = |why: String| Failure::Unsuitable(name.to_owned(), why);
    let is_starpu = map.name() == "starpu" || cli.tasks.tasks.is_some();
    let Some(file) = cli.tasks_file().filter(|_| is_starpu) else {
        let why = "the report needs a trace of StarPU with the file tasks.rec, which starpu_fxt_tool writes beside it \
                   (--tasks FILE)";
        return match cli.report() {
            Report::Tasks => Err(unsuitable(why.into())),
            _ => Ok(None),
        };
    };
    let run = TaskRun::read(trace, map, cli.tasks.open(&file)?)
        .map_err(|error| Failure::Other(format!("{}{error}", file.display())))?;
    let window = (cli.span.start, cli.span.end);
    let window = (window.0.unwrap_or(f64::NEG_INFINITY), window.1.unwrap_or(f64::INFINITY));
    Findings::new(run, window)
        .map(Some)
        .ok_or_else(|| unsuitable("the trace has no states of tasks".into()))
}

/// Returns the report and notes on it.
pub(crate) fn table(cli: &Cli, found: &Findings<'_>) -> Result<(Table, Vec<String>), Failure> {
    let table = match (cli.report(), cli.by.as_deref()) {
        (Report::Waits, Some(by @ ("waiter" | "pair"))) => {
            let why = "tasks wait for tasks, not for containers; `pj_profile tasks --by worker` shows each worker";
            return Err(Failure::Other(format!("--by {by}: {why}")));
        }
        (Report::Waits, _) => found.waits_table(),
        (Report::Critical, by) => found.path_table(by == Some("value")),
        (_, Some("worker")) => found.workers_table(),
        (_, Some("kernel")) => found.kernels_table(),
        (_, Some("task")) => found.tasks_table(),
        _ => found.kinds_table(),
    };
    Ok((table, found.notes()))
}

//! Predictions for tasks of StarPU.

use std::path::Path;

use paje_analysis::classes::Map;
use paje_analysis::tasks::{NO_FILE, TaskRun};
use paje_console::Failure;
use paje_sim::Trace;
use paje_whatif::hypothesis::Hypothesis;
use paje_whatif::tasks::{TaskChange, predict};

use crate::cli::Cli;
use crate::report::Report;

/// Returns the report on a changed run of tasks. Returns `None` if the trace is not of StarPU, or its tasks are not
/// described.
pub(crate) fn report(
    cli: &Cli,
    name: &Path,
    trace: &Trace,
    map: &Map,
    hypotheses: &[Hypothesis],
) -> Result<Option<Report>, Failure> {
    let unsuitable = |why: String| Failure::Unsuitable(name.to_owned(), why);
    let is_starpu = map.name() == "starpu" || cli.tasks.tasks.is_some();
    let Some(file) = cli.tasks_file().filter(|_| is_starpu) else {
        return match cli.workers.is_empty() {
            // States and messages alone would not delay the tasks that depend on others.
            true if map.name() == "starpu" && !cli.identity => {
                Err(unsuitable(format!("the changed run cannot be predicted: {NO_FILE}")))
            }
            true => Ok(None),
            false => Err(unsuitable(
                "--workers needs a trace of StarPU with the file tasks.rec, which starpu_fxt_tool writes beside it \
                 (--tasks FILE)"
                    .into(),
            )),
        };
    };
    let mut changes = Vec::new();
    for hypothesis in hypotheses {
        match hypothesis {
            Hypothesis::Scale(scale)
                if scale.states.container.is_none() && scale.min_gap == 0.0 =>
            {
                changes.push(TaskChange::Scale(scale.states.state.clone(), scale.factor));
            }
            _ => return Err(Failure::Other(only(cli))),
        }
    }
    let is_more = cli.sweep.is_some() || cli.random.is_some();
    if is_more || cli.output.is_some() || cli.html.is_some() {
        return Err(Failure::Other(only(cli)));
    }
    changes.extend(cli.workers.iter().cloned());
    let run = TaskRun::read(trace, map, cli.tasks.open(&file)?)
        .map_err(|error| Failure::Other(format!("{}{error}", file.display())))?;
    let prediction = predict(&run, &changes).map_err(unsuitable)?;
    let mut report = Report::new(trace.time_scale());
    report.add_tasks(&prediction);
    Ok(Some(report))
}

fn only(cli: &Cli) -> String {
    let beside =
        if cli.tasks.tasks.is_some() { "" } else { " (or ignore tasks.rec with --no-files)" };
    format!(
        "runs of tasks can only be changed with --scale state=KERNEL,factor=F and --workers, and give only a \
         report{beside}"
    )
}

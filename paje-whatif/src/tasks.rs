//! Predicts a run of StarPU's tasks with other kernels or workers, by list scheduling.
//!
//! The model schedules the tasks as StarPU does: by dependencies, priorities, order of submission, and the time that tasks
//! take on each kind of worker ([`Policy`]). Which scheduler a run used is not recorded. So each policy first schedules
//! the run as it was, and those that explain its makespan predict the changed run. The prediction is relative: the
//! recorded makespan times the change in the model. The interval covers all predictions of these policies, relative and
//! absolute, widened by a margin, which is the usual error in comparison with runs of StarPU that really changed.

mod data;
mod simulate;

use paje_comm::tasks::TaskRun;
use paje_sim::Glob;

use data::Data;
pub use simulate::Policy;
use simulate::{Outcome, Setup, simulate};

/// Largest deviation of a policy's schedule from the recorded makespan.
const MISFIT: f64 = 0.1;

/// Largest difference between the deviation of a policy and that of the best one.
const NEAR: f64 = 0.05;

/// Part of a prediction by which the interval is wider than the predictions.
const MARGIN: f64 = 0.1;

/// A change of the tasks or workers.
#[derive(Clone, Debug)]
pub enum TaskChange {
    /// Scales the time of kernels.
    Scale(Glob, f64),
    /// Adds workers of a kind, or removes them.
    Workers(String, Number),
}

/// Number of workers of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// As many more, or fewer, as in the recorded run.
    More(i32),
    /// Exactly as many.
    Exactly(u32),
}

impl TaskChange {
    /// Parses `KIND=N`, `KIND=+N` or `KIND=-N`.
    ///
    /// # Errors
    /// Fails with a message that says what was expected.
    pub fn workers(text: &str) -> Result<Self, String> {
        let wrong = || "expected KIND=N, KIND=+N or KIND=-N, such as CUDA=+1".to_owned();
        let (kind, number) = text.split_once('=').ok_or_else(wrong)?;
        let number = match number.starts_with(['+', '-']) {
            true => number.parse().ok().filter(|it: &i32| it.abs() <= 10_000).map(Number::More),
            false => number.parse().ok().filter(|it| *it <= 10_000).map(Number::Exactly),
        };
        Ok(TaskChange::Workers(kind.to_owned(), number.ok_or_else(wrong)?))
    }
}

/// A predicted run. Times are in the trace's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPrediction {
    /// Makespan of the recorded run: from the first start to the last end of a task.
    pub recorded: f64,
    /// Predicted makespan.
    pub makespan: f64,
    /// Interval of makespans.
    pub range: (f64, f64),
    /// Policy that explains the recorded run best, and by how much its schedule deviates from it.
    pub policy: (Policy, f64),
    /// For each kind of worker: its name, and before and after the change, the number of workers and the share of their time
    /// in tasks.
    pub kinds: Vec<(String, [u32; 2], [f64; 2])>,
    /// What makes the prediction uncertain.
    pub doubts: Vec<String>,
}

/// Predicts the changed run.
///
/// # Errors
/// A change fits nothing in the run, tasks fit no worker any more, or no policy explains the recorded run.
pub fn predict(run: &TaskRun<'_>, changes: &[TaskChange]) -> Result<TaskPrediction, String> {
    let (begin, end) = run.span().ok_or("the trace has no states of tasks")?;
    let recorded = end - begin;
    let data = Data::new(run);
    let before = Setup::recorded(run, &data);
    let counts_before = run.workers_by_kind();
    let (after, counts_after) = changed(run, &before, changes)?;
    let policies = if data.prefetches { &Policy::ALL[..2] } else { &Policy::ALL[..] };
    let mut models = Vec::new();
    for policy in policies {
        let model = simulate(run, &data, &before, *policy)?;
        models.push((model.makespan / recorded - 1.0, *policy, model));
    }
    models.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let best = (models[0].1, models[0].0);
    let is_changed = before != after;
    if is_changed && best.1.abs() > MISFIT {
        return Err(format!(
            "list scheduling does not explain this run: the best policy, {}, gives {:+.1} % of its makespan; predictions \
             need a run that was limited by its tasks, with a scheduler such as dmda, dmdas, prio or lws",
            best.0.name(),
            best.1 * 100.0
        ));
    }
    models.retain(|(misfit, ..)| {
        misfit.abs() <= best.1.abs() + NEAR && misfit.abs() <= MISFIT.max(best.1.abs())
    });
    let (mut makespan, mut range, mut busy) = (recorded, None::<(f64, f64)>, None::<Outcome>);
    for (_, policy, model) in models.iter().filter(|_| is_changed) {
        let other = simulate(run, &data, &after, *policy)?;
        let relative = recorded * (other.makespan / model.makespan);
        let (low, high) = (relative.min(other.makespan), relative.max(other.makespan));
        let known = range.unwrap_or((low, high));
        range = Some((known.0.min(low), known.1.max(high)));
        if busy.is_none() {
            (makespan, busy) = (relative, Some(other));
        }
    }
    let (low, high) = range
        .map_or((recorded, recorded), |(low, high)| (low / (1.0 + MARGIN), high * (1.0 + MARGIN)));
    let mut by_kind = vec![0.0; run.kinds.len()];
    for (_, _, execution) in run.executed() {
        let kind = run.workers[execution.worker as usize].kind;
        by_kind[kind as usize] += execution.end - execution.start;
    }
    let share = |busy: f64, workers: u32, whole: f64| match workers {
        0 => 0.0,
        _ => busy / (f64::from(workers) * whole),
    };
    let kinds = run.kinds.iter().enumerate().map(|(kind, name)| {
        let workers = [counts_before[kind], counts_after[kind]];
        let was = share(by_kind[kind], workers[0], recorded);
        let is = busy.as_ref().map_or(was, |it| share(it.busy[kind], workers[1], it.makespan));
        (name.clone(), workers, [was, is])
    });
    let kinds = kinds.collect();
    let doubts = if is_changed { doubts(run, &counts_after) } else { Vec::new() };
    Ok(TaskPrediction { recorded, makespan, range: (low, high), policy: best, kinds, doubts })
}

/// Returns the changed workers and times, and the number of workers of each kind.
fn changed(
    run: &TaskRun<'_>,
    before: &Setup,
    changes: &[TaskChange],
) -> Result<(Setup, Vec<u32>), String> {
    let (mut after, mut counts) = (before.clone(), run.workers_by_kind());
    for change in changes {
        match change {
            TaskChange::Scale(kernel, factor) => {
                let types =
                    (0..run.types.len() as u32).filter(|at| kernel.matches(run.kernel(*at)));
                let types: Vec<u32> = types.collect();
                if types.is_empty() {
                    let names = (0..run.types.len() as u32).map(|at| run.kernel(at));
                    let hint = paje_sim::nearest(kernel.as_str().as_bytes(), names);
                    return Err(format!("state={kernel}: no task has such a kernel; {hint}"));
                }
                types.iter().for_each(|type_| after.factors[*type_ as usize] *= factor);
            }
            TaskChange::Workers(name, number) => {
                let known = run.kinds.iter().position(|kind| kind.eq_ignore_ascii_case(name));
                let kind = known.ok_or_else(|| {
                    let kinds = run.kinds.join(", ");
                    format!("{name}: the run has no workers of this kind; kinds are {kinds}")
                })?;
                let count = counts[kind];
                counts[kind] = match number {
                    Number::Exactly(count) => *count,
                    Number::More(more) => count.checked_add_signed(*more).ok_or_else(|| {
                        let be = if count == 1 { "worker" } else { "workers" };
                        format!("{name}={more}: the run has only {count} {be} of this kind")
                    })?,
                };
            }
        }
    }
    for (kind, count) in counts.iter().enumerate() {
        after.resize(kind as u32, *count as usize);
    }
    let is_left = |(kind, (count, _)): (usize, &(u64, f64))| *count > 0 && counts[kind] > 0;
    for (at, type_) in run.types.iter().enumerate() {
        if !type_.by_kind.iter().enumerate().any(is_left) {
            let kernel = String::from_utf8_lossy(run.kernel(at as u32)).into_owned();
            let kinds = type_.by_kind.iter().zip(&run.kinds).filter(|((count, _), _)| *count > 0);
            let kinds: Vec<&str> = kinds.map(|(_, kind)| kind.as_str()).collect();
            return Err(format!(
                "no {} worker is left, and only such workers executed tasks of {kernel}; how long these take elsewhere is \
                 not known",
                kinds.join(" or ")
            ));
        }
    }
    Ok((after, counts))
}

fn doubts(run: &TaskRun<'_>, counts: &[u32]) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for (at, type_) in run.types.iter().enumerate() {
        for (kind, _) in type_.by_kind.iter().enumerate().filter(|(_, (count, _))| *count == 0) {
            let kernel = String::from_utf8_lossy(run.kernel(at as u32));
            let name = format!("{kernel} on {}", run.kinds[kind]);
            if counts[kind] > 0 && !unknown.contains(&name) {
                unknown.push(name);
            }
        }
    }
    let mut doubts = vec![format!(
        "the interval has a margin of {:.0} %, within which the model agrees with most runs of StarPU that really changed",
        MARGIN * 100.0
    )];
    if !unknown.is_empty() {
        doubts.push(format!(
            "never executed in the recorded run, and so not in the predicted one: {}",
            unknown.join(", ")
        ));
    }
    doubts.push("tasks are submitted at their recorded times, or as long after their last wait for all tasks".into());
    doubts
}

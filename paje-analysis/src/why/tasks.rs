//! Rules about tasks whose dependences are known.

use paje_decimal::amounts::{count, duration, percent};

use super::{Cause, Kind, LEAST, Verdict};
use crate::tasks::{Findings, Reason};

/// Number of tasks per worker below which a run has too few tasks to keep all workers busy.
const FEW: f64 = 4.0;

/// Smallest part of the run that the longest chain of tasks takes, if it limits the run.
const LONG: f64 = 0.7;

/// Factor by which a kernel on an accelerator is slower than on processors.
const SLOWER: f64 = 1.2;

/// Judges a run of tasks by the idle time of its workers, and by the bounds on its makespan.
#[must_use]
pub fn of_tasks(found: &Findings<'_>) -> Verdict {
    let took = found.span.1 - found.span.0;
    let workers = found.usage.len().max(1) as f64;
    let whole = (took * workers).max(f64::MIN_POSITIVE);
    let share =
        |reason: Reason| found.usage.iter().map(|it| it.time(reason).to_f64()).sum::<f64>() / whole;
    let scale = found.run.tracks.trace().time_scale();
    let shown = |time: f64| duration(scale.seconds(time));
    let chain =
        format!("the longest chain takes at least {} of {}", shown(found.bounds.path), shown(took));
    let tasks = found.executed().count() as u64;
    let starved = [Reason::Dependences, Reason::Submission, Reason::End].map(share);
    // Idle workers cannot gain more than this, unless dependences limit the run.
    let gain = (1.0 - found.bounds.best() / took).max(0.0);
    let is_chain = found.bounds.path >= LONG * took;
    let mut causes = Vec::new();
    let mut add = |kind, cost: f64, text: String| {
        let is_bound = matches!(kind, Kind::FewTasks | Kind::SlowKernel)
            || kind == Kind::Dependences && is_chain;
        let cost = if is_bound { cost } else { cost.min(gain) };
        if cost >= LEAST {
            causes.push(Cause::new(kind, cost, text, "tasks"));
        }
    };
    if (tasks as f64) < FEW * workers {
        let text = format!(
            "{} tasks cannot keep {workers} workers busy, and these idle for {} of their time",
            count(tasks),
            percent(starved.iter().sum())
        );
        add(Kind::FewTasks, starved.iter().sum(), text);
    } else {
        let text = format!("workers idle because all tasks wait for other tasks; {chain}");
        add(Kind::Dependences, starved[0], text);
        add(Kind::Submission, starved[1], "workers idle because tasks are submitted later".into());
        add(
            Kind::LastTasks,
            starved[2],
            "workers idle at the end, while others execute the last tasks".into(),
        );
    }
    if let Some((cost, text)) = slow_kernel(found, whole) {
        add(Kind::SlowKernel, cost, text);
    }
    add(
        Kind::Scheduling,
        share(Reason::Ready),
        "workers idle although tasks that fit them are ready".into(),
    );
    add(
        Kind::Transfers,
        share(Reason::Transfer),
        "workers wait for the data of their next task".into(),
    );
    add(
        Kind::Overhead,
        share(Reason::Overhead),
        "the runtime schedules tasks or does other work".into(),
    );
    causes.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    let mut verdict = Verdict { causes, is_judged: true, ..Verdict::default() };
    for (at, kind) in found.run.kinds.iter().enumerate() {
        let of_kind = found.run.workers.iter().zip(&found.usage);
        let of_kind = of_kind.filter(|(worker, _)| worker.kind as usize == at);
        let (mut number, mut busy) = (0, 0.0);
        for (_, usage) in of_kind {
            (number, busy) = (number + 1, busy + usage.execution.to_f64());
        }
        if number > 0 {
            let busy = percent(busy / took.max(f64::MIN_POSITIVE) / f64::from(number));
            verdict.facts.push(("workers", format!("{number} {kind}: executing {busy}")));
        }
    }
    let best = format!(
        "at least {} of {} ({}): area bound {}, critical-path bound {}",
        shown(found.bounds.best()),
        shown(took),
        percent(found.bounds.best() / took.max(f64::MIN_POSITIVE)),
        shown(found.bounds.area),
        shown(found.bounds.path),
    );
    verdict.facts.push(("best possible makespan", best));
    verdict
}

/// Returns the kernel that loses most time on accelerators, compared with processors: its cost and
/// a text. Accelerators are all kinds of workers other than `CPU`.
fn slow_kernel(found: &Findings<'_>, whole: f64) -> Option<(f64, String)> {
    let run = &found.run;
    let cpu = run.kinds.iter().position(|kind| kind.starts_with("CPU"))?;
    let mut best: Option<(f64, String)> = None;
    for (at, type_) in run.types.iter().enumerate() {
        let Some(on_cpu) = type_.mean(cpu) else { continue };
        for kind in (0..run.kinds.len()).filter(|kind| *kind != cpu) {
            let Some(mean) = type_.mean(kind).filter(|mean| *mean > SLOWER * on_cpu) else {
                continue;
            };
            let cost = type_.by_kind[kind].0 as f64 * (mean - on_cpu) / whole;
            if best.as_ref().is_none_or(|it| it.0 < cost) {
                let kernel = String::from_utf8_lossy(run.kernel(at as u32)).into_owned();
                let text = format!(
                    "{kernel} takes {:.1} times as long on {} as on {}",
                    mean / on_cpu,
                    run.kinds[kind],
                    run.kinds[cpu]
                );
                best = Some((cost, text));
            }
        }
    }
    best
}

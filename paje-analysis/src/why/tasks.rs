//! Rules about tasks whose dependencies are known.

use std::collections::BTreeMap;

use paje_decimal::amounts::{count, duration, percent};

use super::{Cause, Kind, LEAST, Verdict};
use crate::tasks::{Findings, Reason, TaskRun, TaskType, Worker};

/// Number of tasks per worker below which a run has too few tasks to keep all workers busy.
const FEW: usize = 4;

const SUBMISSION: &str = "workers idle because tasks are submitted later";

/// Factor by which a kernel on an accelerator is slower than on processors.
const SLOWER: f64 = 1.2;

/// Judges a run of tasks by the time that its workers lose, and by the bounds on its makespan.
///
/// The time of a worker counts with the price of its kind in the area bound. The costs of all losses then add up to the
/// part of the run that exceeds this bound.
#[must_use]
pub fn of_tasks(found: &Findings<'_>) -> Verdict {
    let took = (found.span.1 - found.span.0).max(f64::MIN_POSITIVE);
    let workers = found.usage.len();
    let price = |worker: &Worker| found.bounds.prices[worker.kind as usize];
    let share = |reason: Reason| {
        let all = found.run.workers.iter().zip(&found.usage);
        all.map(|(worker, it)| price(worker) * it.time(reason).to_f64()).sum::<f64>() / took
    };
    let scale = found.run.tracks.trace().time_scale();
    let shown = |time: f64| duration(scale.seconds(time));
    let tasks = found.executed().count();
    let starved = [Reason::Dependencies, Reason::Submission, Reason::End].map(share);
    // A better schedule of the same tasks cannot gain more than this.
    let gain = (1.0 - found.bounds.best() / took).max(0.0);
    let is_chain = found.bounds.path > found.bounds.area && found.bounds.chain >= FEW;
    let mut causes = Vec::new();
    let mut add = |kind, cost: f64, text: String| {
        let is_of_tasks = matches!(kind, Kind::FewTasks | Kind::SlowKernel | Kind::Dependencies);
        let cost = if is_of_tasks { cost } else { cost.min(gain) };
        if cost >= LEAST {
            let next = if kind == Kind::Misplaced { "tasks --by kernel" } else { "tasks" };
            causes.push(Cause::new(kind, cost, text, next));
        }
    };
    let dependencies = format!(
        "workers idle because all tasks wait for other tasks; the longest chain takes at least {} of {}",
        shown(found.bounds.path),
        shown(took)
    );
    if is_chain {
        // Other tasks end before those of the chain.
        add(Kind::Dependencies, starved[0] + starved[2], dependencies);
        add(Kind::Submission, starved[1], SUBMISSION.into());
    } else if tasks < FEW * workers {
        let text = format!(
            "{} cannot keep {} busy, and these idle for {} of their time",
            counted(tasks as u64, "task"),
            counted(workers as u64, "worker"),
            percent(starved.iter().sum())
        );
        add(Kind::FewTasks, starved.iter().sum(), text);
    } else {
        add(Kind::Dependencies, starved[0], dependencies);
        add(Kind::Submission, starved[1], SUBMISSION.into());
        add(
            Kind::LastTasks,
            starved[2],
            "workers idle at the end, while others execute the last tasks".into(),
        );
    }
    for (kind, cost, text) in on_wrong_kinds(found) {
        add(kind, cost / took, text);
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
            let busy = percent(busy / took / f64::from(number));
            verdict.facts.push(("workers", format!("{number} {kind}: executing {busy}")));
        }
    }
    // Workers whose time is worth nothing are not needed for the bound.
    let needed = found.run.kinds.iter().zip(&found.bounds.prices);
    let needed: Vec<&str> =
        needed.filter(|(_, price)| **price > 1e-9).map(|(kind, _)| kind.as_str()).collect();
    let best = format!(
        "at least {} of {} ({}), because of {}; area bound {} (work of {}), critical-path bound {}",
        shown(found.bounds.best()),
        shown(took),
        percent(found.bounds.best() / took),
        if found.bounds.area >= found.bounds.path { "the work" } else { "the longest chain" },
        shown(found.bounds.area),
        needed.join(" and "),
        shown(found.bounds.path),
    );
    verdict.facts.push(("best possible makespan", best));
    verdict
}

/// A type of tasks on a kind of worker.
struct OnKind<'r> {
    kernel: &'r [u8],
    type_: &'r TaskType,
    kind: usize,
    count: f64,
    mean: f64,
}

/// Returns the types of tasks with the kinds of workers that executed them.
fn on_kinds<'r>(run: &'r TaskRun<'_>) -> impl Iterator<Item = OnKind<'r>> {
    run.types.iter().enumerate().flat_map(move |(at, type_)| {
        let of_kind = move |kind: usize| {
            let (count, mean) = (type_.by_kind[kind].0 as f64, type_.mean(kind)?);
            Some(OnKind { kernel: run.kernel(at as u32), type_, kind, count, mean })
        };
        (0..run.kinds.len()).filter_map(of_kind)
    })
}

/// Returns the mean time on processors of tasks that take clearly longer on an accelerator. Accelerators are all kinds of
/// workers other than `CPU`.
fn faster_on_cpu(run: &TaskRun<'_>, it: &OnKind<'_>) -> Option<f64> {
    let cpu = run.kinds.iter().position(|kind| kind == "CPU").filter(|cpu| *cpu != it.kind)?;
    it.type_.mean(cpu).filter(|on_cpu| it.mean > SLOWER * on_cpu)
}

/// What is lost by tasks that another kind of workers should have executed.
#[derive(Clone, Debug, Default)]
struct Misplaced {
    cost: f64,
    /// Time that these tasks would have taken there.
    time: f64,
    /// Largest cost of a kernel, and a text about it.
    most: (f64, String),
}

/// Returns the causes that lie in the kinds of workers that executed the tasks, with their costs.
///
/// An accelerator loses time in a kernel that is slow on it. In this time, it could have executed tasks that suit it. If
/// other workers executed such tasks, this is a consequence of the slow kernel.
fn on_wrong_kinds(found: &Findings<'_>) -> Vec<(Kind, f64, String)> {
    let (run, prices) = (&found.run, &found.bounds.prices);
    // Times of slow kernels on an accelerator, and what they would be on a processor.
    let mut slow: BTreeMap<(&[u8], usize), [f64; 2]> = BTreeMap::new();
    let mut misplaced = vec![Misplaced::default(); run.kinds.len()];
    for it in on_kinds(run) {
        if let Some(on_cpu) = faster_on_cpu(run, &it) {
            let sums = slow.entry((it.kernel, it.kind)).or_default();
            *sums = [sums[0] + it.count * it.mean, sums[1] + it.count * on_cpu];
            continue;
        }
        let price = |kind: usize| Some((kind, prices[kind] * it.type_.mean(kind)?));
        let best = (0..run.kinds.len()).filter_map(price).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((best, cheapest)) = best else { continue };
        let cost = it.count * (prices[it.kind] * it.mean - cheapest);
        if cost > 0.0 {
            let sum = &mut misplaced[best];
            (sum.cost, sum.time) =
                (sum.cost + cost, sum.time + it.count * it.type_.mean(best).unwrap_or(0.0));
            if cost > sum.most.0 {
                sum.most = (cost, misplaced_text(run, &it, best));
            }
        }
    }
    let slow = slow.into_iter().map(|((kernel, kind), [slow, on_cpu])| {
        let (kernel, name, times) =
            (String::from_utf8_lossy(kernel), &run.kinds[kind], slow / on_cpu);
        let mut cost = prices[kind] * (slow - on_cpu);
        let mut text = format!("{kernel} takes {times:.1} times as long on {name} as on CPU");
        let others = &mut misplaced[kind];
        if others.cost > 0.0 {
            let part = ((slow - on_cpu) / others.time).min(1.0);
            cost += part * others.cost;
            (others.cost, others.time) = ((1.0 - part) * others.cost, (1.0 - part) * others.time);
            text += &format!(", and {name} lacks this time for other tasks");
        }
        (Kind::SlowKernel, cost, text)
    });
    let slow = slow.max_by(|a, b| a.1.total_cmp(&b.1));
    let rest = misplaced.into_iter().max_by(|a, b| a.cost.total_cmp(&b.cost));
    let rest = rest.map(|it| (Kind::Misplaced, it.cost, it.most.1));
    slow.into_iter().chain(rest).collect()
}

/// Returns a text about tasks on a kind of workers that should have executed other tasks.
///
/// They may even be faster there than on the kind `best`, if other kernels gain more. Then the text compares them with
/// the kernel that gains most.
fn misplaced_text(run: &TaskRun<'_>, it: &OnKind<'_>, best: usize) -> String {
    let [here, there] = [it.kind, best].map(|kind| run.kinds[kind].as_str());
    let shown = |time: f64| duration(run.tracks.trace().time_scale().seconds(time));
    let factor = |type_: &TaskType| Some(type_.mean(best)? / type_.mean(it.kind)?);
    let kernel = String::from_utf8_lossy(it.kernel);
    let tasks = counted(it.count as u64, "task");
    let mut text = format!("{here} spends {} on {tasks} of {kernel}", shown(it.count * it.mean));
    let Some(gain) = factor(it.type_) else { return text };
    if gain < 1.0 {
        return text + &format!(", which {there} executes {:.1} times as fast", 1.0 / gain);
    }
    let others = run.types.iter().enumerate();
    let others = others.filter_map(|(at, type_)| Some((factor(type_)?, run.kernel(at as u32))));
    let most = others.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|most| most.0 > gain);
    let gains = if it.count == 1.0 { "gains" } else { "gain" };
    text += &format!(", which {gains} less from it ({gain:.1} times as fast as on {there}");
    text += &match most {
        Some((most, other)) => {
            format!(") than {} ({most:.1} times)", String::from_utf8_lossy(other))
        }
        None => ") than other work".into(),
    };
    text
}

/// Returns a number of things in words.
fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

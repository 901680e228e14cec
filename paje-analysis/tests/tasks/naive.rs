//! Recorded and random runs, compared with plain computations.

use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome, Variable};
use paje_analysis::Seconds;
use paje_analysis::classes::Class;
use paje_analysis::tasks::{Findings, Reason, TaskRun, area};

use crate::runs::{Line, RECORDED, joined, map, read, recorded, written};

const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// Solves the linear program of the area bound as it is stated: minimise the makespan, such that the tasks of each type
/// are distributed and no kind of worker is busy for longer.
fn area_bound(types: &[(f64, Vec<Option<f64>>)], workers: &[f64]) -> f64 {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let makespan = problem.add_var(1.0, (0.0, f64::INFINITY));
    let mut busy: Vec<Vec<(Variable, f64)>> =
        workers.iter().map(|count| vec![(makespan, -count)]).collect();
    for (count, times) in types {
        let mut parts = Vec::new();
        for (kind, time) in times.iter().enumerate() {
            if let Some(time) = time.filter(|_| workers[kind] > 0.0) {
                let part = problem.add_var(0.0, (0.0, f64::INFINITY));
                parts.push((part, 1.0));
                busy[kind].push((part, time));
            }
        }
        problem.add_constraint(&parts, ComparisonOp::Eq, *count);
    }
    for kind in &busy {
        problem.add_constraint(kind, ComparisonOp::Le, 0.0);
    }
    match problem.solve().expect("a bounded problem") {
        SolveOutcome::Solution(solution) => solution.objective(),
        other => panic!("{other:?}"),
    }
}

fn types(run: &TaskRun<'_>) -> Vec<(f64, Vec<Option<f64>>)> {
    let means = |at: usize| (0..run.kinds.len()).map(|kind| run.types[at].mean(kind)).collect();
    (0..run.types.len()).map(|at| (run.types[at].count() as f64, means(at))).collect()
}

/// Returns the end of a task if each task takes the shortest mean time of its type.
fn chain(run: &TaskRun<'_>, task: u32, known: &mut Vec<Option<f64>>) -> f64 {
    if let Some(end) = known[task as usize] {
        return end;
    }
    let before = run.before(task).iter().map(|before| chain(run, *before, known));
    let start = before.collect::<Vec<_>>().into_iter().fold(0.0, f64::max);
    let time = run.tasks[task as usize].execution.map_or(0.0, |execution| {
        let same = run.executed().filter(|(_, _, it)| it.type_ == execution.type_);
        let same: Vec<_> = same.collect();
        let kind = |worker: u32| run.workers[worker as usize].kind;
        let mean = |of: u32| {
            let times = same.iter().filter(|(_, _, it)| kind(it.worker) == of);
            let times: Vec<f64> = times.map(|(_, _, it)| it.end - it.start).collect();
            times.iter().sum::<f64>() / times.len() as f64
        };
        (0..run.kinds.len() as u32)
            .map(mean)
            .filter(|mean| !mean.is_nan())
            .fold(f64::INFINITY, f64::min)
    });
    known[task as usize] = Some(start + time);
    start + time
}

/// Checks what holds for every run.
fn check(found: &Findings<'_>) {
    let run = &found.run;
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    let workers: Vec<f64> = run.workers_by_kind().into_iter().map(f64::from).collect();
    let expected = area_bound(&types(run), &workers);
    assert!(close(found.bounds.area, expected), "{} {expected}", found.bounds.area);
    let mut known = vec![None; run.tasks.len()];
    let ends = (0..run.tasks.len() as u32).map(|task| chain(run, task, &mut known));
    let expected = ends.fold(0.0, f64::max);
    assert!(close(found.bounds.path, expected), "{} {expected}", found.bounds.path);
    let (begin, end) = found.span;
    assert!(found.bounds.area <= (end - begin) * (1.0 + 1e-9));
    // At their prices, the workers' time is worth the makespan. Each task costs at least as much as on the cheapest kind.
    let price = |worker: u32| found.bounds.prices[run.workers[worker as usize].kind as usize];
    let whole: f64 = (0..run.workers.len() as u32).map(price).sum();
    assert!(close(whole, 1.0), "{:?}", found.bounds);
    let costs = run.executed().map(|(_, _, it)| price(it.worker) * (it.end - it.start));
    assert!(costs.sum::<f64>() >= found.bounds.area * (1.0 - 1e-9), "{:?}", found.bounds);
    // The parts of the path are contiguous.
    let mut until = begin;
    for part in &found.path.parts {
        assert!(part.start == until && part.end > part.start, "{part:?} {until}");
        until = part.end;
    }
    assert_eq!(until, end);
    // Execution and reasons cover the time of each worker.
    for (worker, usage) in run.workers.iter().zip(&found.usage) {
        let waits: Seconds = Reason::ALL.into_iter().map(|reason| usage.time(reason)).sum();
        assert_eq!(usage.execution + waits, Seconds::between(begin, end));
        for reason in &Reason::ALL[..4] {
            let naive = idle(run, worker.track, worker.kind, *reason, found.span);
            assert!((usage.time(*reason).to_f64() - naive).abs() < 1e-6, "{reason:?} {naive}");
        }
    }
}

/// Returns the time for which a worker idled for a reason. Between two events, the reason does not change.
fn idle(run: &TaskRun<'_>, track: u32, kind: u32, reason: Reason, span: (f64, f64)) -> f64 {
    let states = &run.tracks.list()[track as usize];
    let fits = |type_: u32| run.types[type_ as usize].by_kind[kind as usize].0 > 0;
    let tasks: Vec<_> = run.executed().filter(|(_, _, it)| fits(it.type_)).collect();
    let mut times: Vec<f64> = states.start.iter().chain(&states.end).copied().collect();
    times.extend(tasks.iter().flat_map(|(_, task, it)| [task.submit, task.ready, it.start]));
    times.extend([span.0, span.1]);
    times.retain(|time| span.0 <= *time && *time <= span.1);
    times.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    for pair in times.windows(2).filter(|pair| pair[0] < pair[1]) {
        let now = pair[0] + (pair[1] - pair[0]) / 2.0;
        let inner =
            (0..states.len()).rev().find(|at| states.start[*at] <= now && now < states.end[*at]);
        if inner.is_some_and(|at| run.tracks.class(track as usize, at) != Class::Wait) {
            continue;
        }
        let is = |of: fn(f64, f64, f64, f64) -> bool| {
            tasks
                .iter()
                .any(|(_, task, it)| of(task.submit.min(task.ready), task.ready, it.start, now))
        };
        let found = if is(|_, ready, start, now| ready <= now && now < start) {
            Reason::Ready
        } else if is(|submit, ready, _, now| submit <= now && now < ready) {
            Reason::Dependencies
        } else if is(|submit, _, _, now| now < submit) {
            Reason::Submission
        } else {
            Reason::End
        };
        sum += if found == reason { pair[1] - pair[0] } else { 0.0 };
    }
    sum
}

#[test]
fn recorded_runs_agree_with_plain_computations() {
    for name in RECORDED {
        let (trace, records) = recorded(name);
        let run = TaskRun::new(&trace, &map(), records).expect("valid");
        let found = Findings::new(run, ALL).expect("tasks");
        check(&found);
        // Every state of a kernel is the execution of a task.
        let executed: f64 = found.run.executed().map(|(_, _, it)| it.end - it.start).sum();
        let busy: f64 = found.usage.iter().map(|usage| usage.execution.to_f64()).sum();
        assert!(
            busy <= 1.000_001 * executed && busy > 0.999 * executed,
            "{name}: {busy} {executed}"
        );
    }
}

/// Linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn random_runs_agree_with_plain_computations() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let workers = ["CPU0", "CPU1", "CUDA0_0", "OpenCL0"];
        let workers = &workers[..1 + random.below(4)];
        let mut free = vec![0.0; workers.len()];
        let (mut lists, mut lines): (Vec<Vec<u32>>, Vec<Line<'_>>) = (Vec::new(), Vec::new());
        for job in 0..1 + random.below(20) as u32 {
            let depends_on: Vec<u32> = (0..job).filter(|_| random.below(4) == 0).collect();
            let submit = f64::from(job) * random.below(3) as f64 / 2.0;
            let ready = depends_on.iter().map(|at| lines[*at as usize].6).fold(submit, f64::max);
            let worker = random.below(workers.len());
            let start = f64::max(ready, free[worker]) + random.below(3) as f64 / 4.0;
            free[worker] = start + (1 + random.below(8)) as f64 / 8.0;
            let kernel = ["a", "b", "c"][random.below(3)];
            lines.push((job, kernel, &[], submit, worker, start, free[worker]));
            lists.push(depends_on);
        }
        lines.iter_mut().zip(&lists).for_each(|(line, list)| line.2 = list);
        let (trace, file) = written(workers, &lines, &[]);
        let trace = read(&trace);
        check(&Findings::new(joined(&trace, &file).expect("valid"), ALL).expect("tasks"));
    }
}

#[test]
fn random_area_bounds_solve_the_linear_program() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let kinds = 1 + random.below(5);
        let workers: Vec<f64> = (0..kinds).map(|_| (1 + random.below(9)) as f64).collect();
        let types: Vec<(f64, Vec<Option<f64>>)> = (0..1 + random.below(30))
            .map(|_| {
                let certain = random.below(kinds);
                let mut time = |kind| {
                    let time = (1 + random.below(1000)) as f64 / 100.0;
                    (kind == certain || random.below(3) > 0).then_some(time)
                };
                let times = (0..kinds).map(&mut time).collect();
                (random.below(50) as f64, times)
            })
            .collect();
        let (found, prices) = area(&types, &workers).expect("fits");
        let expected = area_bound(&types, &workers);
        let whole: f64 = prices.iter().zip(&workers).map(|(price, count)| price * count).sum();
        assert!((whole - 1.0).abs() < 1e-9, "{seed}: {prices:?}");
        assert!((found - expected).abs() <= 1e-9 * (1.0 + expected), "{seed}: {found} {expected}");
    }
}

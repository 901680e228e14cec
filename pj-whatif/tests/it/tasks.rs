//! Tests of predictions for tasks of StarPU.

#[path = "../../../paje-analysis/tests/tasks/runs.rs"]
mod runs;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use paje_analysis::tasks::TaskRun;
use paje_whatif::tasks::{Policy, TaskChange, TaskPrediction, predict};

use super::pj_whatif;
use runs::{Line, RECORDED, joined, map, read, recorded, written};

/// A recorded run, changes, and the makespan of a run of StarPU with these changes in seconds. Runs on GPUs are StarPU's
/// own simulation; those of `sleeping` were executed (median of three).
const TRUE: [(&str, &[&str], f64); 10] = [
    ("cholesky-gpu", &["--workers", "CUDA=+1"], 0.201_070_030),
    ("cholesky-gpu", &["--workers", "CUDA=1"], 0.377_121_760),
    ("cholesky-gpu", &["--workers", "CPU=8"], 0.223_489_147),
    ("cholesky-gpu", &["--scale", "state=GEMM,factor=0.5"], 0.215_980_771),
    ("cholesky-gpu", &["--scale", "state=TRSM,factor=2"], 0.324_663_705),
    ("lu-gpu", &["--workers", "CUDA=+1"], 0.474_679_721),
    ("sleeping", &["--workers", "CPU=2"], 0.627_050_320),
    ("sleeping", &["--scale", "state=GEMM,factor=0.5"], 0.869_286_735),
    ("sleeping", &["--scale", "state=TRSM,factor=0.25"], 0.898_447_431),
    ("sleeping", &["--workers", "CPU=+1", "--scale", "state=GEMM,factor=0.5"], 0.497_017_329),
];

fn starpu(name: &str, words: &[&str]) -> (i32, String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../paje-analysis/tests/starpu");
    let [trace, file] = ["trace", "rec"].map(|ending| {
        let path = folder.join(format!("{name}.{ending}.xz"));
        path.to_str().expect("UTF-8").to_owned()
    });
    let more = [trace.as_str(), "--tasks", &file, "--sort", "--no-warnings"];
    pj_whatif(&[&more[..], words].concat())
}

/// Returns the makespans of a report in CSV: recorded, predicted, and the interval.
fn makespans(name: &str, words: &[&str]) -> [f64; 4] {
    let (status, out, err) = starpu(name, &[words, &["--format", "csv"]].concat());
    assert_eq!(status, 0, "{err}");
    let rows = out.lines().filter_map(|line| line.strip_prefix("makespan,"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(',').collect()).collect();
    let number = |row: usize, column: usize| rows[row][column].parse().expect("a number");
    [number(0, 1), number(0, 2), number(1, 2), number(2, 2)]
}

#[test]
fn intervals_contain_runs_that_really_changed() {
    for (name, words, truth) in TRUE {
        let [_, predicted, least, most] = makespans(name, words);
        assert!(least <= truth && truth <= most, "{name} {words:?}: {truth} {least} {most}");
        assert!((predicted / truth - 1.0).abs() < 0.15, "{name} {words:?}: {truth} {predicted}");
    }
}

#[test]
fn unchanged_runs_are_exact() {
    let identity = starpu("cholesky-gpu", &["--identity"]);
    for words in [
        &["--workers", "CPU=+0"][..],
        &["--workers", "cuda=2", "--scale", "state=GEMM,factor=1"],
        &["--workers", "CPU=-2", "--workers", "CPU=4"],
    ] {
        assert_eq!(starpu("cholesky-gpu", words), identity, "{words:?}");
    }
    let [before, after, least, most] = makespans("cholesky-gpu", &["--identity"]);
    assert!(before == after && after == least && least == most, "{before} {after}");
}

#[test]
fn impossible_changes_are_refused() {
    let refused = |words: &[&str]| {
        let (status, out, err) = starpu("cholesky-gpu", words);
        assert_eq!((status, out.as_str()), (2, ""), "{words:?}");
        err
    };
    for (words, why) in [
        (&["--workers", "TPU=1"][..], "no workers of this kind; kinds are CPU, CUDA"),
        (&["--workers", "CUDA=-3"], "the run has only 2 workers of this kind"),
        (
            &["--workers", "CUDA=0"],
            "no CUDA worker is left, and only such workers executed tasks of",
        ),
        (&["--workers", "CUDA"], "expected KIND=N, KIND=+N or KIND=-N"),
        (&["--scale", "state=GEM,factor=2"], "no task has such a kernel; did you mean 'GEMM'?"),
        (&["--scale", "state=GEMM,factor=2", "-o", "x.trace"], "can only be changed with --scale"),
        (&["--net", "latency=x2"], "can only be changed with --scale"),
        (&["--identity", "--workers", "CPU=1"], "--identity cannot be combined"),
    ] {
        let err = refused(words);
        assert!(err.contains(why), "{err}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("paje.trace");
    let (trace, _) = written(&["CPU0"], &[(1, "a", &[], 0.0, 0, 1.0, 2.0)], &[]);
    fs::write(&path, trace).expect("written");
    let (status, _, err) = pj_whatif(&[path.to_str().expect("UTF-8"), "--workers", "CPU=2"]);
    assert!(
        status == 2 && err.contains("--workers needs a trace of StarPU with the file tasks.rec"),
        "{err}"
    );
    let (status, _, err) =
        pj_whatif(&[path.to_str().expect("UTF-8"), "--scale", "state=a,factor=2"]);
    assert!(
        status == 2
            && err.contains("the changed run cannot be predicted: StarPU's traces do not record"),
        "{err}"
    );
    let one = predict_lone_worker();
    assert!(
        one.contains("no CPU worker is left, and only such workers executed tasks of a;"),
        "{one}"
    );
    for name in RECORDED {
        let (trace, records) = recorded(name);
        let run = TaskRun::new(&trace, &map(), records).expect("valid");
        let kind =
            |count| TaskChange::workers(&format!("{}={count}", run.kinds[0])).expect("valid");
        // Workers of the first run waited longer than for tasks.
        let found = predict(&run, &[kind("0"), kind("+1")]).err().unwrap_or_default();
        assert_eq!(found.contains("does not explain this run"), name == "cholesky-cpu", "{found}");
    }
}

/// Returns why the only worker cannot be removed.
fn predict_lone_worker() -> String {
    let (trace, file) = written(&["CPU0"], &[(1, "a", &[], 0.0, 0, 1.0, 2.0)], &[]);
    let trace = read(&trace);
    let run = joined(&trace, &file).expect("valid");
    let change = |text: &str| TaskChange::workers(text).expect("valid");
    let err = predict(&run, &[change("CPU=-2")]).expect_err("refused");
    assert!(err.contains("CPU=-2: the run has only 1 worker of this kind"), "{err}");
    predict(&run, &[change("CPU=-1")]).expect_err("refused")
}

/// Random tasks: kernel, dependencies.
fn random_tasks(seed: u64) -> Vec<(usize, Vec<u32>)> {
    let mut state = seed;
    let mut below = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let count = 1 + below(30) as u32;
    let some =
        |job: u32, below: &mut dyn FnMut(u64) -> u64| (0..job).filter(|_| below(8) == 0).collect();
    (0..count).map(|job| (below(3) as usize, some(job, &mut below))).collect()
}

const KERNELS: [(&str, f64); 3] = [("a", 1.0), ("b", 2.5), ("c", 4.0)];

/// Schedules tasks on equal workers: an idle worker takes the task that was ready first, or the one with the smallest
/// number. Returns worker, start and end of each task.
fn scheduled(tasks: &[(usize, Vec<u32>)], workers: usize) -> Vec<(usize, f64, f64)> {
    let mut free = vec![0.0; workers];
    let mut found: BTreeMap<usize, (usize, f64, f64)> = BTreeMap::new();
    let mut now = 0.0;
    while found.len() < tasks.len() {
        let ended = |job: &u32| found.get(&(*job as usize)).is_some_and(|task| task.2 <= now);
        let is_ready = |job: &usize| !found.contains_key(job) && tasks[*job].1.iter().all(ended);
        let idle = (0..workers).find(|worker| free[*worker] <= now);
        let since = |job: &usize| {
            tasks[*job].1.iter().map(|before| found[&(*before as usize)].2).fold(0.0, f64::max)
        };
        let ready = (0..tasks.len()).filter(is_ready);
        let next = ready.min_by(|a, b| since(a).total_cmp(&since(b)).then(a.cmp(b)));
        if let (Some(worker), Some(job)) = (idle, next) {
            free[worker] = now + KERNELS[tasks[job].0].1;
            found.insert(job, (worker, now, free[worker]));
        } else {
            now = free.iter().copied().filter(|time| *time > now).fold(f64::INFINITY, f64::min);
        }
    }
    found.into_values().collect()
}

fn predicted(
    tasks: &[(usize, Vec<u32>)],
    workers: usize,
    changes: &[TaskChange],
) -> TaskPrediction {
    let names: Vec<String> = (0..workers).map(|at| format!("CPU{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let times = scheduled(tasks, workers);
    let idle: Vec<(usize, f64, &str)> = (0..workers).map(|worker| (worker, 0.0, "Idle")).collect();
    let line = |(at, (kernel, before)): (usize, &(usize, Vec<u32>))| {
        let (worker, start, end) = times[at];
        let line: Line<'_> = (at as u32, KERNELS[*kernel].0, &[], 0.0, worker, start, end);
        (line, before.clone())
    };
    let lines: Vec<_> = tasks.iter().enumerate().map(line).collect();
    let lines: Vec<Line<'_>> = lines
        .iter()
        .map(|(it, before)| (it.0, it.1, &before[..], it.3, it.4, it.5, it.6))
        .collect();
    let (trace, file) = written(&names, &lines, &idle);
    let file = file.replace("Priority: 0\n", "");
    let trace = read(&trace);
    let run = joined(&trace, &file).expect("valid");
    predict(&run, changes).expect("a prediction")
}

#[test]
fn list_schedules_are_predicted() {
    for seed in 0..300 {
        let tasks = random_tasks(seed);
        let end = |workers| scheduled(&tasks, workers).iter().map(|it| it.2).fold(0.0, f64::max);
        for (before, after) in [(1, 2), (2, 3), (3, 2), (4, 1)] {
            let change = TaskChange::workers(&format!("CPU={after}")).expect("valid");
            let found = predicted(&tasks, before, &[change]);
            assert_eq!(found.recorded, end(before), "{seed}");
            assert!(found.policy.1.abs() < 1e-12, "{seed}: {found:?}");
            let truth = end(after);
            // The interval has a margin of 10 %.
            let (least, most) = (found.range.0 * 1.1, found.range.1 / 1.1);
            assert!(
                least <= truth * (1.0 + 1e-9) && truth <= most * (1.0 + 1e-9),
                "{seed}: {truth} {found:?}"
            );
        }
    }
}

#[test]
fn independent_tasks_are_divided() {
    let tasks: Vec<(usize, Vec<u32>)> = (0..12).map(|_| (0, Vec::new())).collect();
    let workers = |text: &str| TaskChange::workers(text).expect("valid");
    let found = predicted(&tasks, 2, &[workers("CPU=+1")]);
    assert_eq!((found.recorded, found.makespan), (6.0, 4.0));
    assert_eq!(found.kinds, [("CPU".to_owned(), [2, 3], [1.0, 1.0])]);
    let half = TaskChange::Scale("a".parse().expect("a pattern"), 0.5);
    assert_eq!(predicted(&tasks, 2, std::slice::from_ref(&half)).makespan, 3.0);
    assert_eq!(predicted(&tasks, 2, &[workers("CPU=4"), half]).makespan, 1.5);
    // A chain gains nothing from workers.
    let chain: Vec<(usize, Vec<u32>)> = (0..5_u32).map(|at| (1, (0..at).collect())).collect();
    assert_eq!(predicted(&chain, 1, &[workers("CPU=8")]).makespan, 12.5);
    assert!(Policy::ALL.contains(&predicted(&chain, 1, &[]).policy.0));
}

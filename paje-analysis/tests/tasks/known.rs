//! Runs whose answers follow from their construction.

use paje_analysis::tasks::{Findings, Reason, TasksError, What};
use paje_analysis::{Data, Table};

use crate::runs::{Line, joined, read, written};

const WORKERS: [&str; 3] = ["CPU0", "CPU1", "CUDA0_0"];

/// Task 1 on a CPU, then 2 on the GPU and 3 on the other CPU, then 4 on the first CPU. Task 5 was ready early.
const TASKS: [Line<'static>; 5] = [
    (1, "a", &[], 0.5, 0, 1.0, 3.0),
    (2, "b", &[1], 0.6, 2, 3.5, 6.0),
    (3, "a", &[1], 0.7, 1, 4.0, 5.0),
    (4, "a", &[2, 3], 8.0, 0, 9.0, 10.0),
    (5, "b", &[], 0.5, 2, 7.0, 8.0),
];

const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

#[test]
fn reasons_of_idle_workers() {
    let more = [(2, 3.25, "FetchingInput"), (1, 3.5, "Overhead")];
    let (trace, file) = written(&WORKERS, &TASKS, &more);
    let trace = read(&trace);
    let found = Findings::new(joined(&trace, &file).expect("valid"), ALL).expect("tasks");
    assert_eq!((found.span, found.run.kinds.len()), ((1.0, 10.0), 2));
    let ms = |worker: usize| Reason::ALL.map(|reason| found.usage[worker].time(reason).to_f64());
    // In the order of the reasons: ready, dependencies, submission, end, transfer, overhead.
    // CPU0: task 3 is ready from 3 to 4, nothing is submitted from 4 to 8, and task 4 is ready from 8 to 9.
    assert_eq!(ms(0), [2.0, 0.0, 4.0, 0.0, 0.0, 0.0]);
    // CPU1: task 3 waits for task 1 from 1 to 3 and is ready to 3.5.
    assert_eq!(ms(1), [1.5, 2.0, 3.0, 1.0, 0.0, 0.5]);
    // CUDA0: task 5 is ready up to 7, and no task is left from 8 on.
    assert_eq!(ms(2), [3.25, 0.0, 0.0, 2.0, 0.25, 0.0]);
    let delays: Vec<[f64; 3]> = found
        .delays
        .iter()
        .map(|it| [it.queued, it.beside_idle, it.transfer].map(|time| time.to_f64()))
        .collect();
    assert_eq!(delays[1], [0.5, 0.25, 0.25]);
    assert_eq!(delays[2], [1.0, 1.0, 0.0]);
    // Before the first task, no worker has a state.
    assert_eq!(delays[4], [6.5, 3.25, 0.0]);
    let window = Findings::new(joined(&trace, &file).expect("valid"), (4.5, 9.5)).expect("tasks");
    assert_eq!(window.usage.iter().map(|usage| usage.tasks).collect::<Vec<_>>(), [1, 1, 2]);
    let execution: Vec<f64> = window.usage.iter().map(|usage| usage.execution.to_f64()).collect();
    assert_eq!(execution, [0.5, 0.5, 2.5]);
    let parts: Vec<(f64, f64)> = window.path.parts.iter().map(|it| (it.start, it.end)).collect();
    assert_eq!((parts[0].0, parts[parts.len() - 1].1), (4.5, 9.5));
}

#[test]
fn bounds_and_path() {
    let (trace, file) = written(&WORKERS, &TASKS, &[]);
    let trace = read(&trace);
    let found = Findings::new(joined(&trace, &file).expect("valid"), ALL).expect("tasks");
    // Kernel a takes 4/3 s on CPUs, b 1.75 s on the GPU. The chain 1, 2, 4 is longest.
    assert!((found.bounds.area - 3.5).abs() < 1e-12, "{:?}", found.bounds);
    assert!((found.bounds.path - (4.0 / 3.0 * 2.0 + 1.75)).abs() < 1e-12, "{:?}", found.bounds);
    // Task 4 waits for its submission, which follows everything that has been submitted.
    let path: Vec<(f64, f64, What)> =
        found.path.parts.iter().map(|part| (part.start, part.end, part.what)).collect();
    assert_eq!(
        path,
        [(1.0, 8.0, What::Submission), (8.0, 9.0, What::Before(3)), (9.0, 10.0, What::Task(3)),]
    );
    let file = file.replace("SubmitTime: 8\n", "SubmitTime: 0.9\n");
    let found = Findings::new(joined(&trace, &file).expect("valid"), ALL).expect("tasks");
    let path: Vec<(f64, f64, What)> =
        found.path.parts.iter().map(|part| (part.start, part.end, part.what)).collect();
    assert_eq!(
        path,
        [
            (1.0, 3.0, What::Task(0)),
            (3.0, 3.5, What::Before(1)),
            (3.5, 6.0, What::Task(1)),
            (6.0, 9.0, What::Before(3)),
            (9.0, 10.0, What::Task(3)),
        ]
    );
    let table = found.path_table(false);
    let texts = |table: &Table, name: &str| match table.column(name) {
        Some(Data::Text(all)) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        other => panic!("{other:?}"),
    };
    // The GPU has no state before its first task.
    assert_eq!(texts(&table, "value"), "a Idle b ");
    assert_eq!(texts(&table, "container"), "CPU0 CPU0 CUDA0_0 CUDA0_0");
    assert_eq!(texts(&found.path_table(true), "value"), "a Idle b ");
}

#[test]
fn tasks_without_execution_connect_others() {
    let (trace, file) = written(
        &["CPU0"],
        &[(1, "a", &[], 0.0, 0, 1.0, 2.0), (3, "a", &[2], 0.0, 0, 3.0, 4.0)],
        &[],
    );
    let file = file + "Name: sync\nJobId: 2\nSubmitTime: 0.5\nDependsOn: 1 1 99\n\n";
    let trace = read(&trace);
    let run = joined(&trace, &file).expect("valid");
    assert_eq!(run.unknown_dependencies, 1);
    assert_eq!(run.tasks.iter().map(|task| task.ready).collect::<Vec<_>>(), [0.0, 2.0, 2.0]);
    let found = Findings::new(run, ALL).expect("tasks");
    assert_eq!(found.bounds.path, 2.0);
    assert!(found.notes().concat().contains("that are not in the file are ignored: 1"));
    // Task 3 also waits for the end of task 4, as task 2 ends only then.
    let (trace, _) = written(
        &["CPU0", "CPU1"],
        &[
            (1, "a", &[], 0.0, 0, 1.0, 2.0),
            (3, "a", &[], 0.0, 0, 3.0, 4.0),
            (4, "a", &[], 0.0, 1, 1.5, 2.75),
        ],
        &[],
    );
    let file = file + "JobId: 4\nName: a\nWorkerId: 1\nStartTime: 1.5\nEndDependencies: 1 \n";
    let file = file.replace("DependsOn: 1 1 99\n\n", "DependsOn: 1\nEndDependencies: 4 \n");
    let trace = read(&trace);
    assert_eq!(joined(&trace, &file).expect("valid").tasks[1].ready, 2.75);
}

#[test]
fn files_of_other_runs_are_refused() {
    let (trace, file) = written(&WORKERS, &TASKS, &[]);
    let trace = read(&trace);
    let refused = |file: &str| joined(&trace, file).expect_err("a misfit");
    let TasksError { line, why } = refused(&file.replace("JobId: 3", "JobId: 77"));
    assert_eq!(line, Some(19));
    assert!(
        why.contains("no state with the job id 77, and none for 1 of 5 executed tasks"),
        "{why}"
    );
    let TasksError { line, why } = refused(&file.replace("JobId: 1\n", "JobId: 1\nDependsOn: 4\n"));
    assert!(line.is_some() && why.contains("depends on itself"), "{why}");
    assert_eq!(refused("").why, "no task was executed");
    assert_eq!(refused("JobId: 7\nName: x\n").why, "no task was executed");
}

#[test]
fn files_that_would_take_much_memory_are_refused() {
    let (trace, file) = written(&WORKERS, &TASKS, &[]);
    let mut file = file + "JobId: 100\nEndDependencies:";
    (1000..5000).for_each(|job| file += &format!(" {job}"));
    file += "\n";
    (1000..5000).for_each(|job| file += &format!("JobId: {job}\nDependsOn: 100\n\n"));
    let why = joined(&read(&trace), &file).map(drop);
    let why = why.expect_err("16 million dependencies").why;
    assert_eq!(why, "tasks wait for more than 10000000 end dependencies of other tasks");
}

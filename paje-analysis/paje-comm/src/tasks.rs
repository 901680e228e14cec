//! Tasks of a run of StarPU, with their dependencies.
//!
//! A trace of StarPU shows when each worker executed which kernel. The file `tasks.rec`, which `starpu_fxt_tool` writes
//! beside the trace, describes the tasks: their dependencies, priorities, and times of submission. [`TaskRun`] joins
//! both by the job ids of the tasks.

mod records;
mod states;

use std::io::BufRead;

use paje_sim::{Name, Trace};
use rustc_hash::FxHashMap;

pub use records::{Access, Job, Record, Records, TasksError};

use crate::classes::{Classes, Map};
use crate::tracks::Tracks;
use states::Found;

/// The tasks of a run. Times are in the trace's unit.
#[derive(Clone, Debug)]
pub struct TaskRun<'t> {
    /// States of each container.
    pub tracks: Tracks<'t>,
    /// The file of tasks.
    pub records: Records,
    /// Kinds of workers, such as `CPU` and `CUDA`.
    pub kinds: Vec<String>,
    /// Workers, in the order of their names.
    pub workers: Vec<Worker>,
    /// Types of tasks that were executed, in the order of the file.
    pub types: Vec<TaskType>,
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// Number of dependencies on tasks that are not in the file.
    pub unknown_dependencies: usize,
    /// Indices of all tasks. Each task comes after those that it depends on.
    order: Vec<u32>,
    before: Lists,
    after: Lists,
}

/// A worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Index of its track.
    pub track: u32,
    /// Index of its kind.
    pub kind: u32,
}

/// Tasks that execute the same kernel on data of the same sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskType {
    /// Name of the kernel, as an index into [`Records::name`]: the name of the tasks, or of their performance model if
    /// their names differ.
    pub kernel: Option<u32>,
    /// Hash of the sizes of the data.
    pub footprint: u64,
    /// Number of executions and their total time, by kind of worker.
    pub by_kind: Vec<(u64, f64)>,
}

/// A task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The execution. Tasks without one take no time. They connect other tasks.
    pub execution: Option<Execution>,
    /// Time of the submission. Without one, the task counts as submitted at the beginning.
    pub submit: f64,
    /// Time at which the task was submitted and everything that it depends on had ended.
    pub ready: f64,
}

/// Execution of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Execution {
    pub type_: u32,
    pub worker: u32,
    /// State of the worker's track.
    pub state: u32,
    pub start: f64,
    pub end: f64,
}

impl Task {
    /// Returns the time at which the task ended.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.execution.map_or(self.ready, |execution| execution.end)
    }
}

impl TaskType {
    /// Returns the mean time on a kind of worker, if such workers executed tasks of this type.
    #[must_use]
    pub fn mean(&self, kind: usize) -> Option<f64> {
        let (count, seconds) = self.by_kind[kind];
        (count > 0).then(|| seconds / count as f64)
    }

    /// Returns the number of tasks.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.by_kind.iter().map(|(count, _)| count).sum()
    }

    /// Returns the shortest mean time of all kinds of workers.
    #[must_use]
    pub fn fastest(&self) -> f64 {
        (0..self.by_kind.len()).filter_map(|kind| self.mean(kind)).fold(f64::INFINITY, f64::min)
    }
}

/// Lists of tasks, one for each task.
#[derive(Clone, Debug, Default)]
struct Lists {
    begin: Vec<u32>,
    all: Vec<u32>,
}

impl Lists {
    /// Creates the lists of the second members of the pairs.
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut begin = vec![0; count + 1];
        pairs.clone().for_each(|(at, _)| begin[at as usize + 1] += 1);
        (0..count).for_each(|at| begin[at + 1] += begin[at]);
        let (mut next, mut all) = (begin.clone(), vec![0; begin[count] as usize]);
        for (at, other) in pairs {
            all[next[at as usize] as usize] = other;
            next[at as usize] += 1;
        }
        Lists { begin, all }
    }

    fn of(&self, at: u32) -> &[u32] {
        &self.all[self.begin[at as usize] as usize..self.begin[at as usize + 1] as usize]
    }
}

/// Maximum number of kinds of workers. Each type of task has a time for each kind.
const MOST_KINDS: usize = 100;

/// Maximum number of dependencies on the end dependencies of other tasks. A small file can describe very many.
const MOST_ENDS: usize = 10_000_000;

impl<'t> TaskRun<'t> {
    /// Reads the tasks of a file, and joins them with the states of the trace. The trace must have been read with its
    /// user-defined fields.
    ///
    /// # Errors
    /// Fails like [`Records::read`] and [`TaskRun::new`].
    pub fn read(trace: &'t Trace, map: &Map, file: impl BufRead) -> Result<Self, TasksError> {
        TaskRun::new(trace, map, Records::read(file)?)
    }

    /// Joins the tasks of a file with the states of the trace, as [`TaskRun::read`] does.
    ///
    /// # Errors
    /// The file does not describe this trace: a task was executed, but the trace has no state with its job id, or the
    /// tasks depend on one another in a circle.
    pub fn new(trace: &'t Trace, map: &Map, records: Records) -> Result<Self, TasksError> {
        let tracks = Tracks::new(trace, Classes::new(trace, map));
        let indices: FxHashMap<Job, u32> =
            records.list().iter().enumerate().map(|(at, it)| (it.job, at as u32)).collect();
        let mut found = Found { indices: &indices, states: vec![None; records.list().len()] };
        let mut kinds: Vec<String> = Vec::new();
        let mut workers = Vec::new();
        for (at, track) in tracks.list().iter().enumerate() {
            if !is_worker(&tracks, at) {
                continue;
            }
            let kind = kind(trace.containers().name(track.container));
            let known = kinds.iter().position(|it| *it == kind);
            let kind = known.unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            if kinds.len() > MOST_KINDS {
                let why = format!("the trace has workers of more than {MOST_KINDS} kinds");
                return Err(TasksError::new(None, why));
            }
            found.worker(&tracks, at, workers.len() as u32);
            workers.push(Worker { track: at as u32, kind: kind as u32 });
        }
        let states = found.states;
        if let Some(wrong) = misfit(&records, &states) {
            return Err(wrong);
        }
        let jobs = || {
            records.list().iter().enumerate().flat_map(|(at, record)| {
                let before = records.depends_on(record).iter();
                before.map(move |job| (at as u32, *job))
            })
        };
        let known = jobs().filter_map(|(at, job)| Some((at, *indices.get(&job)?)));
        let mut pairs: Vec<(u32, u32)> = known.collect();
        let unknown_dependencies = jobs().count() - pairs.len();
        // A task ends only after its end dependencies, so those that depend on it depend on them, too.
        let ends = ends(&records, &indices);
        let more = pairs
            .iter()
            .flat_map(|(at, before)| ends.get(before).into_iter().flatten().map(|end| (*at, *end)));
        let more: Vec<(u32, u32)> = more.take(MOST_ENDS + 1).collect();
        if more.len() > MOST_ENDS {
            let why =
                format!("tasks wait for more than {MOST_ENDS} end dependencies of other tasks");
            return Err(TasksError::new(None, why));
        }
        pairs.extend(more);
        pairs.sort_unstable();
        pairs.dedup();
        let count = records.list().len();
        let before = Lists::new(count, pairs.iter().copied());
        let after = Lists::new(count, pairs.iter().map(|(at, before)| (*before, *at)));
        let order = order(&records, &before, &after)?;
        let mut run = TaskRun {
            tracks,
            records,
            kinds,
            workers,
            types: Vec::new(),
            tasks: Vec::new(),
            unknown_dependencies,
            order,
            before,
            after,
        };
        run.add_tasks(&states);
        Ok(run)
    }

    fn add_tasks(&mut self, states: &[Option<(u32, u32)>]) {
        let begin = self.tracks.span().map_or(0.0, |(begin, _)| begin);
        let mut types: FxHashMap<(Option<u32>, u64), u32> = FxHashMap::default();
        for (record, state) in self.records.list().iter().zip(states) {
            let execution = state.map(|(worker, state)| {
                let key = (record.model.or(record.name), record.footprint);
                let type_ = *types.entry(key).or_insert_with(|| {
                    let by_kind = vec![(0, 0.0); self.kinds.len()];
                    self.types.push(TaskType {
                        kernel: record.name.or(key.0),
                        footprint: key.1,
                        by_kind,
                    });
                    self.types.len() as u32 - 1
                });
                let kernel = &mut self.types[type_ as usize].kernel;
                if *kernel != record.name.or(key.0) {
                    *kernel = key.0;
                }
                let Worker { track, kind } = self.workers[worker as usize];
                let track = &self.tracks.list()[track as usize];
                let (start, end) = (track.start[state as usize], track.end[state as usize]);
                let sum = &mut self.types[type_ as usize].by_kind[kind as usize];
                *sum = (sum.0 + 1, sum.1 + (end - start));
                Execution { type_, worker, state, start, end }
            });
            let submit = record.submit.unwrap_or(begin);
            self.tasks.push(Task { execution, submit, ready: submit });
        }
        for at in &self.order {
            let before = self.before.of(*at).iter().map(|it| self.tasks[*it as usize].end());
            let ready = before.fold(self.tasks[*at as usize].submit, f64::max);
            let task = &mut self.tasks[*at as usize];
            // A worker may record the end of a task after another one has started the next task.
            task.ready = task.execution.map_or(ready, |execution| ready.min(execution.start));
        }
    }

    /// Returns the indices of all tasks. Each task comes after those that it depends on.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the tasks on which a task depends directly.
    #[must_use]
    pub fn before(&self, task: u32) -> &[u32] {
        self.before.of(task)
    }

    /// Returns the tasks that depend directly on a task.
    #[must_use]
    pub fn after(&self, task: u32) -> &[u32] {
        self.after.of(task)
    }

    /// Returns the executed tasks.
    pub fn executed(&self) -> impl Iterator<Item = (u32, &Task, Execution)> {
        let tasks = self.tasks.iter().enumerate();
        tasks.filter_map(|(at, task)| Some((at as u32, task, task.execution?)))
    }

    /// Returns the start of the first and the end of the last execution.
    #[must_use]
    pub fn span(&self) -> Option<(f64, f64)> {
        let all = || self.executed().map(|(_, _, execution)| execution);
        let start = all().map(|it| it.start).min_by(f64::total_cmp)?;
        Some((start, all().map(|it| it.end).fold(start, f64::max)))
    }

    /// Returns the name of a type's kernel.
    #[must_use]
    pub fn kernel(&self, type_: u32) -> &[u8] {
        self.types[type_ as usize].kernel.map_or(b"(unnamed)", |name| self.records.name(name))
    }

    /// Returns the number of workers by kind.
    #[must_use]
    pub fn workers_by_kind(&self) -> Vec<u32> {
        let mut counts = vec![0; self.kinds.len()];
        self.workers.iter().for_each(|worker| counts[worker.kind as usize] += 1);
        counts
    }
}

/// Returns whether the container of a track is one of StarPU's workers.
#[must_use]
pub fn is_worker(tracks: &Tracks<'_>, track: usize) -> bool {
    let (types, containers) = (tracks.trace().types(), tracks.trace().containers());
    types.name(containers.type_of(tracks.list()[track].container)).text == b"Worker"
}

/// Returns the kind of a worker: the letters at the beginning of its name, such as `CUDA` of `CUDA0_0`.
#[must_use]
pub fn kind(name: Name<'_>) -> String {
    let text = name.text;
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let letters = if letters == 0 { text.len() } else { letters };
    String::from_utf8_lossy(&text[..letters]).into_owned()
}

/// Describes the first task that was executed according to the file, but not according to the trace.
fn misfit(records: &Records, states: &[Option<(u32, u32)>]) -> Option<TasksError> {
    let executed = |record: &Record| record.worker.is_some() && record.start.is_some();
    let all = records.list().iter().zip(states).filter(|(record, _)| executed(record));
    let lost = all.clone().filter(|(_, state)| state.is_none());
    let count = lost.clone().count();
    let whose = "the file seems to belong to another trace";
    match lost.clone().next() {
        Some((record, _)) => Some(TasksError::new(
            record.line,
            format!(
                "the trace has no state with the job id {}, and none for {count} of {} executed tasks; {whose}",
                record.job,
                all.count()
            ),
        )),
        None if all.count() == 0 => Some(TasksError::new(None, "no task was executed")),
        None => None,
    }
}

fn ends<'r>(records: &'r Records, indices: &FxHashMap<Job, u32>) -> FxHashMap<u32, Vec<u32>> {
    let with = records.list().iter().enumerate();
    let with = with.filter(|(_, record)| !records.end_depends_on(record).is_empty());
    let ends = |record: &'r Record| {
        records.end_depends_on(record).iter().filter_map(|job| indices.get(job).copied()).collect()
    };
    with.map(|(at, record)| (at as u32, ends(record))).collect()
}

/// Orders tasks so that each comes after those that it depends on.
fn order(records: &Records, before: &Lists, after: &Lists) -> Result<Vec<u32>, TasksError> {
    let count = records.list().len() as u32;
    let mut missing: Vec<u32> = (0..count).map(|at| before.of(at).len() as u32).collect();
    let mut order: Vec<u32> = (0..count).filter(|at| missing[*at as usize] == 0).collect();
    let mut done = 0;
    while let Some(at) = order.get(done).copied() {
        done += 1;
        for next in after.of(at) {
            missing[*next as usize] -= 1;
            if missing[*next as usize] == 0 {
                order.push(*next);
            }
        }
    }
    match missing.iter().position(|missing| *missing > 0) {
        None => Ok(order),
        Some(at) => {
            let record = &records.list()[at];
            let why = "depends on itself, directly or through other tasks";
            Err(TasksError::new(record.line, format!("task {} {why}", record.job)))
        }
    }
}

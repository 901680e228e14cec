//! The critical path of a run of tasks.
//!
//! The path is followed backwards from the task that ended last. Before a task, it continues with
//! the latest of three events: the end of a task that it depended on, the end of the previous task
//! of its worker, or the submission. Time between this and the start shows what the worker did.

use super::{Execution, TaskRun};

/// The critical path. Its parts cover the time from the first start to the last end of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPath {
    /// Parts in chronological order, without gaps.
    pub parts: Vec<Part>,
}

/// A part of the path, in the trace's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Part {
    pub start: f64,
    pub end: f64,
    pub what: What,
}

/// What a part of the path consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The execution of a task.
    Task(u32),
    /// Time before a task, which was submitted and did not wait for another task any more. Its worker was in other
    /// states, such as fetching data.
    Before(u32),
    /// The program submits tasks.
    Submission,
}

/// What made a task start.
#[derive(Clone, Copy, Debug)]
enum Cause {
    /// The end of a task on which it depends, or of the previous task of the worker.
    Task(u32),
    Submission,
}

impl TaskPath {
    pub(super) fn new(run: &TaskRun<'_>, (begin, end): (f64, f64)) -> Self {
        let (previous, waits) = (previous(run), waits(run));
        let mut by_end: Vec<(f64, u32)> = run.executed().map(|(at, _, it)| (it.end, at)).collect();
        by_end.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let mut parts = Vec::new();
        let mut until = end;
        let mut next = by_end.last().map(|(_, at)| *at);
        // Times that contradict the dependencies could lead back to a task.
        let mut is_seen = vec![false; run.tasks.len()];
        while let Some(at) = next.filter(|at| !std::mem::replace(&mut is_seen[*at as usize], true))
            && let Some(execution) = run.tasks[at as usize].execution
            && begin < until
        {
            add(&mut parts, execution.start, &mut until, What::Task(at), begin);
            let (mut since, mut cause) = ready(run, at);
            if let Some(before) = previous[at as usize]
                && let Some(end) = run.tasks[before as usize].execution.map(|it| it.end)
                && end > since
            {
                (since, cause) = (end, Cause::Task(before));
            }
            add(&mut parts, since, &mut until, What::Before(at), begin);
            next = match cause {
                Cause::Task(task) => Some(task),
                Cause::Submission => {
                    let waited = waits.partition_point(|end| *end <= until).checked_sub(1);
                    let since = waited.map_or(f64::NEG_INFINITY, |at| waits[at]);
                    let ended = by_end.partition_point(|(end, _)| *end <= since);
                    let last = ended.checked_sub(1).map(|at| by_end[at]);
                    let since = last.map_or(begin, |(end, _)| end);
                    add(&mut parts, since, &mut until, What::Submission, begin);
                    last.map(|(_, task)| task)
                }
            };
        }
        add(&mut parts, begin, &mut until, What::Submission, begin);
        parts.reverse();
        TaskPath { parts }
    }

    pub(super) fn within(mut self, (from, until): (f64, f64)) -> Self {
        for part in &mut self.parts {
            (part.start, part.end) = (part.start.max(from), part.end.min(until));
        }
        self.parts.retain(|part| part.start < part.end);
        self
    }
}

fn add(parts: &mut Vec<Part>, start: f64, until: &mut f64, what: What, begin: f64) {
    let start = start.max(begin);
    if start < *until {
        parts.push(Part { start, end: *until, what });
        *until = start;
    }
}

/// Returns the task that the same worker executed before each task.
fn previous(run: &TaskRun<'_>) -> Vec<Option<u32>> {
    let key = |(at, _, it): (u32, &super::Task, Execution)| (it.worker, it.state, at);
    let mut all: Vec<(u32, u32, u32)> = run.executed().map(key).collect();
    all.sort_unstable();
    let mut previous = vec![None; run.tasks.len()];
    for pair in all.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        previous[pair[1].2 as usize] = Some(pair[0].2);
    }
    previous
}

/// Returns when a task became ready, and what it waited for last.
fn ready(run: &TaskRun<'_>, mut task: u32) -> (f64, Cause) {
    let time = run.tasks[task as usize].ready;
    loop {
        let ends = run.before(task).iter().map(|at| (run.tasks[*at as usize].end(), *at));
        let last = ends.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        match last.filter(|(end, _)| *end >= run.tasks[task as usize].submit) {
            None => return (time, Cause::Submission),
            Some((_, at)) if run.tasks[at as usize].execution.is_some() => {
                return (time, Cause::Task(at));
            }
            Some((_, at)) => task = at,
        }
    }
}

/// Returns the times at which the program's threads stopped waiting for tasks, in order.
fn waits(run: &TaskRun<'_>) -> Vec<f64> {
    let types = run.tracks.trace().types();
    let mut ends: Vec<f64> = Vec::new();
    for track in run.tracks.list() {
        let name = |at: usize| types.value_name(track.type_, track.value[at]).text;
        let waits = (0..track.len()).filter(|at| name(*at).starts_with(b"Waiting"));
        ends.extend(waits.map(|at| track.end[at]));
    }
    ends.sort_by(f64::total_cmp);
    ends
}

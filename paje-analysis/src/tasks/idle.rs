//! Why workers idled, and what delayed tasks.

use std::collections::BTreeMap;

use super::timeline::Timeline;
use super::{TaskRun, Worker};
use crate::Seconds;
use crate::classes::Class;

/// Reason why a worker executed no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A task that fits the worker was ready, but was started later or elsewhere.
    Ready,
    /// Tasks that fit the worker were submitted, but all of them waited for other tasks.
    Dependencies,
    /// Tasks that fit the worker were submitted only later.
    Submission,
    /// All tasks that fit the worker had been started.
    End,
    /// The worker waited for the data of its next task.
    Transfer,
    /// The worker scheduled tasks, called callbacks, or did other work of the runtime system.
    Overhead,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Reason; 6] = [
        Reason::Ready,
        Reason::Dependencies,
        Reason::Submission,
        Reason::End,
        Reason::Transfer,
        Reason::Overhead,
    ];

    /// Returns the name in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Reason::Ready => "although a task was ready",
            Reason::Dependencies => "for dependencies",
            Reason::Submission => "for submission",
            Reason::End => "no task left",
            Reason::Transfer => "for data",
            Reason::Overhead => "(overhead)",
        }
    }
}

/// What a worker did in the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Number of executed tasks.
    pub tasks: u64,
    /// Time in which the worker executed tasks.
    pub execution: Seconds,
    /// Number, total and longest duration of the intervals for each reason, in the order of [`Reason::ALL`].
    pub reasons: [(u64, Seconds, Seconds); 6],
}

impl Usage {
    /// Adds the usage of another worker.
    pub(crate) fn add(&mut self, other: &Usage) {
        self.tasks += other.tasks;
        self.execution += other.execution;
        for (sum, other) in self.reasons.iter_mut().zip(other.reasons) {
            *sum = (sum.0 + other.0, sum.1 + other.1, sum.2.max(other.2));
        }
    }

    /// Returns the time for a reason.
    #[must_use]
    pub fn time(&self, reason: Reason) -> Seconds {
        self.reasons[reason as usize].1
    }

    fn waited(&mut self, reason: Reason, time: Seconds) {
        if !time.is_zero() {
            let sum = &mut self.reasons[reason as usize];
            *sum = (sum.0 + 1, sum.1 + time, sum.2.max(time));
        }
    }
}

/// Delays of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delay {
    /// Time from being ready to the start.
    pub queued: Seconds,
    /// Part of this time in which a fitting worker idled.
    pub beside_idle: Seconds,
    /// Time in which the worker waited for the data of this task.
    pub transfer: Seconds,
}

/// Returns the usage of each worker and the delays of each task.
pub(super) fn find(run: &TaskRun<'_>, window: (f64, f64)) -> (Vec<Usage>, Vec<Delay>) {
    let reasons: Vec<Timeline<4>> = (0..run.kinds.len()).map(|kind| reasons(run, kind)).collect();
    let mut usage = vec![Usage::default(); run.workers.len()];
    let mut delays = vec![Delay::default(); run.tasks.len()];
    let mut executed: Vec<Vec<(u32, u32)>> = vec![Vec::new(); run.workers.len()];
    for (at, _, execution) in run.executed() {
        let is_inside = execution.start < window.1 && execution.end > window.0;
        usage[execution.worker as usize].tasks += u64::from(is_inside);
        executed[execution.worker as usize].push((execution.state, at));
    }
    let mut idle = vec![Vec::new(); run.kinds.len()];
    for (at, worker) in run.workers.iter().enumerate() {
        executed[at].sort_unstable();
        let (usage, idle) = (&mut usage[at], &mut idle[worker.kind as usize]);
        let mut waited = |after: usize, time: Seconds| {
            let next = executed[at].partition_point(|(state, _)| (*state as usize) < after);
            if let Some((_, task)) = executed[at].get(next) {
                delays[*task as usize].transfer += time;
            }
        };
        one_worker(run, *worker, window, &reasons[worker.kind as usize], usage, idle, &mut waited);
    }
    // Types with the same fitting kinds share a timeline.
    let fitting = |type_: u32| -> Vec<bool> {
        run.types[type_ as usize].by_kind.iter().map(|(count, _)| *count > 0).collect()
    };
    let mut lines: BTreeMap<Vec<bool>, Timeline<2>> = BTreeMap::new();
    for (at, task, execution) in run.executed() {
        let line = lines.entry(fitting(execution.type_)).or_insert_with_key(|fits| {
            let fitting = idle.iter().zip(fits).filter(|(_, fits)| **fits);
            let changes = fitting.flat_map(|(idle, _)| idle.iter().copied()).collect();
            Timeline::new(changes, [0; 3], |[count, ..]| usize::from(count > 0))
        });
        let delay = &mut delays[at as usize];
        delay.queued = Seconds::between(task.ready, execution.start);
        delay.beside_idle = line.between(task.ready, execution.start)[1];
    }
    (usage, delays)
}

/// Returns the timeline of the reasons why workers of a kind idle.
fn reasons(run: &TaskRun<'_>, kind: usize) -> Timeline<4> {
    // Counts: tasks that are ready, that wait for others, and that are not submitted.
    let (mut changes, mut unsubmitted) = (Vec::new(), 0);
    for (_, task, execution) in run.executed() {
        if run.types[execution.type_ as usize].by_kind[kind].0 > 0 {
            unsubmitted += 1;
            changes.push((task.submit.min(task.ready), [0, 1, -1]));
            changes.push((task.ready, [1, -1, 0]));
            changes.push((execution.start, [-1, 0, 0]));
        }
    }
    let reason = |[ready, waiting, unsubmitted]: [i32; 3]| match (ready, waiting, unsubmitted) {
        (1.., ..) => Reason::Ready,
        (_, 1.., _) => Reason::Dependencies,
        (.., 1..) => Reason::Submission,
        _ => Reason::End,
    };
    Timeline::new(changes, [0, 0, unsubmitted], |counts| reason(counts) as usize)
}

fn one_worker(
    run: &TaskRun<'_>,
    worker: Worker,
    (from, until): (f64, f64),
    reasons: &Timeline<4>,
    usage: &mut Usage,
    idle: &mut Vec<(f64, [i32; 3])>,
    transfer: &mut impl FnMut(usize, Seconds),
) {
    let tracks = &run.tracks;
    let track = &tracks.list()[worker.track as usize];
    let types = tracks.trace().types();
    for piece in track.pieces_back(from, until) {
        let time = Seconds::between(piece.start, piece.end);
        let class = piece.state.map_or(Class::Wait, |at| tracks.class(worker.track as usize, at));
        let is_fetch = |state: usize| {
            types.value_name(track.type_, track.value[state]).text == b"FetchingInput"
        };
        match (class, piece.state) {
            (Class::Wait, _) => {
                idle.extend([(piece.start, [1, 0, 0]), (piece.end, [-1, 0, 0])]);
                let times = reasons.between(piece.start, piece.end);
                for (reason, time) in Reason::ALL.into_iter().zip(times) {
                    usage.waited(reason, time);
                }
            }
            (Class::Other, Some(state)) if is_fetch(state) => {
                usage.waited(Reason::Transfer, time);
                transfer(state, time);
            }
            (Class::Other, _) => usage.waited(Reason::Overhead, time),
            _ => usage.execution += time,
        }
    }
}

//! Record of what each worker did in a replay, for studies of how it scales.

use std::time::{Duration, Instant};

/// A piece of work that one worker did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The round that it belongs to, from 0. It waits for all of the rounds before.
    pub round: u32,
    /// Kind of work, which tells what else it waits for.
    pub kind: TaskKind,
    /// Number of its shard, block or home of links.
    pub number: u32,
    /// Worker that did it, from 0.
    pub worker: u32,
    /// Its duration, by the clock on the wall.
    pub time: Duration,
    /// Bytes of text and events that it reads and writes at least.
    pub bytes: u64,
}

/// Kinds of work in a round, in the order in which a worker comes to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// Before all others of its round, and by one worker alone: names get their meanings, containers end.
    Between,
    /// The events of a wave in one shard.
    Replay,
    /// The lines of one block of the next wave, read and decoded.
    Decode,
    /// The completed links of one home. Waits for all shards of the round.
    Merge,
}

/// The tasks of a worker, if they are wanted.
#[derive(Debug, Default)]
pub(crate) struct TaskLog {
    tasks: Option<Vec<Task>>,
    worker: u32,
    round: u32,
}

impl TaskLog {
    pub(crate) fn new(wanted: bool, worker: usize) -> Self {
        TaskLog { tasks: wanted.then(Vec::new), worker: worker as u32, round: 0 }
    }

    /// The tasks that come now are of this round.
    pub(crate) const fn enter(&mut self, round: u32) {
        self.round = round;
    }

    /// Notes a task that moved so many bytes.
    pub(crate) fn note(&mut self, kind: TaskKind, number: usize, time: Duration, bytes: u64) {
        let TaskLog { tasks, worker, round } = self;
        if let Some(tasks) = tasks {
            let (round, worker, number) = (*round, *worker, number as u32);
            tasks.push(Task { round, kind, number, worker, time, bytes });
        }
    }

    /// Does a task and notes it, and that it moved so many bytes.
    pub(crate) fn time(
        &mut self,
        kind: TaskKind,
        number: usize,
        bytes: impl FnOnce() -> u64,
        task: impl FnOnce(),
    ) {
        let began = self.tasks.is_some().then(Instant::now);
        task();
        if let Some(began) = began {
            self.note(kind, number, began.elapsed(), bytes());
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Task> {
        self.tasks.take().unwrap_or_default()
    }
}

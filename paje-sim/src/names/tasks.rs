//! Record of what each worker did in a replay, for studies of how it scales.

use std::time::Duration;

use paje_workers::{thread_time, thread_time_cost};

/// A piece of work that one worker did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The round that it belongs to, from 0. It waits for all of the rounds before.
    pub round: u32,
    /// Kind of work, which tells what else it waits for.
    pub kind: TaskKind,
    /// Number of its shard, block or part of the links.
    pub number: u32,
    /// Worker that did it, from 0.
    pub worker: u32,
    /// Processor time that it took, without that of the clock.
    pub time: Duration,
    /// Processor time that it took before to bring near what it looks at, where workers take turns: the caches of one core
    /// have the work of all of them, and those of many cores would each have less. Zero of a task that is done as it comes.
    pub fetch: Duration,
    /// Bytes of text and events that it reads and writes at least.
    pub bytes: u64,
}

/// Kinds of work in a round, in the order in which a worker comes to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// Before all others of its round, and by one worker alone: names get their meanings, containers end.
    Between,
    /// A part of that which workers share out. All parts wait for what one does alone.
    Shared,
    /// Steps of a worker in a round beside its other tasks: it looks for them, and takes and gives back blocks.
    Around,
    /// The events of a wave in one shard.
    Replay,
    /// The lines of one block of the next wave, read and decoded.
    Decode,
    /// Links: the completed ones of one home, or where those of a block are whose keys may have been used before. Waits for all shards of
    /// the round.
    Merge,
}

/// The tasks of a worker, if they are wanted.
#[derive(Debug, Default)]
pub(crate) struct TaskLog {
    tasks: Option<Vec<Task>>,
    worker: u32,
    round: u32,
    /// Time of the round's tasks so far, and of the clock.
    spent: Duration,
    /// Time of bringing near what the next task looks at.
    fetch: Duration,
}

/// Moment from which a task is timed, if it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Began(Option<Duration>);

impl TaskLog {
    pub(crate) fn new(wanted: bool, worker: usize) -> Self {
        TaskLog {
            tasks: wanted.then(Vec::new),
            worker: worker as u32,
            round: 0,
            spent: Duration::ZERO,
            fetch: Duration::ZERO,
        }
    }

    /// The tasks that come now are of this round.
    pub(crate) const fn enter(&mut self, round: u32) {
        self.round = round;
        (self.spent, self.fetch) = (Duration::ZERO, Duration::ZERO);
    }

    /// A task begins.
    pub(crate) fn begin(&self) -> Began {
        Began(self.tasks.is_some().then(thread_time))
    }

    /// Brings near what the next task looks at, if tasks are wanted.
    pub(crate) fn fetch(&mut self, bring: impl FnOnce()) {
        if let Began(Some(began)) = self.begin() {
            bring();
            self.fetch = self.since(began);
        }
    }

    /// Time since then. Calls of the clock take as long as small tasks do: half of both is within what it measures.
    fn since(&mut self, began: Duration) -> Duration {
        let (time, clock) = (thread_time().saturating_sub(began), thread_time_cost());
        self.spent += time + clock;
        time.saturating_sub(clock)
    }

    /// A task ends, which moved so many bytes.
    pub(crate) fn end(
        &mut self,
        began: Began,
        kind: TaskKind,
        number: usize,
        bytes: impl FnOnce() -> u64,
    ) {
        if let Began(Some(began)) = began {
            let time = self.since(began);
            self.note(kind, number, time, bytes());
        }
    }

    /// The work of one worker between two rounds ends; parts of it were shared out.
    pub(crate) fn end_without(&mut self, shared: &[Duration], began: Began) {
        if let Began(Some(began)) = began {
            let clocks = thread_time_cost() * (2 * shared.len() as u32 + 1);
            let alone = began + clocks + shared.iter().sum::<Duration>();
            let alone = thread_time().saturating_sub(alone);
            self.note(TaskKind::Between, 0, alone, 0);
        }
    }

    /// The round ends, which began then.
    pub(crate) fn leave(&mut self, began: Began) {
        if let Began(Some(began)) = began {
            let rest = thread_time().saturating_sub(began + self.spent + thread_time_cost());
            self.note(TaskKind::Around, self.worker as usize, rest, 0);
        }
    }

    /// Notes a task that moved so many bytes.
    pub(crate) fn note(&mut self, kind: TaskKind, number: usize, time: Duration, bytes: u64) {
        let fetch = match kind {
            TaskKind::Replay | TaskKind::Decode => std::mem::take(&mut self.fetch),
            _ => Duration::ZERO,
        };
        let TaskLog { tasks, worker, round, .. } = self;
        if let Some(tasks) = tasks {
            let (round, worker, number) = (*round, *worker, number as u32);
            tasks.push(Task { round, kind, number, worker, time, fetch, bytes });
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Task> {
        self.tasks.take().unwrap_or_default()
    }
}

//! Tasks of a replay, round by round.

use paje_sim::tasks::{Task, TaskKind};

/// Work that one worker does without a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Job {
    /// Its duration where nothing is in its way.
    pub seconds: f64,
    /// Seconds that it took before to bring near all that it looks at.
    pub fetch: f64,
    /// Bytes that it moves.
    pub bytes: f64,
}

/// Work of a round: each part in the order in which it is taken on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// Before all others, one after the other.
    pub between: Vec<Job>,
    /// After that and before all others, side by side.
    pub shared: Vec<Job>,
    /// Steps of each worker beside its tasks.
    pub around: Vec<Job>,
    /// Shard by shard; shard `i` is worker `i % p`'s, and others' if they have no shards left.
    pub replay: Vec<Job>,
    /// Block by block.
    pub decode: Vec<Job>,
    /// Part by part, once all shards are replayed.
    pub merge: Vec<Job>,
}

impl Round {
    /// Seconds of its tasks, kind by kind.
    pub fn work(&self) -> Work {
        let all = |jobs: &[Job]| jobs.iter().map(|job| job.seconds).sum();
        Work {
            serial: all(&self.between),
            replay: all(&self.replay),
            decode: all(&self.decode),
            merge: all(&self.merge),
            shared: all(&self.shared),
            around: all(&self.around),
            fetch: self.replay.iter().chain(&self.decode).map(|job| job.fetch).sum(),
        }
    }

    /// Seconds that so many workers take at best, whoever does what: what one does alone, and then either the rest in equal shares or the
    /// longest tasks that wait for one another, whichever is more.
    pub fn at_best(&self, workers: usize) -> f64 {
        let work = self.work();
        let longest = |jobs: &[Job]| jobs.iter().map(|job| job.seconds).fold(0.0, f64::max);
        let together = (work.sum() - work.serial - work.shared) / workers as f64;
        let chain = longest(&self.replay) + longest(&self.merge);
        let shared = longest(&self.shared).max(work.shared / workers as f64);
        work.serial + shared + together.max(chain).max(longest(&self.decode))
    }
}

/// Seconds of all tasks of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// One worker does it while all others wait.
    pub serial: f64,
    /// Replay of shards.
    pub replay: f64,
    /// Reading and decoding of blocks.
    pub decode: f64,
    /// Merging of links.
    pub merge: f64,
    /// Shared out between two rounds.
    pub shared: f64,
    /// Beside the tasks of a round.
    pub around: f64,
    /// To bring near what tasks look at, which is in none of the others.
    pub fetch: f64,
}

impl Work {
    /// All of it, where all is near.
    pub fn sum(&self) -> f64 {
        self.serial + self.shared + self.around + self.replay + self.decode + self.merge
    }
}

/// All rounds; each waits for the one before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// From the first.
    pub rounds: Vec<Round>,
}

/// The tasks of several recordings of the same replay, each with its shortest time; `None` if they are not the same tasks.
pub fn shortest(recordings: &[Vec<Task>]) -> Option<Vec<Task>> {
    let (first, others) = recordings.split_first()?;
    let mut tasks = first.clone();
    for other in others {
        if other.len() != tasks.len() {
            return None;
        }
        for (task, again) in tasks.iter_mut().zip(other) {
            let name = |task: &Task| (task.round, task.kind, task.number, task.bytes);
            if name(task) != name(again) {
                return None;
            }
            task.time = task.time.min(again.time);
            task.fetch = task.fetch.min(again.fetch);
        }
    }
    Some(tasks)
}

impl Graph {
    /// The graph of tasks that are in the order of their rounds.
    pub fn new(tasks: &[Task]) -> Graph {
        let mut rounds: Vec<Round> = Vec::new();
        for task in tasks {
            let round = task.round as usize;
            if rounds.len() <= round {
                rounds.resize_with(round + 1, Round::default);
            }
            let round = &mut rounds[round];
            let jobs = match task.kind {
                TaskKind::Between => &mut round.between,
                TaskKind::Shared => &mut round.shared,
                TaskKind::Around => &mut round.around,
                TaskKind::Replay => &mut round.replay,
                TaskKind::Decode => &mut round.decode,
                TaskKind::Merge => &mut round.merge,
            };
            let (seconds, fetch) = (task.time.as_secs_f64(), task.fetch.as_secs_f64());
            jobs.push(Job { seconds, fetch, bytes: task.bytes as f64 });
        }
        Graph { rounds }
    }

    /// Seconds that so many workers take at best: see [`Round::at_best`].
    pub fn at_best(&self, workers: usize) -> f64 {
        self.rounds.iter().map(|round| round.at_best(workers)).sum()
    }

    /// Seconds of all tasks together, kind by kind.
    pub fn work(&self) -> Work {
        let works = self.rounds.iter().map(Round::work);
        works.fold(Work::default(), |sum, work| Work {
            serial: sum.serial + work.serial,
            replay: sum.replay + work.replay,
            decode: sum.decode + work.decode,
            merge: sum.merge + work.merge,
            shared: sum.shared + work.shared,
            around: sum.around + work.around,
            fetch: sum.fetch + work.fetch,
        })
    }
}

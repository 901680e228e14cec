//! A list scheduler: workers take the tasks of a round as those of a replay do.

use super::graph::{Graph, Job, Round};

/// Memory that all workers share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Bytes that it moves in a second. Workers that together want more are slowed down, all by the same factor.
    pub bytes_per_second: f64,
}

impl Memory {
    /// As fast as anybody asks.
    pub const UNLIMITED: Memory = Memory { bytes_per_second: f64::INFINITY };
}

/// Machine that the workers run on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Memory that all of them share.
    pub memory: Memory,
    /// Time that work takes while all workers are at it, as a multiple of that while one is. With fewer, it is in proportion.
    pub contention: f64,
    /// Tasks fetch from elsewhere all that they look at, which took them as long as was recorded.
    pub fetches: bool,
}

impl Machine {
    /// Nobody is in anybody's way, and each core has near what its tasks look at.
    pub const IDEAL: Machine =
        Machine { memory: Memory::UNLIMITED, contention: 1.0, fetches: false };

    /// Factor by which so many busy workers of some slow one another down.
    fn slows(&self, busy: usize, workers: usize) -> f64 {
        let others = busy.saturating_sub(1) as f64 / workers.saturating_sub(1).max(1) as f64;
        1.0 + (self.contention - 1.0) * others
    }

    /// Time of a task where nothing is in its way.
    const fn time(&self, job: &Job) -> f64 {
        if self.fetches { job.seconds + job.fetch } else { job.seconds }
    }
}

/// Seconds that a number of workers take for a graph.
pub fn seconds(graph: &Graph, workers: usize, machine: &Machine) -> f64 {
    graph.rounds.iter().map(|round| of_round(round, workers, machine)).sum()
}

/// Seconds that they take for a round.
pub fn of_round(round: &Round, workers: usize, machine: &Machine) -> f64 {
    let shared = Round { decode: round.shared.clone(), ..Round::default() };
    let shared = Turn::new(&shared, workers, machine).run();
    shared + Turn::new(round, workers, machine).run()
}

/// A task that somebody is at.
#[derive(Clone, Copy, Debug)]
struct Running {
    job: Job,
    /// The part of it that is yet to be done, in seconds.
    left: f64,
    is_shard: bool,
}

/// A round, while it runs.
struct Turn<'r> {
    round: &'r Round,
    machine: &'r Machine,
    running: Vec<Option<Running>>,
    /// Shards that somebody has taken on, and the number of those that are replayed.
    taken: Vec<bool>,
    replayed: usize,
    /// Number of blocks, and of homes, that somebody has taken on.
    blocks: usize,
    homes: usize,
    /// Workers that decoded a block of the round.
    has_decoded: Vec<bool>,
    /// Workers that began with what is beside their tasks.
    has_begun: Vec<bool>,
}

impl<'r> Turn<'r> {
    fn new(round: &'r Round, workers: usize, machine: &'r Machine) -> Self {
        Turn {
            round,
            machine,
            running: vec![None; workers],
            taken: vec![false; round.replay.len()],
            replayed: 0,
            blocks: 0,
            homes: 0,
            has_decoded: vec![false; workers],
            has_begun: vec![false; workers],
        }
    }

    fn run(mut self) -> f64 {
        let (memory, workers) = (self.machine.memory, self.running.len());
        let limit = |job: &Job| job.seconds.max(job.bytes / memory.bytes_per_second);
        let mut now: f64 = self.round.between.iter().map(limit).sum();
        loop {
            for worker in 0..self.running.len() {
                if self.running[worker].is_none() {
                    self.running[worker] = self.next(worker);
                }
            }
            let running = || self.running.iter().flatten();
            let wanted: f64 = running().map(|it| it.job.bytes / it.job.seconds.max(1e-9)).sum();
            let contention = self.machine.slows(running().count(), workers);
            let slower = (wanted / memory.bytes_per_second).max(contention);
            let Some(first) = running().map(|it| it.left).min_by(f64::total_cmp) else {
                return now;
            };
            now += first * slower;
            for slot in &mut self.running {
                let Some(it) = slot else { continue };
                it.left -= first;
                if it.left <= 0.0 {
                    self.replayed += usize::from(it.is_shard);
                    *slot = None;
                }
            }
        }
    }

    /// The next task of a worker that has none; `None` if it waits.
    fn next(&mut self, worker: usize) -> Option<Running> {
        let (round, count) = (self.round, self.running.len());
        let machine = self.machine;
        let running =
            |job: Job, is_shard| Some(Running { job, left: machine.time(&job), is_shard });
        if !std::mem::replace(&mut self.has_begun[worker], true)
            && let Some(job) = round.around.get(worker)
        {
            return running(*job, false);
        }
        let own = (worker..round.replay.len()).step_by(count);
        if let Some(shard) = own.chain(0..round.replay.len()).find(|shard| !self.taken[*shard]) {
            self.taken[shard] = true;
            return running(round.replay[shard], true);
        }
        let block = round.decode.get(self.blocks);
        // Between two blocks, a worker looks whether it can merge.
        let may_merge = self.has_decoded[worker] || block.is_none();
        if may_merge
            && self.replayed == round.replay.len()
            && let Some(home) = round.merge.get(self.homes)
        {
            self.homes += 1;
            return running(*home, false);
        }
        self.blocks += 1;
        self.has_decoded[worker] = true;
        running(*block?, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn job(seconds: f64) -> Job {
        Job { seconds, fetch: 0.0, bytes: 0.0 }
    }

    fn graph(between: f64, replay: &[f64], decode: &[f64], merge: &[f64]) -> Graph {
        let jobs = |seconds: &[f64]| seconds.iter().copied().map(job).collect();
        let (replay, decode, merge) = (jobs(replay), jobs(decode), jobs(merge));
        let between = vec![job(between)];
        Graph { rounds: vec![Round { between, replay, decode, merge, ..Round::default() }] }
    }

    fn takes(graph: &Graph, workers: usize) -> f64 {
        seconds(graph, workers, &Machine::IDEAL)
    }

    /// One worker does all, one after the other.
    #[test]
    fn one_worker_takes_the_sum() {
        let graph = graph(1.0, &[2.0, 3.0], &[4.0, 5.0], &[6.0]);
        assert_eq!(takes(&graph, 1), graph.work().sum());
        assert_eq!(graph.work().serial, 1.0);
    }

    /// Worker 1 has a shard of 5, worker 0 two of 1, and then two blocks of 2. At 5 worker 1 is free, nothing is left but
    /// the block that worker 0 took at 4 and has until 6, and the merge.
    #[test]
    fn workers_take_what_is_left() {
        let graph = graph(0.5, &[1.0, 5.0, 1.0], &[2.0, 2.0], &[3.0]);
        assert_eq!(takes(&graph, 2), 0.5 + 8.0);
    }

    /// Shared parts are done by all, before the first shard; each worker has something to do beside its tasks.
    #[test]
    fn parts_are_shared_out() {
        let mut graph = graph(1.0, &[2.0, 2.0], &[], &[]);
        graph.rounds[0].shared = vec![job(1.0); 4];
        graph.rounds[0].around = vec![job(0.5), job(0.25)];
        assert_eq!(takes(&graph, 1), 1.0 + 4.0 + 0.5 + 4.0);
        assert_eq!(takes(&graph, 2), 1.0 + 2.0 + 2.5);
    }

    /// Merging waits for the slowest shard.
    #[test]
    fn merging_waits() {
        let graph = graph(0.0, &[1.0, 4.0], &[1.0], &[2.0, 2.0]);
        assert_eq!(takes(&graph, 2), 6.0);
    }

    /// Nobody is faster than the longest tasks behind one another, nor than all of them shared out evenly.
    #[test]
    fn there_is_a_best() {
        let graph = graph(0.5, &[1.0, 5.0], &[2.0, 2.0], &[3.0]);
        assert_eq!(graph.at_best(1), graph.work().sum());
        assert_eq!((graph.at_best(2), takes(&graph, 2)), (0.5 + 8.0, 0.5 + 8.0));
        let even = super::super::graph::Graph { rounds: vec![graph.rounds[0].clone(); 2] };
        assert_eq!(even.at_best(2), 2.0 * 8.5);
        let mut shared = graph;
        shared.rounds[0].shared = vec![job(1.0); 4];
        assert_eq!(shared.at_best(8), 0.5 + 1.0 + 8.0);
    }

    /// Two workers that each want all of the memory take as long as one.
    #[test]
    fn memory_slows_down() {
        let decode = vec![Job { bytes: 10.0, ..job(1.0) }; 4];
        let limited =
            |bytes_per_second| Machine { memory: Memory { bytes_per_second }, ..Machine::IDEAL };
        let graph = Graph { rounds: vec![Round { decode, ..Round::default() }] };
        assert_eq!(takes(&graph, 2), 2.0);
        assert_eq!(seconds(&graph, 2, &limited(10.0)), 4.0);
        assert_eq!(seconds(&graph, 4, &limited(20.0)), 2.0);
    }

    /// Two busy workers take half as long again; one that is alone, before the round and at its end, does not.
    #[test]
    fn busy_workers_slow_one_another_down() {
        let graph = graph(1.0, &[], &[2.0, 3.0], &[]);
        let machine = Machine { contention: 1.5, ..Machine::IDEAL };
        assert_eq!(seconds(&graph, 2, &machine), 1.0 + 2.0 * 1.5 + 1.0);
        assert_eq!(seconds(&graph, 1, &machine), 1.0 + 5.0);
        assert_eq!(machine.slows(3, 5), 1.25);
    }

    /// Each task first fetches what it looks at, unless all is near.
    #[test]
    fn what_tasks_look_at_is_fetched() {
        let decode = vec![Job { fetch: 0.5, ..job(1.0) }; 2];
        let graph = Graph { rounds: vec![Round { decode, ..Round::default() }] };
        let machine = Machine { fetches: true, ..Machine::IDEAL };
        assert_eq!((graph.work().sum(), graph.work().fetch), (2.0, 1.0));
        assert_eq!(seconds(&graph, 1, &machine), 3.0);
        assert_eq!(seconds(&graph, 2, &machine), 1.5);
        assert_eq!(takes(&graph, 2), 1.0);
    }
}

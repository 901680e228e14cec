//! List scheduling of tasks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use paje_comm::tasks::TaskRun;

use super::data::{Data, Places};

/// How tasks are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A ready task goes to the worker that would end it first, and workers execute their tasks in this order, as in
    /// StarPU's `dm` and `dmda`.
    Earliest,
    /// As [`Policy::Earliest`], but workers prefer tasks of higher priority, as in `dmdas`.
    EarliestByPriority,
    /// An idle worker takes the ready task of the highest priority that fits, as in `prio`.
    ByPriority,
    /// An idle worker takes the first ready task that fits, as in `eager`.
    First,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Policy; 4] =
        [Policy::Earliest, Policy::EarliestByPriority, Policy::ByPriority, Policy::First];

    /// Returns the name of the scheduler of StarPU that works like this.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Earliest => "dmda",
            Policy::EarliestByPriority => "dmdas",
            Policy::ByPriority => "prio",
            Policy::First => "eager",
        }
    }

    const fn assigns(self) -> bool {
        matches!(self, Policy::Earliest | Policy::EarliestByPriority)
    }

    const fn has_priorities(self) -> bool {
        matches!(self, Policy::EarliestByPriority | Policy::ByPriority)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) kind: u32,
    pub(super) node: u32,
}

/// Workers and factors of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) workers: Vec<Place>,
    /// Factor for the time of each type of task.
    pub(super) factors: Vec<f64>,
}

impl Setup {
    pub(super) fn recorded(run: &TaskRun<'_>, data: &Data) -> Self {
        let workers = run.workers.iter().zip(&data.nodes);
        let workers = workers.map(|(worker, node)| Place { kind: worker.kind, node: *node });
        Setup { workers: workers.collect(), factors: vec![1.0; run.types.len()] }
    }

    /// Sets the number of workers of a kind. New workers have a memory node of their own, unless those of this kind use
    /// the main memory.
    pub(super) fn resize(&mut self, kind: u32, wanted: usize) {
        let mut of_kind = self.workers.iter().filter(|worker| worker.kind == kind);
        let (count, last) = (of_kind.clone().count(), of_kind.next_back().copied());
        for _ in wanted..count {
            let last = self.workers.iter().rposition(|worker| worker.kind == kind);
            last.map(|at| self.workers.remove(at));
        }
        for _ in count..wanted {
            let nodes = self.workers.iter().map(|worker| worker.node).max().unwrap_or(0);
            let is_main = last.is_none_or(|last| last.node == 0);
            self.workers.push(Place { kind, node: if is_main { 0 } else { nodes + 1 } });
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) makespan: f64,
    /// Time in tasks by kind of worker.
    pub(super) busy: Vec<f64>,
}

/// A time that can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Rank of a task among ready tasks. Smaller ones come first.
type Rank = (Reverse<i64>, u64, u32);

/// Events: a worker ends a task, or a task becomes ready. Of simultaneous events, ends come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(u32, u32),
    Ready(Reverse<i64>, u64, u32),
}

struct Scheduler<'r, 'd> {
    run: &'r TaskRun<'r>,
    setup: &'r Setup,
    policy: Policy,
    places: Places<'d>,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    /// Number of dependencies, and of the phase before, that have not ended.
    missing: Vec<u32>,
    /// Earliest time of each task.
    ready: Vec<f64>,
    phases: Phases,
    /// Queues: one for each worker, or one for each set of fitting kinds.
    queues: Vec<BinaryHeap<Reverse<Rank>>>,
    /// Time of the queued tasks of each worker by priority.
    queued: Vec<BTreeMap<Reverse<i64>, f64>>,
    /// Queue of each type.
    queue_of_type: Vec<u32>,
    free: Vec<f64>,
    is_busy: Vec<bool>,
    /// Time at which the data of an assigned task is there.
    arrival: Vec<f64>,
    entered: u64,
    outcome: Outcome,
}

/// Schedules the tasks. Times are relative to the first start of a task.
pub(super) fn simulate(
    run: &TaskRun<'_>,
    data: &Data,
    setup: &Setup,
    policy: Policy,
) -> Result<Outcome, String> {
    let (begin, _) = run.span().unwrap_or((0.0, 0.0));
    let count = run.tasks.len();
    let phases = Phases::new(run);
    let missing = (0..count as u32)
        .map(|at| run.before(at).len() as u32 + u32::from(phases.of[at as usize] > 0));
    let submit = |at: usize| match phases.of[at] {
        0 => (run.tasks[at].submit - begin).max(0.0),
        _ => 0.0,
    };
    let mut sets: Vec<Vec<bool>> = Vec::new();
    let queue_of_type = run.types.iter().map(|type_| {
        let fits: Vec<bool> = type_.by_kind.iter().map(|(count, _)| *count > 0).collect();
        let known = sets.iter().position(|set| *set == fits);
        known.unwrap_or_else(|| {
            sets.push(fits);
            sets.len() - 1
        }) as u32
    });
    let queue_of_type = queue_of_type.collect();
    let workers = setup.workers.len();
    let queues = if policy.assigns() { workers } else { sets.len() };
    let mut scheduler = Scheduler {
        run,
        setup,
        policy,
        places: Places::new(data),
        events: BinaryHeap::new(),
        missing: missing.collect(),
        ready: (0..count).map(submit).collect(),
        phases,
        queues: vec![BinaryHeap::new(); queues],
        queued: vec![BTreeMap::new(); workers],
        queue_of_type,
        free: vec![0.0; workers],
        is_busy: vec![false; workers],
        arrival: vec![f64::NAN; count],
        entered: 0,
        outcome: Outcome { makespan: 0.0, busy: vec![0.0; run.kinds.len()] },
    };
    for at in
        (0..count as u32).filter(|at| scheduler.missing[*at as usize] == 0).collect::<Vec<_>>()
    {
        scheduler.announce(at);
    }
    scheduler.phase_ended(0.0);
    let fits = |worker: usize| -> Vec<usize> {
        let kind = setup.workers[worker].kind as usize;
        (0..sets.len()).filter(|set| sets[*set][kind]).collect()
    };
    let fits: Vec<Vec<usize>> = match policy.assigns() {
        true => (0..workers).map(|worker| vec![worker]).collect(),
        false => (0..workers).map(fits).collect(),
    };
    while let Some(Reverse((Time(now), event))) = scheduler.events.pop() {
        match event {
            Event::End(worker, task) => scheduler.end(worker, task, now),
            Event::Ready(.., task) => scheduler.enter(task, now),
        }
        if scheduler.events.peek().is_none_or(|Reverse((time, _))| time.0 > now) {
            for (worker, fits) in fits.iter().enumerate() {
                scheduler.dispatch(worker, fits, now);
            }
        }
    }
    match scheduler.phases.left.iter().all(|left| *left == 0) {
        true => Ok(scheduler.outcome),
        false => Err("some tasks can never start".into()),
    }
}

impl Scheduler<'_, '_> {
    fn record(&self, task: u32) -> (i64, u64) {
        let record = &self.run.records.list()[task as usize];
        (record.priority, record.submit_order.unwrap_or(0))
    }

    fn announce(&mut self, task: u32) {
        let (priority, order) = self.record(task);
        let event = Event::Ready(Reverse(priority), order, task);
        self.events.push(Reverse((Time(self.ready[task as usize]), event)));
    }

    /// Returns the time of a task on a kind of worker: the recorded one, or the mean of its type.
    fn time(&self, task: u32, kind: u32) -> Option<f64> {
        let execution = self.run.tasks[task as usize].execution?;
        let type_ = execution.type_ as usize;
        let time = match self.run.workers[execution.worker as usize].kind == kind {
            true => execution.end - execution.start,
            false => self.run.types[type_].mean(kind as usize)?,
        };
        Some(time * self.setup.factors[type_])
    }

    fn enter(&mut self, task: u32, now: f64) {
        let Some(execution) = self.run.tasks[task as usize].execution else {
            return self.done(task, now);
        };
        let (priority, _) = self.record(task);
        let rank = if self.policy.has_priorities() { Reverse(priority) } else { Reverse(0) };
        let queue = match self.policy.assigns() {
            true => match self.assign(task, rank, now) {
                Some(worker) => worker,
                None => return,
            },
            false => self.queue_of_type[execution.type_ as usize] as usize,
        };
        self.entered += 1;
        self.queues[queue].push(Reverse((rank, self.entered, task)));
    }

    /// Assigns a task to the worker that would end it first, and fetches its data.
    fn assign(&mut self, task: u32, rank: Reverse<i64>, now: f64) -> Option<usize> {
        let mut best: Option<(f64, usize, f64)> = None;
        for (worker, place) in self.setup.workers.iter().enumerate() {
            let Some(time) = self.time(task, place.kind) else { continue };
            let before: f64 = self.queued[worker].range(..=rank).map(|(_, time)| time).sum();
            let cost = self.places.cost(task, place.node);
            let end = self.free[worker].max(now) + before + cost + time;
            if best.is_none_or(|(other, ..)| end < other * (1.0 - 1e-12)) {
                best = Some((end, worker, time));
            }
        }
        let (_, worker, time) = best?;
        *self.queued[worker].entry(rank).or_default() += time;
        let node = self.setup.workers[worker].node;
        self.arrival[task as usize] = self.places.fetch(task, node, now);
        Some(worker)
    }

    /// Starts the next task of an idle worker.
    fn dispatch(&mut self, worker: usize, fits: &[usize], now: f64) {
        if self.is_busy[worker] {
            return;
        }
        let first = |queue: &usize| Some((self.queues[*queue].peek()?.0, *queue));
        let Some((_, queue)) = fits.iter().filter_map(first).min() else { return };
        let Some(Reverse((rank, _, task))) = self.queues[queue].pop() else { return };
        let Place { kind, node } = self.setup.workers[worker];
        let Some(time) = self.time(task, kind) else { return };
        if let Some(queued) = self.queued[worker].get_mut(&rank) {
            *queued = (*queued - time).max(0.0);
        }
        let arrival = match self.policy.assigns() {
            true => self.arrival[task as usize],
            false => self.places.fetch(task, node, now),
        };
        self.is_busy[worker] = true;
        self.free[worker] = now.max(arrival) + time;
        self.outcome.busy[kind as usize] += time;
        let end = Event::End(worker as u32, task);
        self.events.push(Reverse((Time(self.free[worker]), end)));
    }

    fn end(&mut self, worker: u32, task: u32, now: f64) {
        self.is_busy[worker as usize] = false;
        self.places.wrote(task, self.setup.workers[worker as usize].node, now);
        self.outcome.makespan = self.outcome.makespan.max(now);
        self.done(task, now);
    }

    fn done(&mut self, task: u32, now: f64) {
        let run = self.run;
        for next in run.after(task) {
            self.release(*next, now);
        }
        self.phases.left[self.phases.of[task as usize] as usize] -= 1;
        self.phase_ended(now);
    }

    fn release(&mut self, task: u32, now: f64) {
        self.ready[task as usize] = self.ready[task as usize].max(now);
        self.missing[task as usize] -= 1;
        if self.missing[task as usize] == 0 {
            self.announce(task);
        }
    }

    /// Submits the tasks of the next phase if all tasks before it have ended.
    fn phase_ended(&mut self, now: f64) {
        while self.phases.left.get(self.phases.current) == Some(&0)
            && self.phases.current + 1 < self.phases.left.len()
        {
            self.phases.current += 1;
            for (task, delay) in std::mem::take(&mut self.phases.tasks[self.phases.current]) {
                self.release(task, now + delay);
            }
        }
    }
}

/// Phases of a program that waits for all tasks before it submits the tasks of the next phase.
struct Phases {
    /// Phase of each task.
    of: Vec<u32>,
    /// Number of tasks of each phase that have not ended.
    left: Vec<u32>,
    /// Tasks of each phase, and how long after the end of the phase before they are submitted.
    tasks: Vec<Vec<(u32, f64)>>,
    current: usize,
}

impl Phases {
    fn new(run: &TaskRun<'_>) -> Self {
        let types = run.tracks.trace().types();
        let mut waits: Vec<f64> = Vec::new();
        for track in run.tracks.list() {
            let is_wait = |at: &usize| {
                types.value_name(track.type_, track.value[*at]).text == b"Waiting all tasks"
            };
            waits.extend((0..track.len()).filter(is_wait).map(|at| track.end[at]));
        }
        waits.sort_by(f64::total_cmp);
        let of =
            run.tasks.iter().map(|task| waits.partition_point(|end| *end <= task.submit) as u32);
        let of: Vec<u32> = of.collect();
        let count = waits.len() + 1;
        let (mut left, mut tasks, mut ends) =
            (vec![0; count], vec![Vec::new(); count], vec![0.0; count]);
        for (at, phase) in of.iter().enumerate() {
            left[*phase as usize] += 1;
            let end: &mut f64 = &mut ends[*phase as usize];
            *end = end.max(run.tasks[at].end());
        }
        (1..count).for_each(|phase| ends[phase] = f64::max(ends[phase], ends[phase - 1]));
        for (at, phase) in of.iter().enumerate().filter(|(_, phase)| **phase > 0) {
            let delay = (run.tasks[at].submit - ends[*phase as usize - 1]).max(0.0);
            tasks[*phase as usize].push((at as u32, delay));
        }
        Phases { of, left, tasks, current: 0 }
    }
}

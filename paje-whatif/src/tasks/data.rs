//! Where data is, and how long transfers between memory nodes take.

use paje_comm::tasks::{TaskRun, Worker};
use paje_sim::Trace;
use rustc_hash::FxHashMap;

/// The data of a run and its transfers.
#[derive(Clone, Debug)]
pub(super) struct Data {
    /// Accesses of each task: index of the data, bytes, and whether the task reads and writes it.
    accesses: Vec<Vec<(u32, f64, bool, bool)>>,
    /// Number of pieces of data.
    pub(super) count: usize,
    /// Time per byte from or to the main memory, and between two other nodes.
    rates: [f64; 2],
    /// Whether data is fetched as soon as a task is assigned to a worker.
    pub(super) prefetches: bool,
    /// Memory node of each worker.
    pub(super) nodes: Vec<u32>,
}

impl Data {
    pub(super) fn new(run: &TaskRun<'_>) -> Self {
        let mut indices: FxHashMap<u64, u32> = FxHashMap::default();
        let records = &run.records;
        let accesses = records.list().iter().map(|record| {
            let accesses = records.accesses(record).iter().map(|it| {
                let next = indices.len() as u32;
                let data = *indices.entry(it.handle).or_insert(next);
                (data, it.size as f64, it.reads, it.writes)
            });
            accesses.collect()
        });
        let accesses = accesses.collect();
        let trace = run.tracks.trace();
        let (mut rates, mut prefetches) = ([f64::INFINITY; 2], false);
        for link in trace.links() {
            let name = link.lane.type_name();
            if !name.text.starts_with(b"Intra-node data") {
                continue;
            }
            prefetches |= name.text.ends_with(b" TaskPreFetch");
            let size: Option<f64> = link.value_name().to_str_lossy().parse().ok();
            let time = link.end - link.start;
            if let Some(size) = size.filter(|size| *size > 0.0 && time > 0.0) {
                let ends = [link.from, link.to];
                let is_main = ends.iter().any(|end| number(trace, *end) == 0);
                let rate = &mut rates[usize::from(!is_main)];
                *rate = rate.min(time / size);
            }
        }
        let rates = match rates {
            [main, other] if main.is_finite() => {
                [main, if other.is_finite() { other } else { main }]
            }
            [_, other] if other.is_finite() => [other, other],
            _ => [0.0; 2],
        };
        let nodes = run.workers.iter().map(|worker| node(run, *worker)).collect();
        Data { accesses, count: indices.len(), rates, prefetches, nodes }
    }

    pub(super) fn has_transfers(&self) -> bool {
        self.rates[0] > 0.0
    }
}

/// Returns the memory node of a worker: the number of the container around its thread.
fn node(run: &TaskRun<'_>, worker: Worker) -> u32 {
    let containers = run.tracks.trace().containers();
    let container = run.tracks.list()[worker.track as usize].container;
    number(run.tracks.trace(), containers.parent(containers.parent(container)))
}

/// Returns the number at the end of a container's name.
fn number(trace: &Trace, container: paje_sim::ContainerId) -> u32 {
    let name = trace.containers().name(container).text;
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = std::str::from_utf8(&name[name.len() - digits..]).unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// The memory nodes that have valid copies of each piece of data. All transfers share one bus.
#[derive(Clone, Debug)]
pub(super) struct Places<'d> {
    data: &'d Data,
    /// Nodes and times from which the copies are valid. In the beginning, all data is in the main memory.
    copies: Vec<Vec<(u32, f64)>>,
    bus_is_free: f64,
}

impl<'d> Places<'d> {
    pub(super) fn new(data: &'d Data) -> Self {
        let count = if data.has_transfers() { data.count } else { 0 };
        Places { data, copies: vec![vec![(0, 0.0)]; count], bus_is_free: 0.0 }
    }

    fn missing(&self, task: u32, node: u32) -> impl Iterator<Item = (u32, f64)> {
        let accesses: &'d [_] =
            if self.copies.is_empty() { &[] } else { &self.data.accesses[task as usize] };
        accesses.iter().filter(|(_, _, reads, _)| *reads).filter_map(move |(data, size, ..)| {
            let copies = &self.copies[*data as usize];
            let is_here = copies.iter().any(|(at, _)| *at == node);
            let is_main = node == 0 || copies.iter().any(|(at, _)| *at == 0);
            (!is_here).then(|| (*data, size * self.data.rates[usize::from(!is_main)]))
        })
    }

    /// Returns the time of the transfers that a task needs on a node.
    pub(super) fn cost(&self, task: u32, node: u32) -> f64 {
        self.missing(task, node).map(|(_, time)| time).sum()
    }

    /// Fetches the data of a task. Returns the time at which all of it is there.
    pub(super) fn fetch(&mut self, task: u32, node: u32, now: f64) -> f64 {
        for (data, time) in self.missing(task, node).collect::<Vec<_>>() {
            let copies = &mut self.copies[data as usize];
            let source = copies.iter().map(|(_, since)| *since).fold(f64::INFINITY, f64::min);
            let done = now.max(source).max(self.bus_is_free) + time;
            self.bus_is_free = done;
            if !copies.iter().any(|(at, _)| *at == node) {
                copies.push((node, done));
            }
        }
        if self.copies.is_empty() {
            return now;
        }
        let reads = self.data.accesses[task as usize].iter().filter(|(_, _, reads, _)| *reads);
        let since = reads.flat_map(|(data, ..)| &self.copies[*data as usize]);
        since.filter(|(at, _)| *at == node).map(|(_, since)| *since).fold(now, f64::max)
    }

    /// Invalidates all other copies of the data that a task has written.
    pub(super) fn wrote(&mut self, task: u32, node: u32, now: f64) {
        if !self.copies.is_empty() {
            for (data, ..) in self.data.accesses[task as usize].iter().filter(|it| it.3) {
                self.copies[*data as usize] = vec![(node, now)];
            }
        }
    }
}

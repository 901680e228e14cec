//! Topological order of all steps, and the cycles that prevent it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::schedule::Schedule;
use super::steps::offsets;
use super::{NONE, Order, Step, Stretch, TAKEN};

struct Run<'o> {
    order: &'o Order,
    /// Steps that each step delays. `next` has the offsets of its steps in `to`.
    next: Vec<u32>,
    to: Vec<u32>,
    /// Number of edges that still delay each step.
    pending: Vec<u32>,
    at: Vec<u32>,
    line: Vec<u32>,
    /// Lines whose current step can complete.
    ready: VecDeque<u32>,
    sequence: Vec<u32>,
}

impl<'o> Run<'o> {
    fn new(order: &'o Order) -> Self {
        let edges = &order.edges;
        let steps = edges.first.len() - 1;
        let froms = || edges.from.iter().map(|from| from & !TAKEN);
        let next = offsets(steps, froms());
        let (mut to, mut place) = (vec![0; edges.from.len()], next.clone());
        let mut pending = Vec::with_capacity(steps);
        for step in 0..steps {
            pending.push(edges.to(step).len() as u32);
            for from in &edges.from[edges.to(step)] {
                let place = &mut place[(from & !TAKEN) as usize];
                to[*place as usize] = step as u32;
                *place += 1;
            }
        }
        let mut line = vec![0; steps];
        for at in 0..order.first.len().saturating_sub(1) {
            line[order.first[at] as usize..order.first[at + 1] as usize].fill(at as u32);
        }
        let lines = order.first.len().saturating_sub(1);
        let at = order.first[..lines].to_vec();
        let sequence = Vec::with_capacity(steps);
        let mut run = Run { order, next, to, pending, at, line, ready: VecDeque::new(), sequence };
        // All lines begin. Those without a delay are ready.
        (0..lines).for_each(|line| run.release(line));
        run.ready.clear();
        let is_free =
            |line: &usize| !run.is_over(*line) && run.pending[run.at[*line] as usize] == 0;
        let free: Vec<usize> = (0..lines).filter(is_free).collect();
        run.ready.extend(free.into_iter().map(|line| line as u32));
        run
    }

    fn is_over(&self, line: usize) -> bool {
        self.at[line] == self.order.first[line + 1]
    }

    fn begin(&mut self, line: usize) {
        self.release(line);
        if !self.is_over(line) && self.pending[self.at[line] as usize] == 0 {
            self.ready.push_back(line as u32);
        }
    }

    /// Removes the delays that the line's current step causes. Steps without further delays become
    /// ready.
    fn release(&mut self, line: usize) {
        if self.is_over(line) {
            return;
        }
        let step = self.at[line] as usize;
        for edge in self.next[step] as usize..self.next[step + 1] as usize {
            let to = self.to[edge];
            self.pending[to as usize] -= 1;
            let line = self.line[to as usize];
            if self.pending[to as usize] == 0 && self.at[line as usize] == to {
                self.ready.push_back(line);
            }
        }
    }

    fn go_on(&mut self) {
        while let Some(line) = self.ready.pop_front() {
            self.sequence.push(line);
            self.at[line as usize] += 1;
            self.begin(line as usize);
        }
    }

    fn has_begun(&self, step: u32) -> bool {
        self.at[self.line[step as usize] as usize] >= step
    }

    fn kept_back(&self, line: usize) -> impl Iterator<Item = usize> + '_ {
        let edges = &self.order.edges;
        let kept = |edge: &usize| !self.has_begun(edges.from[*edge] & !TAKEN);
        edges.to(self.at[line] as usize).filter(kept)
    }
}

/// Finds the sequence. Leaves out edges that would block it forever, and returns their number.
pub(super) fn find(order: &mut Order) -> u64 {
    let mut run = Run::new(order);
    run.go_on();
    let mut broken = Vec::new();
    let lines = run.at.len();
    let mut line = 0;
    while run.sequence.len() < run.pending.len() {
        if !run.is_over(line) {
            let edges: Vec<usize> = run.kept_back(line).collect();
            broken.extend(edges);
            run.pending[run.at[line] as usize] = u32::MAX;
            run.ready.push_back(line as u32);
            run.go_on();
        }
        line = (line + 1) % lines;
    }
    let sequence = run.sequence;
    let mut edges = std::mem::take(&mut order.edges);
    broken.iter().for_each(|edge| edges.from[*edge] = NONE);
    order.schedule = Schedule::new(&order.first, &edges, sequence);
    broken.len() as u64
}

impl Order {
    /// Returns cycles of steps that block one another forever and include a waiting sender. A cycle
    /// has at most one step of each track, and each of its steps waits for the next one. To find
    /// further cycles, the search breaks each cycle at its first step. Returns at most `limit`
    /// cycles, and the total number of cycles.
    #[must_use]
    pub fn circles(&self, limit: usize) -> (Vec<Vec<Step>>, u64) {
        let mut run = Run::new(self);
        run.go_on();
        let (mut found, mut count) = (Vec::new(), 0);
        let lines = run.at.len();
        // Number of the last search that visited each line.
        let mut seen = vec![0_u64; lines];
        let (mut line, mut search) = (0, 0);
        while run.sequence.len() < run.pending.len() {
            if run.is_over(line) {
                line = (line + 1) % lines;
                continue;
            }
            // The edges that delay a stuck line lead to a cycle.
            search += 1;
            let (mut path, mut at) = (Vec::new(), line);
            while seen[at] != search {
                seen[at] = search;
                let edge = run.kept_back(at).next().expect("a stuck line is delayed");
                let from = self.edges.from[edge];
                path.push((at, from & TAKEN != 0));
                at = run.line[(from & !TAKEN) as usize] as usize;
            }
            let begin =
                path.iter().position(|(line, _)| *line == at).expect("the path contains it");
            let circle = &path[begin..];
            // A cycle without a waiting sender is a contradiction in the trace.
            if circle.iter().any(|(_, sends)| *sends) {
                count += 1;
                if found.len() < limit {
                    let tracks = circle.iter().filter(|(line, _)| *line < self.tracks);
                    found.push(tracks.map(|(line, _)| Step(run.at[*line])).collect());
                }
            }
            let free = circle[0].0;
            run.pending[run.at[free] as usize] = u32::MAX;
            run.ready.push_back(free as u32);
            run.go_on();
        }
        (found, count)
    }

    /// For each operation, returns the part of the run that it can influence.
    ///
    /// The part extends to the nearest operations before and after it that synchronise all tracks.
    /// No track leaves such an operation before all tracks with steps have entered it, so
    /// everything before it is known to everything after it.
    #[must_use]
    pub fn stretches(&self) -> Vec<Stretch> {
        let lines = self.first.len() - 1;
        let busy = (0..self.tracks).filter(|track| self.len(*track) > 0).count();
        // In these collectives, all members wait for all others. The line of such a collective has two
        // steps, and an edge from each track.
        let is_full = |line: usize, place: usize| {
            self.first[line + 1] - self.first[line] == 2 && self.schedule.edges(place).len() == busy
        };
        let mut at: Vec<u32> = self.first[..lines].to_vec();
        // For each operation, the index of the first boundary after it, and whether the operation
        // itself is this boundary.
        let mut bounds: Vec<(usize, Arc<[u32]>)> = vec![(0, at.clone().into())];
        let mut of_line: Vec<(usize, bool)> = vec![(0, false); lines];
        for (place, line) in self.schedule.sequence.iter().enumerate() {
            let line = *line as usize;
            if line >= self.tracks && at[line] == self.first[line] {
                let full = is_full(line, place);
                of_line[line] = (bounds.len(), full);
                if full {
                    bounds.push((place, at.clone().into()));
                }
            }
            at[line] += 1;
        }
        bounds.push((self.schedule.sequence.len(), at.into()));
        let last = bounds.len() - 1;
        let of_operation = |operation: &super::Operation| {
            let (bound, full) = match operation.line {
                NONE => (1, false),
                line => of_line[line as usize],
            };
            let (from, to) = (&bounds[bound - 1], &bounds[(bound + usize::from(full)).min(last)]);
            Stretch { range: from.0..to.0, begin: Arc::clone(&from.1), end: Arc::clone(&to.1) }
        };
        self.operations.iter().map(of_operation).collect()
    }
}

//! The ranks of the program and their actions.

use std::ops::Range;

use super::super::closing_line;
use super::timeline::Lines;
use crate::rng::Rng;
use crate::sink::Sink;

/// Minimum duration of a message in microseconds. Each additional microsecond transfers `BANDWIDTH`
/// bytes.
const LATENCY: u64 = 20;
const BANDWIDTH: u64 = 1000;

/// Numbers of bytes that a rank sends east, west, south and north in an iteration.
const EDGES: [u64; 4] = [524_288, 524_288, 262_144, 262_144];
const EXCHANGED: u64 = 2 * (524_288 + 262_144);

/// Size in bytes of a message with a few numbers.
const NUMBERS: u64 = 64;
const PIECE: u64 = 196_608;

/// Computing time of an iteration on a normal rank, in microseconds.
const COMPUTED: u64 = 5000;
const COMPUTED_SLOWLY: u64 = 7500;

/// Every fourth iteration is saved, from the second on.
const SAVED: u64 = 4;

/// State values. The first value has alias 10.
pub(super) const STATES: [&str; 11] = [
    "PMPI_Init",
    "PMPI_Bcast",
    "computing",
    "PMPI_Sendrecv",
    "PMPI_Allreduce",
    "PMPI_Reduce",
    "PMPI_File_write_all",
    "PMPI_Barrier",
    "PMPI_Send",
    "PMPI_Recv",
    "PMPI_Finalize",
];

#[derive(Clone, Copy, Debug)]
enum State {
    Init,
    Bcast,
    Computing,
    Sendrecv,
    Allreduce,
    Reduce,
    WriteAll,
    Barrier,
    Send,
    Recv,
    Finalize,
}

const CHECKPOINT: u64 = 30;
const ITERATION: u64 = 31;

/// Tag of a message in a tree. The tags of edges are 0 to 3.
const TREE: u64 = 4;
const RESULT: u64 = 5;

/// A message under way. Ranks are numbered from 0.
#[derive(Clone, Copy, Debug)]
struct Message {
    from: usize,
    to: usize,
    tag: u64,
    serial: u64,
    arrival: u64,
}

#[derive(Debug)]
pub(super) struct Program {
    clocks: Vec<u64>,
    columns: usize,
    slow: usize,
    serial: u64,
    rng: Rng,
}

impl Program {
    pub(super) fn new(count: usize, mut rng: Rng) -> Self {
        let rows = (2..=count).take_while(|rows| rows * rows <= count);
        let rows = rows.filter(|&rows| count.is_multiple_of(rows)).last().unwrap_or(1);
        let slow = 1 + rng.index(count - 1);
        Self { clocks: vec![0; count], columns: count / rows, slow, serial: 0, rng }
    }

    fn ranks(&self) -> Range<usize> {
        0..self.clocks.len()
    }

    pub(super) fn earliest(&self) -> u64 {
        self.clocks.iter().copied().min().unwrap_or_default()
    }

    pub(super) fn latest(&self) -> u64 {
        self.clocks.iter().copied().max().unwrap_or_default()
    }

    /// Returns the approximate number of bytes at the end of the trace, for a push, a pop and a
    /// destruction per rank.
    pub(super) fn closing_bytes(&self) -> u64 {
        self.clocks.len() as u64 * (3 * closing_line(self.latest()) + 3)
    }

    pub(super) fn start(&mut self, lines: &mut Lines<'_>) {
        for rank in self.ranks() {
            self.clocks[rank] = self.rng.below(100);
            self.push(lines, rank, State::Init);
            self.spend(rank, 900, 400);
            self.pop(lines, rank);
        }
        self.push_all(lines, State::Bcast);
        self.broadcast(lines);
        self.pop_all(lines)
    }

    pub(super) fn iterate(&mut self, lines: &mut Lines<'_>, number: u64) {
        for rank in self.ranks() {
            self.event(lines, rank, ITERATION);
            self.compute(lines, rank);
            self.variable(lines, 9, rank, 5, EXCHANGED * 1_000_000);
        }
        for direction in 0..EDGES.len() {
            self.shift(lines, direction);
        }
        for rank in self.ranks() {
            self.variable(lines, 10, rank, 5, EXCHANGED * 1_000_000);
        }
        self.push_all(lines, State::Allreduce);
        self.push_all(lines, State::Reduce);
        self.reduce(lines);
        self.pop_all(lines);
        self.push_all(lines, State::Bcast);
        self.broadcast(lines);
        self.pop_all(lines);
        self.pop_all(lines);
        if number % SAVED == 1 {
            self.save(lines);
        }
    }

    /// Makes a rank compute. A computing rank consumes more power than a waiting rank.
    fn compute(&mut self, lines: &mut Lines<'_>, rank: usize) {
        let power = 180_000_000 + self.rng.below(40_000_000);
        self.variable(lines, 8, rank, 4, power);
        self.push(lines, rank, State::Computing);
        let least = if rank == self.slow { COMPUTED_SLOWLY } else { COMPUTED };
        self.spend(rank, least, least / 10);
        self.pop(lines, rank);
        let power = 110_000_000 + self.rng.below(10_000_000);
        self.variable(lines, 8, rank, 4, power)
    }

    /// Makes each rank send an edge to its neighbour and receive an edge from the opposite
    /// neighbour.
    fn shift(&mut self, lines: &mut Lines<'_>, direction: usize) {
        let mut edges = Vec::with_capacity(self.clocks.len());
        for rank in self.ranks() {
            self.push(lines, rank, State::Sendrecv);
            let to = self.neighbour(rank, direction);
            edges.push(self.send(lines, rank, to, direction as u64, EDGES[direction]));
        }
        for edge in edges {
            self.receive(lines, edge);
        }
        self.pop_all(lines)
    }

    fn neighbour(&self, rank: usize, direction: usize) -> usize {
        let (columns, rows) = (self.columns, self.clocks.len() / self.columns);
        let (row, column) = (rank / columns, rank % columns);
        match direction {
            0 => row * columns + (column + 1) % columns,
            1 => row * columns + (column + columns - 1) % columns,
            2 => (row + 1) % rows * columns + column,
            _ => (row + rows - 1) % rows * columns + column,
        }
    }

    fn reduce(&mut self, lines: &mut Lines<'_>) {
        let mut step = 1;
        while step < self.clocks.len() {
            for rank in (step..self.clocks.len()).step_by(2 * step) {
                let message = self.send(lines, rank, rank - step, TREE, NUMBERS);
                self.receive(lines, message);
            }
            step *= 2;
        }
    }

    fn broadcast(&mut self, lines: &mut Lines<'_>) {
        let mut step = self.clocks.len().next_power_of_two() / 2;
        while step > 0 {
            for rank in (step..self.clocks.len()).step_by(2 * step) {
                let message = self.send(lines, rank - step, rank, TREE, NUMBERS);
                self.receive(lines, message);
            }
            step /= 2;
        }
    }

    fn save(&mut self, lines: &mut Lines<'_>) {
        for rank in self.ranks() {
            self.event(lines, rank, CHECKPOINT);
            let time = self.tick(rank);
            lines.line(11, time, |sink| sink.num(2).num(alias(rank)).num(State::WriteAll.alias()));
            self.spend(rank, 1200, 600);
            self.push(lines, rank, State::Barrier);
        }
        self.meet();
        for rank in self.ranks() {
            self.pop(lines, rank);
            let time = self.tick(rank);
            lines.line(14, time, |sink| sink.num(2).num(alias(rank)));
        }
    }

    /// Makes rank 0 receive results from the other ranks in turn, until only `left` bytes remain.
    pub(super) fn collect(&mut self, lines: &mut Lines<'_>, left: u64) {
        let mut last = 0;
        for rank in (1..self.clocks.len()).cycle() {
            let before = lines.bytes();
            if before + self.closing_bytes() + last / 2 >= left {
                break;
            }
            self.push(lines, rank, State::Send);
            let message = self.send(lines, rank, 0, RESULT, PIECE);
            self.spend(rank, PIECE / BANDWIDTH, LATENCY);
            self.pop(lines, rank);
            self.push(lines, 0, State::Recv);
            self.receive(lines, message);
            self.pop(lines, 0);
            last = lines.bytes() - before;
        }
    }

    pub(super) fn end(&mut self, lines: &mut Lines<'_>) {
        self.push_all(lines, State::Finalize);
        self.meet();
        for rank in self.ranks() {
            self.spend(rank, 300, 100);
        }
        self.pop_all(lines)
    }

    fn meet(&mut self) {
        let latest = self.latest() + LATENCY;
        self.clocks.fill(latest);
    }

    fn spend(&mut self, rank: usize, least: u64, more: u64) {
        self.clocks[rank] += least + self.rng.below(more);
    }

    /// Returns the time of a rank's next line, which is some microseconds later.
    fn tick(&mut self, rank: usize) -> u64 {
        self.spend(rank, 1, 5);
        self.clocks[rank]
    }

    fn send(
        &mut self,
        lines: &mut Lines<'_>,
        from: usize,
        to: usize,
        tag: u64,
        bytes: u64,
    ) -> Message {
        let time = self.tick(from);
        let arrival = time + LATENCY + bytes / BANDWIDTH + self.rng.below(LATENCY);
        self.serial += 1;
        let message = Message { from, to, tag, serial: self.serial, arrival };
        lines.line(15, time, |sink| message.fields(sink, from));
        message
    }

    fn receive(&mut self, lines: &mut Lines<'_>, message: Message) {
        let time = self.tick(message.to).max(message.arrival);
        self.clocks[message.to] = time;
        lines.line(16, time, |sink| message.fields(sink, message.to))
    }

    fn push(&mut self, lines: &mut Lines<'_>, rank: usize, state: State) {
        let time = self.tick(rank);
        lines.line(12, time, |sink| sink.num(2).num(alias(rank)).num(state.alias()))
    }

    fn pop(&mut self, lines: &mut Lines<'_>, rank: usize) {
        let time = self.tick(rank);
        lines.line(13, time, |sink| sink.num(2).num(alias(rank)))
    }

    fn push_all(&mut self, lines: &mut Lines<'_>, state: State) {
        self.ranks().for_each(|rank| self.push(lines, rank, state))
    }

    fn pop_all(&mut self, lines: &mut Lines<'_>) {
        self.ranks().for_each(|rank| self.pop(lines, rank))
    }

    fn variable(
        &mut self,
        lines: &mut Lines<'_>,
        event: u32,
        rank: usize,
        variable: u64,
        millionths: u64,
    ) {
        let time = self.tick(rank);
        lines.line(event, time, |sink| sink.num(variable).num(alias(rank)).micros(millionths))
    }

    fn event(&mut self, lines: &mut Lines<'_>, rank: usize, value: u64) {
        let time = self.tick(rank);
        lines.line(17, time, |sink| sink.num(6).num(alias(rank)).num(value))
    }
}

impl State {
    fn alias(self) -> u64 {
        10 + self as u64
    }
}

impl Message {
    /// Writes the fields of a link event that follow the time. `end` is the rank at this end of the
    /// link.
    fn fields<'s, 'a>(&self, sink: &'s mut Sink<'a>, end: usize) -> &'s mut Sink<'a> {
        sink.num(3).num(0).word(if self.tag == TREE { "COLL" } else { "PTP" }).num(alias(end));
        sink.num(self.from as u64).text("_").digits(self.to as u64).text("_").digits(self.tag);
        sink.text("_").digits(self.serial)
    }
}

fn alias(rank: usize) -> u64 {
    rank as u64 + 1
}

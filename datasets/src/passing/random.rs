//! Generates random runs of message-passing programs.

use super::ranks::{NO_SIZE, Ranks};
use crate::rng::Rng;

/// A random run.
#[derive(Clone, Debug)]
pub struct Passing {
    /// Bytes of the trace.
    pub bytes: Vec<u8>,
    /// Number of ranks.
    pub ranks: usize,
    /// Messages of at least this size in bytes use the rendezvous protocol.
    pub eager: u64,
}

/// Returns the random run of `seed`. It has up to nine ranks and up to `most` steps. Each step is a
/// message, an exchange, a collective or some work. Times are small numbers, and many times are
/// equal. Some links have no states at their ends or end before they start.
///
/// ```
/// let run = datasets::passing::random(7, 40);
/// assert_eq!(run.bytes, datasets::passing::random(7, 40).bytes);
/// ```
pub fn random(seed: u64, most: u64) -> Passing {
    let mut rng = Rng::new(seed);
    let count = rng.between(1, 9) as usize;
    let mut run = Run { ranks: Ranks::new(count), late: Vec::new(), depth: vec![0; count], rng };
    if run.rng.percent(20) {
        run.ranks.clock.iter_mut().for_each(|clock| *clock = run.rng.below(30));
    }
    for _ in 0..run.rng.between(0, most) {
        run.step();
    }
    for rank in 0..count {
        while run.depth[rank] > 0 {
            run.leave(rank);
        }
    }
    for (key, rank) in std::mem::take(&mut run.late) {
        run.ranks.end(rank, key);
    }
    Passing { bytes: run.ranks.trace(), ranks: count, eager: EAGER }
}

const EAGER: u64 = 1000;

struct Run {
    ranks: Ranks,
    rng: Rng,
    /// Keys and receivers of links that end outside a receive.
    late: Vec<(u64, usize)>,
    /// For each rank, the number of its additional open states.
    depth: Vec<u32>,
}

impl Run {
    fn step(&mut self) {
        let count = self.ranks.count();
        let rank = self.rng.index(count);
        match self.rng.below(20) {
            0..5 => self.work(rank),
            5..8 => self.enter_or_leave(rank),
            8 => self.phase(rank),
            9 => {
                let key = self.ranks.start(rank, NO_SIZE);
                let to = self.rng.index(count);
                self.late.push((key, to));
            }
            10..14 if count > 1 => self.message(rank),
            14..17 if count > 1 => self.exchange(),
            17..20 => self.operation(),
            _ => {}
        }
    }

    fn micros(&mut self) -> u64 {
        if self.rng.percent(30) { 0 } else { self.rng.below(20) }
    }

    fn work(&mut self, rank: usize) {
        let micros = self.micros();
        match self.rng.below(4) {
            0 => self.ranks.clock[rank] += micros,
            1 => self.ranks.state(rank, "PMPI_Comm_rank", micros),
            2 => self.ranks.state(rank, "function", micros),
            _ => self.ranks.state(rank, "computing", micros),
        }
    }

    fn enter_or_leave(&mut self, rank: usize) {
        if self.depth[rank] < 3 && self.rng.percent(50) {
            let value = self.rng.pick(&["computing", "function", "PMPI_Wait"]);
            self.ranks.push(rank, value);
            self.ranks.clock[rank] += self.micros();
            self.depth[rank] += 1;
        } else if self.depth[rank] > 0 {
            self.leave(rank);
        }
    }

    fn leave(&mut self, rank: usize) {
        self.ranks.clock[rank] += self.micros();
        self.ranks.pop(rank);
        self.depth[rank] -= 1;
    }

    /// Adds a state of another type. Its value has the name of an MPI call.
    fn phase(&mut self, rank: usize) {
        self.ranks.push_other(rank, "PMPI_Send");
        self.ranks.clock[rank] += self.micros();
        self.ranks.pop_other(rank);
    }

    fn size(&mut self) -> u64 {
        if self.rng.percent(10) { NO_SIZE } else { self.rng.below(2 * EAGER) }
    }

    fn message(&mut self, from: usize) {
        let to = (from + 1 + self.rng.index(self.ranks.count() - 1)) % self.ranks.count();
        let (transfer, size) = (self.micros(), self.size());
        let synchronous = self.rng.percent(20);
        let key = self.ranks.start(from, size);
        let (sent, posted) = (self.ranks.clock[from], self.ranks.clock[to]);
        let large = size >= EAGER && size != NO_SIZE;
        let arrival =
            if large || synchronous { sent.max(posted) + transfer } else { sent + transfer };
        let left = if large || synchronous { arrival } else { sent + self.micros() };
        self.ranks.state_until(from, if synchronous { "PMPI_Ssend" } else { "PMPI_Send" }, left);
        self.ranks.push(to, "PMPI_Recv");
        self.ranks.clock[to] = posted.max(arrival);
        self.ranks.end(to, key);
        self.ranks.pop(to);
    }

    /// Adds a step where some ranks send to the next rank, receive from the previous rank, and wait
    /// for both messages.
    fn exchange(&mut self) {
        let count = self.ranks.count();
        let some: Vec<usize> = (0..count).filter(|_| self.rng.percent(60)).collect();
        let combined = self.rng.percent(20);
        let mut keys = Vec::new();
        for &rank in &some {
            if !combined {
                self.ranks.state(rank, "PMPI_Irecv", 0);
                let micros = self.micros();
                let (size, sent) = (self.size(), self.ranks.clock[rank]);
                keys.push((self.ranks.start(rank, size), sent));
                self.ranks.state(rank, "PMPI_Isend", micros);
            } else {
                self.ranks.push(rank, "PMPI_Sendrecv");
                let (size, sent) = (self.size(), self.ranks.clock[rank]);
                keys.push((self.ranks.start(rank, size), sent));
            }
        }
        let transfer = self.micros();
        for (at, &rank) in some.iter().enumerate() {
            let before = (at + some.len() - 1) % some.len();
            let (key, sent) = keys[before];
            if !combined {
                self.ranks.push(rank, "PMPI_Waitall");
            }
            self.ranks.clock[rank] = self.ranks.clock[rank].max(sent + transfer);
            self.ranks.end(rank, key);
            self.ranks.pop(rank);
        }
    }

    /// Adds a collective of all ranks. Sometimes a rank does not take part, which makes the calls
    /// ambiguous.
    fn operation(&mut self) {
        let count = self.ranks.count();
        let values = [
            "PMPI_Barrier",
            "PMPI_Allreduce",
            "PMPI_Bcast",
            "PMPI_Reduce",
            "PMPI_Scan",
            "PMPI_Gather",
        ];
        let value = self.rng.pick(&values);
        let root = if self.rng.percent(90) { count / 2 } else { self.rng.index(count) };
        let enters = self.ranks.clock.clone();
        let latest = enters.iter().copied().max().unwrap_or(0);
        let without = if self.rng.percent(3) { self.rng.index(count) } else { count };
        for rank in (0..count).filter(|rank| *rank != without) {
            let until = match value {
                "PMPI_Barrier" | "PMPI_Allreduce" => latest,
                "PMPI_Bcast" => enters[root],
                "PMPI_Scan" => enters[..=rank].iter().copied().max().unwrap_or(0),
                _ if rank == root => latest,
                _ => enters[rank],
            };
            let until = until + self.micros();
            self.ranks.state_until(rank, value, until);
        }
    }
}

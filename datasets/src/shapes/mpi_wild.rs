//! The lines of an MPI trace that follows no program. Each rank acts at random.
//!
//! Nearly half of the lines are pushes and pops, a third are link ends, an eighth are variables,
//! and the rest is everything else. Traces of NAS benchmarks have similar proportions. Time grows
//! from line to line, except that one state in twenty is late, as with a tracer that has a buffer
//! for each rank.

use std::io;

use super::closing_line;
use super::flight::{Flight, pair};
use super::mpi::declare;
use crate::rng::Rng;
use crate::sink::Sink;

const MAX_DEPTH: u64 = 4;

/// Probability of a push at each depth, in percent. The alternative is a pop.
const PUSH: [u64; MAX_DEPTH as usize + 1] = [100, 40, 30, 20, 0];

const STATES: [&str; 12] = [
    "PMPI_Init",
    "PMPI_Send",
    "PMPI_Recv",
    "PMPI_Isend",
    "PMPI_Irecv",
    "PMPI_Wait",
    "PMPI_Waitall",
    "PMPI_Allreduce",
    "PMPI_Bcast",
    "PMPI_Barrier",
    "computing",
    "PMPI_Finalize",
];

#[derive(Clone, Copy, Debug, Default)]
struct Rank {
    depth: u64,
    last: u64,
}

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    let many = 16 + 4 * rng.below(13);
    let count = many.min((size / 4096).max(4));
    declare(sink, &STATES, count)?;
    let mut ranks = vec![Rank::default(); count as usize];
    let mut links = Flight::default();
    let (mut now, mut open) = (0, 0);
    for rank in 1..=count {
        for variable in [4, 5] {
            sink.event(8).micros(0).num(variable).num(rank).micros(rank * 1_000_000).end()?;
        }
    }
    while sink.written() + links.closing_bytes() + (open + count) * closing_line(now) < size {
        now += rng.below(13);
        let index = rng.index(ranks.len());
        let (rank, number) = (&mut ranks[index], index as u64 + 1);
        match rng.below(100) {
            0..48 => {
                let late = if rng.percent(5) { rng.below(300) } else { 0 };
                rank.last = now.saturating_sub(late).max(rank.last);
                if rng.percent(PUSH[rank.depth as usize]) {
                    push(sink, 12, rank.last, number, &mut rng)?;
                    (rank.depth, open) = (rank.depth + 1, open + 1);
                } else {
                    sink.event(13).micros(rank.last).num(2).num(number).end()?;
                    (rank.depth, open) = (rank.depth - 1, open - 1);
                }
            }
            48..84 => {
                if links.len() < 2 * ranks.len() && rng.percent(50) || links.len() == 0 {
                    links.open(sink, now, pair(count, &mut rng), true)?;
                } else {
                    links.complete(sink, now, &mut rng)?;
                }
            }
            84..97 => {
                rank.last = now;
                let event = if rng.percent(50) { 8 } else { 9 + rng.below(2) as u32 };
                let value = rng.below(200_000_000_000);
                sink.event(event)
                    .micros(now)
                    .num(4 + rng.below(2))
                    .num(number)
                    .micros(value)
                    .end()?;
            }
            97 | 98 => {
                rank.last = now;
                sink.event(17).micros(now).num(6).num(number).num(30 + rng.below(2)).end()?;
            }
            _ => {
                (rank.last, open) = (now, open - rank.depth);
                rank.depth = rng.below(2);
                if rank.depth == 1 {
                    push(sink, 11, now, number, &mut rng)?;
                } else {
                    sink.event(14).micros(now).num(2).num(number).end()?;
                }
                open += rank.depth;
            }
        }
    }
    links.close(sink, now, &mut rng)?;
    for (rank, number) in ranks.iter().zip(1..) {
        for _ in 0..rank.depth {
            sink.event(13).micros(now).num(2).num(number).end()?;
        }
    }
    (1..=count).try_for_each(|number| sink.event(7).micros(now).num(1).num(number).end())
}

fn push(sink: &mut Sink<'_>, event: u32, time: u64, rank: u64, rng: &mut Rng) -> io::Result<()> {
    sink.event(event).micros(time).num(2).num(rank).num(10 + rng.below(STATES.len() as u64)).end()
}

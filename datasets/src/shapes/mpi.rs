//! An MPI program on a torus of ranks, as SimGrid's SMPI traces it.
//!
//! The ranks are simulated: each rank has a clock, messages take time, and receivers wait. Rank 0
//! first broadcasts the parameters. An iteration computes, shifts the edges of the plane in all
//! four directions and reduces the residual over all ranks. The results of every fourth iteration,
//! from the second on, are saved. Finally, rank 0 collects the results. The number of pieces
//! depends on the size of the trace. One rank is slow, and the other ranks wait for it.
//!
//! Nearly half of the lines are pushes and pops, a third are link ends, an eighth are variables,
//! and the rest is everything else. Traces of NAS benchmarks have similar proportions.

mod program;
mod timeline;

use std::io;

use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;
use program::{Program, STATES};
use timeline::Timeline;

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    let many = 16 + 4 * rng.below(13);
    // The number is even, so that the torus has at least two rows.
    let count = sink.containers.unwrap_or(many.min((size / 8192 * 2).max(4)));
    begin(sink, count)?;
    let mut program = Program::new(count as usize, rng);
    let mut timeline = Timeline::default();
    timeline.add(|lines| program.start(lines));

    let (mut iteration, mut next) = (0, count * 900);
    while sink.written() + timeline.bytes() + program.closing_bytes() + next < size {
        let before = timeline.bytes();
        timeline.add(|lines| program.iterate(lines, iteration));
        // Some numbers get longer from time to time.
        next = next.max(timeline.bytes() - before + 8 * count);
        iteration += 1;
        timeline.write(sink, program.earliest())?;
    }
    let left = size.saturating_sub(sink.written());
    timeline.add(|lines| {
        program.collect(lines, left);
        program.end(lines);
    });
    timeline.write(sink, u64::MAX)?;
    let now = program.latest();
    (1..=count).try_for_each(|number| sink.event(7).micros(now).num(1).num(number).end())
}

/// Writes the header, types, values and ranks, their computing power, and an idle network.
fn begin(sink: &mut Sink<'_>, count: u64) -> io::Result<()> {
    declare(sink, &STATES, count)?;
    (1..=count).try_for_each(|rank| {
        sink.event(8).micros(0).num(4).num(rank).micros(110_000_000).end()?;
        sink.event(8).micros(0).num(5).num(rank).micros(0).end()
    })
}

/// Writes the header, types, state values (the first value has alias 10) and ranks.
pub(super) fn declare(sink: &mut Sink<'_>, states: &[&str], count: u64) -> io::Result<()> {
    sink.lines(header::all().as_bytes())?;
    sink.lines(
        b"0 1 0 MPI\n2 2 1 MPI_STATE\n4 3 0 1 1 MPI_LINK\n1 4 1 POWER \"0 1 0\"\n1 5 1 TRAFFIC \"0 0 1\"\n3 6 1 MARK\n\
          5 30 6 checkpoint \"1 0 0\"\n5 31 6 iteration \"0 1 1\"\n",
    )?;
    for (alias, name) in (10..).zip(states) {
        sink.event(5).num(alias).num(2).word(name);
        sink.name("\"0.", alias % 10).text(" 0.5 1\"").end()?;
    }
    for rank in 1..=count {
        sink.event(6).micros(0).num(rank).num(1).num(0).quoted("rank-", rank - 1).end()?;
    }
    Ok(())
}

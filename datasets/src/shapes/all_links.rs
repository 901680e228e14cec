//! Writes almost only links. They connect 32 ranks, and up to 256 links are under way.

use std::io;

use super::closing_line;
use super::flight::{Flight, pair};
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

const RANKS: u64 = 32;

pub(super) fn write(sink: &mut Sink<'_>, size: u64, rng: Rng) -> io::Result<()> {
    links(sink, size, rng, |rng| {
        // Most links start before they end, as in MPI. In one link of a hundred, the end comes
        // first, as with unsynchronised clocks.
        !rng.percent(1)
    })
}

/// Writes links, half of which end before they start, both in the file and in time.
pub(super) fn write_reversed(sink: &mut Sink<'_>, size: u64, rng: Rng) -> io::Result<()> {
    links(sink, size, rng, |rng| rng.percent(50))
}

/// Writes links, and a state as every fiftieth event. `started` chooses which end of a link comes
/// first.
fn links(
    sink: &mut Sink<'_>,
    size: u64,
    mut rng: Rng,
    started: impl Fn(&mut Rng) -> bool,
) -> io::Result<()> {
    let count = RANKS.min((size / 2048).max(2));
    let most = (size / 2000).clamp(4, 256) as usize;
    header::write(sink, &[0, 2, 4, 6, 7, 11, 15, 16])?;
    sink.lines(b"0 1 0 MPI\n2 2 1 MPI_STATE\n4 3 0 1 1 MPI_LINK\n")?;
    for rank in 1..=count {
        sink.event(6).micros(0).num(rank).num(1).num(0).name("rank-", rank - 1).end()?;
    }
    let mut flight = Flight::default();
    let mut now = 0;
    while sink.written() + flight.closing_bytes() + count * closing_line(now) < size {
        now += rng.below(9);
        if rng.percent(2) {
            let state = rng.pick(&["send", "receive", "wait"]);
            sink.event(11).micros(now).num(2).num(1 + rng.below(count)).word(state).end()?;
        } else if flight.len() == 0 || flight.len() < most && rng.percent(51) {
            let first = started(&mut rng);
            flight.open(sink, now, pair(count, &mut rng), first)?;
        } else {
            flight.complete(sink, now, &mut rng)?;
        }
    }
    flight.close(sink, now, &mut rng)?;
    (1..=count).try_for_each(|rank| sink.event(7).micros(now).num(1).num(rank).end())
}

//! Two ranks send each other the same message: first 100 times to warm up, and then until the size
//! is reached. A barrier follows each loop.
//!
//! The program is from appendix A of C. Guelque, "HTF: un format de trace hiérarchique" (2023).
//! Figure 13 there shows its structure.

use std::io;

use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

/// Number of rounds of the first loop, if the second loop has room for at least the same number of
/// rounds.
const WARMING_UP: u64 = 100;

/// Approximate number of bytes of a round of both ranks.
const ROUND: u64 = 445;
const REST: u64 = 560;

enum Step {
    Push(&'static str),
    Pop,
    Event(&'static str),
}
use Step::{Event, Pop, Push};

const RANKS: [&str; 2] = ["rank-0", "rank-1"];
const BEGIN: [Step; 1] = [Event("THREAD_BEGIN")];
const SEND: [Step; 3] = [Push("MPI_Send"), Event("MPI_SEND(len=16)"), Pop];
const RECEIVE: [Step; 3] = [Push("MPI_Recv"), Event("MPI_RECV(len=16)"), Pop];
const BARRIER: [Step; 4] =
    [Push("MPI_Barrier"), Event("MPI_COLLECTIVE_BEGIN"), Event("MPI_COLLECTIVE_END"), Pop];
const END: [Step; 1] = [Event("THREAD_END")];

pub(super) fn write(sink: &mut Sink<'_>, size: u64, rng: Rng) -> io::Result<()> {
    let warming = WARMING_UP.min(size / ROUND / 2);
    write_rounds(sink, warming, |_, written| written + ROUND / 2 + REST < size, rng)
}

/// Writes a trace with `warming` rounds in the first loop. The second loop continues while
/// `goes_on` returns `true`, given the current number of rounds and bytes.
fn write_rounds(
    sink: &mut Sink<'_>,
    warming: u64,
    goes_on: impl Fn(u64, u64) -> bool,
    mut rng: Rng,
) -> io::Result<()> {
    header::write(sink, &[0, 2, 3, 6, 7, 12, 13, 17])?;
    sink.lines(b"0 RANK 0 RANK\n2 CALL RANK CALL\n3 POINT RANK POINT\n")?;
    for rank in RANKS {
        sink.event(6).micros(0).word(rank).word("RANK").word("0").word(rank).end()?;
    }
    let mut now = 0;
    let mut steps = |sink: &mut Sink<'_>, rank: usize, steps: &[Step]| {
        steps.iter().try_for_each(|step| {
            now += rng.below(6);
            let (number, type_, value) = match step {
                Push(value) => (12, "CALL", Some(value)),
                Pop => (13, "CALL", None),
                Event(value) => (17, "POINT", Some(value)),
            };
            let line = sink.event(number).micros(now).word(type_).word(RANKS[rank]);
            if let Some(value) = value {
                line.word(value);
            }
            line.end()
        })?;
        Ok::<u64, io::Error>(now)
    };
    for rank in 0..2 {
        steps(sink, rank, &BEGIN)?;
    }
    for is_warm in [false, true] {
        let mut round = 0;
        while if is_warm { goes_on(round, sink.written()) } else { round < warming } {
            for (rank, call) in [(0, &SEND), (1, &RECEIVE), (1, &SEND), (0, &RECEIVE)] {
                steps(sink, rank, call)?;
            }
            round += 1;
        }
        for rank in 0..2 {
            steps(sink, rank, &BARRIER)?;
        }
    }
    for rank in 0..2 {
        steps(sink, rank, &END)?;
    }
    let now = steps(sink, 0, &[])?;
    RANKS.into_iter().try_for_each(|rank| sink.event(7).micros(now).word("RANK").word(rank).end())
}

/// Returns a trace of [`Shape::PingPong`](crate::Shape::PingPong) with these numbers of rounds.
pub fn ping_pong(warming: u64, rounds: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sink = Sink::new(&mut bytes);
    let written = write_rounds(&mut sink, warming, |round, _| round < rounds, Rng::new(1));
    written.and_then(|()| sink.finish()).expect("writing to memory does not fail");
    bytes
}

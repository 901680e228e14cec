//! Writes the trace of a run in which all ranks send messages to one another. It serves to measure
//! time and memory. Usage: `anybody RANKS MESSAGES`.
//!
//! The trace is written piece by piece, with one event per microsecond. As in [`Hazard::Anybody`],
//! up to eight messages are in flight, with occasional barriers.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use datasets::passing::Hazard;
use testkit::Rng;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let (Some(Ok(ranks @ 2..)), Some(Ok(messages))) = (words.next(), words.next()) else {
        eprintln!("usage: anybody RANKS MESSAGES; ranks are 2 or more");
        return ExitCode::from(2);
    };
    match write(&mut BufWriter::new(io::stdout().lock()), ranks, messages) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn write(out: &mut dyn Write, ranks: usize, messages: usize) -> io::Result<()> {
    // Without messages, the trace has only its header and the containers.
    let empty = Hazard::Anybody { ranks, messages: 0, seed: 1 }.trace();
    let ends = |line: &&[u8]| line.starts_with(b"7 ");
    for line in empty.split_inclusive(|byte| *byte == b'\n').filter(|line| !ends(line)) {
        out.write_all(line)?;
    }
    let mut rng = Rng::new(1);
    let mut under_way: VecDeque<(usize, usize)> = VecDeque::new();
    let mut clock = 0_u64;
    let mut tick = || {
        clock += 1;
        format!("{}.{:06}", clock / 1_000_000, clock % 1_000_000)
    };
    for key in 0..messages {
        let (from, to) = (rng.index(ranks), rng.index(ranks));
        let time = tick();
        writeln!(out, "12 {time} S r{from} PMPI_Isend\n15 {time} L 0 PTP r{from} k{key} NA")?;
        writeln!(out, "13 {} S r{from}", tick())?;
        under_way.push_back((to, key));
        // Some messages stay in flight.
        while under_way.len() > rng.index(8) || (key + 1 == messages && !under_way.is_empty()) {
            let Some((to, key)) = under_way.pop_front() else { break };
            writeln!(out, "12 {} S r{to} PMPI_Recv", tick())?;
            let time = tick();
            writeln!(out, "16 {time} L 0 PTP r{to} k{key}\n13 {time} S r{to}")?;
        }
        // Barriers are rare, so that states in barriers are not more frequent than messages.
        if rng.index(50.max(ranks)) == 0 {
            let (time, end) = (tick(), tick());
            (0..ranks).try_for_each(|rank| writeln!(out, "12 {time} S r{rank} PMPI_Barrier"))?;
            (0..ranks).try_for_each(|rank| writeln!(out, "13 {end} S r{rank}"))?;
        }
    }
    let end = tick();
    (0..ranks).try_for_each(|rank| writeln!(out, "7 {end} R r{rank}"))?;
    out.flush()
}

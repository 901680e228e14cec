//! Writes states with distinct values, such as task identifiers. A third of the values are defined,
//! with a colour, just before their use.

use std::io;

use super::closing_line;
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

const CONTAINERS: u64 = 16;

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    let count = CONTAINERS.min((size / 4096).max(1));
    header::write(sink, &[0, 2, 5, 6, 7, 11, 12, 13])?;
    sink.lines(b"0 1 0 Worker\n2 2 1 Task\n")?;
    for worker in 1..=count {
        sink.event(6).micros(0).num(worker).num(1).num(0).name("worker-", worker).end()?;
    }
    let mut depths = vec![0_u64; count as usize];
    let (mut now, mut open, mut serial): (u64, u64, u64) = (0, 0, 0);
    while sink.written() + (open + count) * closing_line(now) < size {
        now += rng.below(17);
        let index = rng.index(depths.len());
        let (depth, worker) = (&mut depths[index], index as u64 + 1);
        let event = match *depth {
            0 => 12,
            1..4 => 11 + rng.below(3) as u32,
            _ => 13,
        };
        if event == 13 {
            sink.event(13).micros(now).num(2).num(worker).end()?;
            (*depth, open) = (*depth - 1, open - 1);
            continue;
        }
        serial += 1;
        if rng.percent(33) {
            sink.event(5).name("t", serial).num(2).quoted("Task ", serial);
            sink.word("\"0.").digits(rng.below(10)).text(" 0.5 1\"").end()?;
        }
        sink.event(event).micros(now).num(2).num(worker).name("t", serial).end()?;
        let deeper = if event == 11 { 1 } else { *depth + 1 };
        (open, *depth) = (open + deeper - *depth, deeper);
    }
    for (&depth, worker) in depths.iter().zip(1..) {
        (0..depth).try_for_each(|_| sink.event(13).micros(now).num(2).num(worker).end())?;
    }
    (1..=count).try_for_each(|worker| sink.event(7).micros(now).num(1).num(worker).end())
}

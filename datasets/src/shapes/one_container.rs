//! A single state lane. Most events push or pop a state, and some set the state.

use std::io;

use super::closing_line;
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

const VALUES: [&str; 6] = ["idle", "compute", "send", "receive", "wait", "io"];

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    header::write(sink, &[0, 2, 6, 7, 11, 12, 13])?;
    sink.lines(b"0 1 0 PROCESS\n2 2 1 STATE\n6 0.000000 1 1 0 process\n")?;
    let (mut now, mut depth): (u64, u64) = (0, 0);
    while sink.written() + (depth + 1) * closing_line(now) < size {
        now += rng.below(25);
        match rng.below(10) {
            0 => {
                sink.event(11).micros(now).num(2).num(1).word(rng.pick(&VALUES)).end()?;
                depth = 1;
            }
            1..=5 if depth < 8 => {
                sink.event(12).micros(now).num(2).num(1).word(rng.pick(&VALUES)).end()?;
                depth += 1;
            }
            _ if depth > 0 => {
                sink.event(13).micros(now).num(2).num(1).end()?;
                depth -= 1;
            }
            _ => {}
        }
    }
    (0..depth).try_for_each(|_| sink.event(13).micros(now).num(2).num(1).end())?;
    sink.event(7).micros(now).num(1).num(1).end()
}

//! Many containers in groups, which are created one by one between events.

use std::io;

use super::closing_line;
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

const MOST: u64 = 100_000;
const GROUP: u64 = 500;

/// Number of bytes for a container: its creation, its destruction, and its five or six events.
const BYTES_EACH: u64 = 220;

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    let count = sink.containers.unwrap_or((size / BYTES_EACH).clamp(2, MOST));
    header::write(sink, &[0, 1, 2, 3, 6, 7, 8, 11, 17])?;
    sink.lines(b"0 G 0 Group\n0 W G Worker\n2 S W State\n1 V W Load \"1 0 0\"\n3 E W Mark\n")?;
    let (mut now, mut created, mut groups): (u64, u64, u64) = (0, 0, 0);
    // Identifiers are a letter and a number, and most identifiers are as long as the last
    // identifier.
    let closing =
        |now, created: u64| closing_line(now) - 2 + u64::from(created.max(1).ilog10()) + 1;
    while sink.written() + (created + groups) * closing(now, created) < size {
        now += rng.below(9);
        // Containers are created faster than at a steady rate, so that the last containers also get
        // events.
        if created < count && sink.written() * 5 / 4 >= created * (size / count) {
            if created.is_multiple_of(GROUP) {
                sink.event(6)
                    .micros(now)
                    .name("g", groups)
                    .word("G")
                    .num(0)
                    .name("group-", groups)
                    .end()?;
                groups += 1;
            }
            sink.event(6).micros(now).name("w", created).word("W").name("g", groups - 1);
            sink.quoted("worker ", created).end()?;
            created += 1;
            continue;
        }
        let worker = rng.below(created);
        match rng.below(10) {
            0..6 => sink
                .event(11)
                .micros(now)
                .word("S")
                .name("w", worker)
                .word(rng.pick(&["run", "wait", "steal"]))
                .end()?,
            6..9 => {
                sink.event(8).micros(now).word("V").name("w", worker).num(rng.below(100)).end()?
            }
            _ => sink.event(17).micros(now).word("E").name("w", worker).word("tick").end()?,
        }
    }
    for worker in 0..created {
        sink.event(7).micros(now).word("W").name("w", worker).end()?;
    }
    (0..groups).try_for_each(|group| sink.event(7).micros(now).word("G").name("g", group).end())
}

//! Variables of many machines. Events set them, add to them and subtract from them, with all
//! spellings of numbers.

use std::io;

use super::closing_line;
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

const MACHINES: u64 = 32;
const VARIABLES: [&str; 6] =
    ["power", "power_used", "bandwidth", "bandwidth_used", "temperature", "queue"];

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    let count = MACHINES.min((size / 8192).max(1));
    header::write(sink, &[0, 1, 6, 7, 8, 9, 10])?;
    sink.lines(b"0 1 0 HOST\n")?;
    for (alias, name) in (2..).zip(VARIABLES) {
        sink.event(1)
            .num(alias)
            .num(1)
            .word(name)
            .word("\"1 0.")
            .digits(alias)
            .text(" 0\"")
            .end()?;
    }
    for machine in 1..=count {
        sink.event(6).micros(0).num(machine).num(1).num(0).quoted("host-", machine).end()?;
        for variable in 2..2 + VARIABLES.len() as u64 {
            sink.event(8)
                .micros(0)
                .num(variable)
                .num(machine)
                .micros(1_000_000 * variable)
                .end()?;
        }
    }
    let mut now = 0;
    while sink.written() + count * closing_line(now) < size {
        now += rng.below(11);
        let event = 8 + rng.below(3) as u32;
        sink.event(event)
            .micros(now)
            .num(2 + rng.below(VARIABLES.len() as u64))
            .num(1 + rng.below(count));
        let number = rng.below(1_000_000_000_000);
        match rng.below(8) {
            0 => sink.num(number % 10_000),
            1 => sink.name("-", number % 1000).text(".").padded(number, 3),
            2 => {
                sink.num(number % 10).text(".").padded(number, 13).text("e+").padded(number % 12, 2)
            }
            3 => sink.num(number % 10).text(".").padded(number, 6).text("e-").padded(number % 7, 2),
            4 => sink.num(16_777_200 + number % 40),
            _ => sink.micros(number),
        };
        sink.end()?;
    }
    (1..=count).try_for_each(|machine| sink.event(7).micros(now).num(1).num(machine).end())
}

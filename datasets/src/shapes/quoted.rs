//! Long lines of quoted names. The names contain characters that have a special meaning outside
//! quotes.

use std::io;

use super::closing_line;
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

/// Parts of names. No part ends with a blank or contains a quote.
const PARTS: [&str; 14] = [
    "ngsolve::Apply(BilinearForm<double>, LocalHeap &)",
    "# not a comment",
    "{level: 3}",
    "a, b, c",
    "%EventDef",
    "std::function<void(int, char)>",
    "x = {1, 2}",
    "timer #17",
    "é ü ß",
    "'single'",
    "|",
    "100 %",
    "[0, 4)",
    "C:\\dir",
];
const CONTAINERS: usize = 12;

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    header::write(sink, &[0, 2, 3, 6, 7, 11, 12, 13, 17])?;
    sink.lines(
        b"0 \"Thread # {type}\" 0 \"Thread, of a pool\"\n2 \"State, of {thread}\" \"Thread # {type}\" \"State # 1, 2\"\n\
          3 \"Mark #\" \"Thread # {type}\" \"Mark, #\"\n",
    )?;
    let containers: Vec<String> = (0..CONTAINERS.min((size / 8192).max(1) as usize))
        .map(|number| format!("\"thread # {number}, core {{{number}}}\""))
        .collect();
    for container in &containers {
        sink.event(6)
            .micros(0)
            .word(container)
            .word("\"Thread # {type}\"")
            .num(0)
            .word(container)
            .end()?;
    }
    // The values have between 10 and about 500 bytes.
    let values: Vec<String> = (0..256_u64)
        .map(|number| {
            let parts: Vec<&str> =
                (0..rng.between(1, 1 + number % 16)).map(|_| rng.pick(&PARTS)).collect();
            format!("\"{} {number}\"", parts.join(" "))
        })
        .collect();
    let mut depths = vec![0_u64; containers.len()];
    let (mut now, mut open): (u64, u64) = (0, 0);
    // A closing line has two long names.
    let closing = |now| closing_line(now) + 35;
    while sink.written() + (open + containers.len() as u64) * closing(now) < size {
        now += rng.below(40);
        let index = rng.index(containers.len());
        let value = &values[rng.index(values.len())];
        let depth = &mut depths[index];
        let (event, deeper) = match rng.below(10) {
            0 => (17, *depth),
            1 => (11, 1),
            _ if *depth == 0 || *depth < 5 && rng.percent(60) => (12, *depth + 1),
            _ => (13, *depth - 1),
        };
        sink.event(event)
            .micros(now)
            .word(if event == 17 { "\"Mark #\"" } else { "\"State, of {thread}\"" })
            .word(&containers[index]);
        if event != 13 {
            sink.word(value);
        }
        sink.end()?;
        (open, *depth) = (open + deeper - *depth, deeper);
    }
    for (&depth, container) in depths.iter().zip(&containers) {
        (0..depth).try_for_each(|_| {
            sink.event(13).micros(now).word("\"State, of {thread}\"").word(container).end()
        })?;
    }
    containers.iter().try_for_each(|container| {
        sink.event(7).micros(now).word("\"Thread # {type}\"").word(container).end()
    })
}

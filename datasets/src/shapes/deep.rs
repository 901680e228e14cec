//! Deep stacks: nested containers, each with a state lane whose depth rises and falls by hundreds
//! to thousands.

use std::io;

use super::closing_line;
use crate::header;
use crate::rng::Rng;
use crate::sink::Sink;

const LEVELS: u64 = 48;
const DEEPEST: u64 = 4000;

#[derive(Clone, Copy, Debug, Default)]
struct Stack {
    depth: u64,
    rising: bool,
    turn: u64,
}

pub(super) fn write(sink: &mut Sink<'_>, size: u64, mut rng: Rng) -> io::Result<()> {
    let levels = LEVELS.min((size / 2000).max(2));
    // At most a quarter of the trace closes open states.
    let deepest = DEEPEST.min(size / levels / 100).max(4);
    header::write(sink, &[0, 2, 6, 7, 12, 13])?;
    for level in 1..=levels {
        sink.event(0).name("L", level).word(if level == 1 { "" } else { "L" });
        sink.digits(level - 1).name("Level-", level).end()?;
        sink.event(2).name("S", level).name("L", level).word("Stack").end()?;
    }
    for level in 1..=levels {
        sink.event(6).micros(0).name("c", level).name("L", level);
        sink.word(if level == 1 { "" } else { "c" })
            .digits(level - 1)
            .name("nested-", level)
            .end()?;
    }
    let mut stacks = vec![Stack::default(); levels as usize];
    let (mut now, mut open): (u64, u64) = (0, 0);
    let mut level = 0;
    while sink.written() + open * (closing_line(now) + 3) + levels * (closing_line(now) + 3) < size
    {
        now += rng.below(9);
        // A lane gets several consecutive events, so that its stack can grow faster than other
        // stacks.
        if rng.percent(3) {
            level = rng.index(stacks.len());
        }
        let stack = &mut stacks[level];
        if stack.depth == stack.turn {
            stack.rising = stack.depth == 0 || !stack.rising && rng.percent(80);
            stack.turn = if stack.rising {
                rng.between(stack.depth + 1, deepest.max(stack.depth + 1))
            } else {
                rng.below(stack.depth)
            };
        }
        if stack.rising {
            sink.event(12).micros(now).name("S", level as u64 + 1).name("c", level as u64 + 1);
            sink.name("f", stack.depth % 97).end()?;
            (stack.depth, open) = (stack.depth + 1, open + 1);
        } else {
            pop(sink, now, level as u64 + 1)?;
            (stack.depth, open) = (stack.depth - 1, open - 1);
        }
    }
    for (stack, level) in stacks.iter().zip(1..) {
        (0..stack.depth).try_for_each(|_| pop(sink, now, level))?;
    }
    for level in (1..=levels).rev() {
        sink.event(7).micros(now).name("L", level).name("c", level).end()?;
    }
    Ok(())
}

fn pop(sink: &mut Sink<'_>, now: u64, level: u64) -> io::Result<()> {
    sink.event(13).micros(now).name("S", level).name("c", level).end()
}

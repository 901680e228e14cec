//! The task runtime's trace with blocks of events in random order, as if each thread wrote its
//! buffer at a different time. The header and the creations stay at the beginning, and the
//! destructions at the end.

use std::io;
use std::ops::Range;

use super::task_runtime::Runtime;
use crate::rng::Rng;
use crate::sink::Sink;

/// Number of groups of lines that are shuffled together. Each worker has several of these groups,
/// so that no lane stays in order.
const BLOCK: usize = 512;

pub(super) fn write(sink: &mut Sink<'_>, size: u64, rng: Rng) -> io::Result<()> {
    // The order uses a separate stream of random numbers, so that the events are the same as in the
    // sorted trace.
    let mut order = Rng::new(rng.clone().bits());
    let mut runtime = Runtime::new(None, size, rng);
    runtime.begin(sink)?;
    let enough = |written: u64, runtime: &Runtime| written + runtime.closing_bytes() >= size;
    let mut block = Vec::new();
    while !enough(sink.written(), &runtime) {
        block.clear();
        let mut groups: Vec<Range<usize>> = Vec::with_capacity(BLOCK);
        let mut inner = Sink::new(&mut block);
        inner.tabs();
        while groups.len() < BLOCK && !enough(sink.written() + inner.written(), &runtime) {
            let start = inner.written() as usize;
            runtime.group(&mut inner)?;
            groups.push(start..inner.written() as usize);
        }
        inner.finish()?;
        order.shuffle(&mut groups);
        for group in groups {
            sink.lines(&block[group])?;
        }
    }
    runtime.end(sink)
}

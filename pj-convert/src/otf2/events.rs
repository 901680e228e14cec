//! Merges the rows of a container into the events of its first location.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::iter::Peekable;

use paje_otf2::writer::{EventWriter, MessageEnd};

use super::ticks::Ticks;
use crate::clock::Losses;

/// Order of records of the same time. A message that ends when a state ends belongs to that state,
/// and one that starts when a state begins belongs to this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Receive,
    State,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Enter(u32),
    Leave(u32),
    Value(u32, f64),
    Text(u32, u32),
    Message(bool, MessageEnd),
}

/// A record of a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) tick: u64,
    pub(super) order: Order,
    pub(super) what: What,
}

/// Records in the order of time.
pub(super) type Records<'t> = Box<dyn Iterator<Item = Record> + 't>;

/// A clock that counts the times that it rounds.
#[derive(Debug)]
pub(super) struct Clock {
    ticks: Ticks,
    rounded: Cell<u64>,
    cut: Cell<u64>,
}

impl Clock {
    pub(super) fn new(ticks: Ticks) -> Self {
        Clock { ticks, rounded: Cell::default(), cut: Cell::default() }
    }

    pub(super) fn at(&self, time: f64) -> u64 {
        let (tick, is_exact) = self.ticks.at(time);
        self.rounded.set(self.rounded.get() + u64::from(!is_exact));
        tick
    }

    pub(super) fn losses(&self) -> Losses {
        Losses { rounded: self.rounded.get(), cut: self.cut.get(), ..Losses::default() }
    }
}

/// A state with the number of states below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) depth: u32,
    pub(super) region: u32,
}

/// Beginnings and ends of states.
pub(super) struct Stack<'c, I: Iterator<Item = Region>> {
    states: Peekable<I>,
    open: Vec<Region>,
    clock: &'c Clock,
}

impl<'c, I: Iterator<Item = Region>> Stack<'c, I> {
    pub(super) fn new(states: I, clock: &'c Clock) -> Self {
        Stack { states: states.peekable(), open: Vec::new(), clock }
    }
}

impl<I: Iterator<Item = Region>> Iterator for Stack<'_, I> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let next = self.states.peek().copied();
        let ends = |open: &Region| next.is_none_or(|next| open.depth >= next.depth);
        let (tick, what) = if let Some(open) = self.open.pop_if(|open| ends(open)) {
            let latest = next.map_or(u64::MAX, |next| next.start);
            self.clock.cut.set(self.clock.cut.get() + u64::from(open.end > latest));
            (open.end.min(latest), What::Leave(open.region))
        } else {
            let next = self.states.next()?;
            self.open.push(next);
            (next.start, What::Enter(next.region))
        };
        Some(Record { tick, order: Order::State, what })
    }
}

/// Writes records in the order of their times. Returns their number, and the number of times that
/// were moved because they went back.
pub(super) fn write(mut all: Vec<Records<'_>>, out: EventWriter) -> io::Result<(u64, u64)> {
    let mut out = out;
    let (mut last, mut moved) = (0, 0);
    let mut heads: Vec<Option<Record>> = all.iter_mut().map(Iterator::next).collect();
    let key = |at: usize, it: &Record| Reverse((it.tick, it.order, at));
    let mut heap: BinaryHeap<_> = heads
        .iter()
        .enumerate()
        .filter_map(|(at, head)| head.as_ref().map(|head| key(at, head)))
        .collect();
    while let Some(mut first) = heap.peek_mut() {
        let Reverse((_, _, at)) = *first;
        let Some(Record { tick, what, .. }) = heads[at].take() else { break };
        moved += u64::from(tick < last);
        last = tick.max(last);
        match what {
            What::Enter(region) => out.enter(last, region)?,
            What::Leave(region) => out.leave(last, region)?,
            What::Value(class, value) => out.metric(last, class, value)?,
            What::Text(parameter, string) => out.parameter(last, parameter, string)?,
            What::Message(is_send, end) => out.message(last, is_send, end)?,
        }
        heads[at] = all[at].next();
        match &heads[at] {
            Some(next) => *first = key(at, next),
            None => {
                std::collections::binary_heap::PeekMut::pop(first);
            }
        }
    }
    Ok((out.finish()?, moved))
}

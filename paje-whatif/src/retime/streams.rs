//! Re-timing of messages of collectives without links that share the link out of their sender.
//!
//! While any container advances, it may still send a message that shares a link. So messages
//! complete only while all containers wait. The earliest message completes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::ordered::OrderedTime;
use crate::plan::Plan;
use crate::shapes::{CollectiveModel, Stream};

/// First seat of a series, and the sending member.
type Key = (u32, u32);

/// Links out of members that have messages in flight.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: FxHashMap<Key, Open>,
    /// Completion of the next message of each link. Outdated entries are skipped.
    next: BinaryHeap<Reverse<(OrderedTime, Key, u64)>>,
    /// For each seat, the earliest time in seconds at which its member could leave, not counting
    /// its own message. NaN if unknown.
    through: Vec<f64>,
    changes: u64,
}

#[derive(Debug, Default)]
struct Open {
    stream: Stream,
    state: u64,
}

/// Returns how long each message uses the link out of its sender in the changed run, in seconds.
pub(super) fn each_out(shaped: &CollectiveModel, plan: &Plan) -> f64 {
    shaped.link_out_seconds * plan.queues.get(shaped.series).copied().unwrap_or(1.0)
}

/// Returns how long each message uses the link into the root in the changed run, in seconds.
pub(super) fn each_in(shaped: &CollectiveModel, plan: &Plan) -> f64 {
    shaped.root_in_seconds * plan.queues.get(shaped.series).copied().unwrap_or(1.0)
}

impl Streams {
    pub(super) fn new(graph: &Graph<'_>, seats: usize) -> Self {
        let is_any = graph.shapes.iter().any(CollectiveModel::is_stream);
        let through = if is_any { vec![f64::NAN; seats] } else { Vec::new() };
        Streams { through, ..Streams::default() }
    }

    pub(super) fn add(&mut self, key: Key, each: f64, time: f64, seat: u32) {
        let open = self.open.entry(key).or_default();
        open.stream.add(time, seat);
        self.changes += 1;
        open.state = self.changes;
        let next = open.stream.next(each);
        self.next.extend(next.map(|time| Reverse((OrderedTime(time), key, open.state))));
    }

    pub(super) fn next(&mut self) -> Option<f64> {
        while let Some(Reverse((time, key, state))) = self.next.peek() {
            if self.open.get(key).is_some_and(|open| open.state == *state) {
                return Some(time.0);
            }
            self.next.pop();
        }
        None
    }

    /// Completes the next message. Returns the seat of its receiver.
    pub(super) fn complete_next(&mut self, each: impl Fn(u32) -> f64) -> Option<u32> {
        self.next()?;
        let Reverse((_, key, _)) = self.next.pop()?;
        let open = self.open.get_mut(&key)?;
        let each = each(key.0);
        let (time, seat) = open.stream.complete_next(each)?;
        self.changes += 1;
        open.state = self.changes;
        match open.stream.next(each) {
            Some(time) => self.next.push(Reverse((OrderedTime(time), key, open.state))),
            None => drop(self.open.remove(&key)),
        }
        self.through[seat as usize] = time - each;
        Some(seat)
    }

    pub(super) fn is_through(&self, seat: u32) -> bool {
        !self.through[seat as usize].is_nan()
    }

    /// Returns the time in seconds at which the member could leave, not counting its own message.
    pub(super) fn through(&self, seat: u32) -> f64 {
        self.through[seat as usize]
    }
}

//! Messages of operations without links in a changed run, where those out of one member share its link.
//!
//! A message may still come that others have to share with, as long as any container goes on: so messages are let through, the
//! earliest first, when all wait.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::ordered::OrderedTime;
use crate::plan::Plan;
use crate::shapes::{CollectiveModel, Stream};

/// First seat of a series, and sending member.
type Key = (u32, u32);

/// Links out of members with messages under way.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: FxHashMap<Key, Open>,
    /// When the next message of each link is through; outdated entries are skipped.
    next: BinaryHeap<Reverse<(OrderedTime, Key, u64)>>,
    /// By seat, when its member could leave but for its own message, in seconds; NaN while not known.
    through: Vec<f64>,
    /// Number of changes so far.
    changes: u64,
}

#[derive(Debug, Default)]
struct Open {
    stream: Stream,
    /// Number of the last change.
    state: u64,
}

/// Returns how long each message needs the link out of its sender in the changed run, in seconds.
pub(super) fn each_out(shaped: &CollectiveModel, plan: &Plan) -> f64 {
    shaped.link_out_seconds * plan.queues.get(shaped.series).copied().unwrap_or(1.0)
}

/// Returns the same for the link into the root.
pub(super) fn each_in(shaped: &CollectiveModel, plan: &Plan) -> f64 {
    shaped.root_in_seconds * plan.queues.get(shaped.series).copied().unwrap_or(1.0)
}

impl Streams {
    pub(super) fn new(graph: &Graph<'_>, seats: usize) -> Self {
        let is_any = graph.shapes.iter().any(CollectiveModel::is_stream);
        let through = if is_any { vec![f64::NAN; seats] } else { Vec::new() };
        Streams { through, ..Streams::default() }
    }

    /// Adds a message to the link out of a member.
    pub(super) fn add(&mut self, key: Key, each: f64, time: f64, seat: u32) {
        let open = self.open.entry(key).or_default();
        open.stream.add(time, seat);
        self.changes += 1;
        open.state = self.changes;
        let next = open.stream.next(each);
        self.next.extend(next.map(|time| Reverse((OrderedTime(time), key, open.state))));
    }

    /// Returns when the next message is through.
    pub(super) fn next(&mut self) -> Option<f64> {
        while let Some(Reverse((time, key, state))) = self.next.peek() {
            if self.open.get(key).is_some_and(|open| open.state == *state) {
                return Some(time.0);
            }
            self.next.pop();
        }
        None
    }

    /// Completes that message; returns the seat of its receiver.
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

    /// Returns when the member could leave but for its own message, in seconds.
    pub(super) fn through(&self, seat: u32) -> f64 {
        self.through[seat as usize]
    }
}

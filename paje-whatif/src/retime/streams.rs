//! Messages of operations without links in a changed run, where those out of one member share its link.
//!
//! A message may still come that others have to share with, as long as any container goes on: so messages are let through, the
//! earliest first, when all wait.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::plan::Plan;
use crate::shapes::{CollectiveModel, Stream};

/// The first seat of a series, and the member that sends.
type Key = (u32, u32);

/// Links out of members with messages on their way.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: FxHashMap<Key, Open>,
    /// When the next message of each link is through; entries of an earlier state of it are skipped.
    next: BinaryHeap<Reverse<Next>>,
    /// By seat: when its member could leave, were it not for its own message, in seconds; not a number while that is not known.
    through: Vec<f64>,
    /// Number of changes of links so far.
    changes: u64,
}

#[derive(Debug, Default)]
struct Open {
    stream: Stream,
    /// The number of the last change.
    state: u64,
}

#[derive(Clone, Copy, Debug)]
struct Next {
    time: f64,
    key: Key,
    state: u64,
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        let rest = |next: &Self| (next.key, next.state);
        self.time.total_cmp(&other.time).then(rest(self).cmp(&rest(other)))
    }
}

/// Time that each message needs the link out of its sender in the changed run, in seconds.
pub(super) fn each_out(shaped: &CollectiveModel, plan: &Plan) -> f64 {
    shaped.link_out_seconds * plan.queues.get(shaped.series).copied().unwrap_or(1.0)
}

/// The same of the link into the root.
pub(super) fn each_in(shaped: &CollectiveModel, plan: &Plan) -> f64 {
    shaped.root_in_seconds * plan.queues.get(shaped.series).copied().unwrap_or(1.0)
}

impl Streams {
    pub(super) fn new(graph: &Graph<'_>, seats: usize) -> Self {
        let is_any = graph.shapes.iter().any(CollectiveModel::is_stream);
        let through = if is_any { vec![f64::NAN; seats] } else { Vec::new() };
        Streams { through, ..Streams::default() }
    }

    /// A message comes to the link out of a member.
    pub(super) fn add(&mut self, key: Key, each: f64, time: f64, seat: u32) {
        let open = self.open.entry(key).or_default();
        open.stream.add(time, seat);
        self.changes += 1;
        open.state = self.changes;
        let next = open.stream.next(each).map(|time| Next { time, key, state: open.state });
        self.next.extend(next.map(Reverse));
    }

    /// When the next message is through, if any is on its way.
    pub(super) fn next(&mut self) -> Option<f64> {
        while let Some(Reverse(next)) = self.next.peek() {
            if self.open.get(&next.key).is_some_and(|open| open.state == next.state) {
                return Some(next.time);
            }
            self.next.pop();
        }
        None
    }

    /// Lets that message through; gives back the seat of its receiver.
    pub(super) fn let_through(&mut self, each: impl Fn(u32) -> f64) -> Option<u32> {
        self.next()?;
        let Reverse(Next { key, .. }) = self.next.pop()?;
        let open = self.open.get_mut(&key)?;
        let each = each(key.0);
        let (time, seat) = open.stream.let_through(each)?;
        self.changes += 1;
        open.state = self.changes;
        match open.stream.next(each) {
            Some(time) => self.next.push(Reverse(Next { time, key, state: open.state })),
            None => drop(self.open.remove(&key)),
        }
        self.through[seat as usize] = time - each;
        Some(seat)
    }

    pub(super) fn is_through(&self, seat: u32) -> bool {
        !self.through[seat as usize].is_nan()
    }

    /// When its member could leave, were it not for its own message, in seconds.
    pub(super) fn through(&self, seat: u32) -> f64 {
        self.through[seat as usize]
    }
}

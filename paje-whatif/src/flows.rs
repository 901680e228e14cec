//! Messages in a network with shared links.
//!
//! A message first takes its latency. Then its bytes take a time that depends on the message's
//! share of the links of both ends. If links are not shared, the arrival is known at the start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::sharing::{Ordered, Sharing};

/// A message to be transferred.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flow {
    /// Number of the message, with which its arrival is reported.
    pub(crate) id: u64,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Latency, and time to transfer the bytes if no links are shared, in seconds.
    pub(crate) cost: (f64, f64),
}

/// Messages in flight. Events are found by a heap. When a message begins or ends to use links, only
/// the shares of messages that are connected with it by shared links are computed again.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    shares: bool,
    clock: f64,
    /// Time of the next event, the message, and the place and version of its flow. An entry is
    /// obsolete if the version of the flow has changed.
    events: BinaryHeap<Reverse<(Ordered, u64, u32, u32)>>,
    all: Vec<Moving>,
    free: Vec<u32>,
    sharing: Sharing,
}

#[derive(Clone, Copy, Debug, Default)]
struct Moving {
    flow: Flow,
    version: u32,
    /// Whether the latency is over, so that the bytes are being transferred.
    uses_links: bool,
    /// Seconds of the transfer that were left at a time, and the share since then.
    left: f64,
    since: f64,
    share: f64,
}

impl Moving {
    fn end(&self) -> f64 {
        self.since + self.left.max(0.0) / self.share
    }
}

/// A difference of a picosecond between arrivals is due to rounding.
const SAME_TIME: f64 = 1e-12;

impl Flows {
    pub(crate) fn new(shares: bool, cross: f64, nodes: usize) -> Self {
        let sharing = Sharing::new(if shares { nodes } else { 0 }, cross);
        Flows { shares, sharing, clock: f64::NEG_INFINITY, ..Flows::default() }
    }

    pub(crate) fn start(&mut self, flow: Flow, time: f64) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.all.push(Moving::default());
            self.all.len() as u32 - 1
        });
        let it = &mut self.all[place as usize];
        (it.flow, it.uses_links) = (flow, false);
        let bytes = if self.shares { 0.0 } else { flow.cost.1 };
        self.events.push(Reverse((
            Ordered(time + flow.cost.0 + bytes),
            flow.id,
            place,
            it.version,
        )));
    }

    /// Finds the messages that arrive next, and their times of arrival. Finds nothing if no message
    /// arrives up to `until`.
    pub(crate) fn next_arrivals(&mut self, until: f64, arrived: &mut Vec<(u64, f64)>) {
        arrived.clear();
        while arrived.is_empty() {
            if self.sharing.is_changed() {
                self.share();
            }
            let Some(time) = self.next_time().filter(|time| *time <= until) else { return };
            self.clock = self.clock.max(time);
            while let Some(time) = self.next_time() {
                let Some(Reverse((_, id, place, _))) = self.events.peek().copied() else { break };
                let it = &mut self.all[place as usize];
                if time > self.clock && !(it.uses_links && time <= self.clock + SAME_TIME) {
                    break;
                }
                self.events.pop();
                it.version = it.version.wrapping_add(1);
                if it.uses_links {
                    self.sharing.remove(place);
                    self.free.push(place);
                    arrived.push((id, self.clock));
                } else if self.shares && it.flow.cost.1 > 0.0 {
                    it.uses_links = true;
                    (it.left, it.since, it.share) = (it.flow.cost.1, self.clock, 0.0);
                    self.sharing.add(place, (it.flow.from, it.flow.to));
                } else {
                    self.free.push(place);
                    arrived.push((id, time));
                }
            }
        }
    }

    /// Returns whether no message is in flight.
    pub(crate) fn is_idle(&mut self) -> bool {
        !self.sharing.is_changed() && self.next_time().is_none()
    }

    /// Returns the time of the next event. Removes obsolete events.
    fn next_time(&mut self) -> Option<f64> {
        while let Some(Reverse((Ordered(time), _, place, version))) = self.events.peek().copied() {
            if self.all[place as usize].version == version {
                return Some(time);
            }
            self.events.pop();
        }
        None
    }

    /// Computes the shares that have changed. Each connected part of the network has an event
    /// for the message that arrives first.
    fn share(&mut self) {
        while let Some(part) = self.sharing.next_part() {
            let mut first = f64::INFINITY;
            for (place, share) in part {
                let it = &mut self.all[*place as usize];
                if (share - it.share).abs() > 1e-12 * share {
                    it.left -= it.share * (self.clock - it.since);
                    (it.since, it.share) = (self.clock, *share);
                    it.version = it.version.wrapping_add(1);
                }
                first = first.min(it.end());
            }
            for (place, _) in part {
                let it = &self.all[*place as usize];
                if it.end() <= first + SAME_TIME {
                    self.events.push(Reverse((Ordered(it.end()), it.flow.id, *place, it.version)));
                }
            }
        }
    }
}

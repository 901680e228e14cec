//! Messages in a network with shared links.
//!
//! Each container has one link to a crossbar and one from it. A message first takes its latency.
//! Then its bytes take a time that depends on the message's share of both links. Shares are max-min
//! fair, and are found by progressive filling: all shares grow equally until a link is full. The
//! messages on this link keep their shares, while the other shares continue to grow. Algorithm 1 of
//! Schaeli (*Integrated simulation of parallel applications*, 2010) visits links by their number of
//! messages instead, and can exceed their capacity.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug, PartialEq)]
struct OrderedTime(f64);

impl Eq for OrderedTime {}

impl PartialOrd for OrderedTime {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedTime {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A message to be transferred.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    /// Number of the message, with which its arrival is reported.
    pub(crate) id: u64,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Latency, and time to transfer the bytes if no links are shared, in seconds.
    pub(crate) cost: (f64, f64),
}

/// Returns the max-min fair shares of flows. Each flow also uses the fraction `cross` of the
/// opposite links.
#[must_use]
pub fn max_min(flows: &[(u32, u32)], nodes: usize, cross: f64) -> Vec<f64> {
    let mut filling = Filling::default();
    let mut shares = vec![0.0; flows.len()];
    filling.fill(flows, nodes, cross, &mut shares);
    shares
}

#[derive(Clone, Debug, Default)]
struct Filling {
    /// Free capacity of each link, and remaining weight of its messages. The links out of each node
    /// come first, followed by the links into each node.
    free: Vec<f64>,
    weight: Vec<f64>,
    open: Vec<u32>,
    links: Vec<u32>,
}

const SHARE_EPSILON: f64 = 1e-12;

impl Filling {
    fn fill(&mut self, flows: &[(u32, u32)], nodes: usize, cross: f64, shares: &mut [f64]) {
        self.free.resize(2 * nodes, 1.0);
        self.weight.resize(2 * nodes, 0.0);
        self.links.clear();
        let n = nodes as u32;
        let links =
            |(from, to): (u32, u32)| [(from, 1.0), (n + to, 1.0), (n + from, cross), (to, cross)];
        for flow in flows {
            for (link, weight) in links(*flow) {
                if self.weight[link as usize] == 0.0 {
                    self.links.push(link);
                    self.free[link as usize] = 1.0;
                }
                self.weight[link as usize] += weight;
            }
        }
        self.links.sort_unstable();
        self.links.dedup();
        self.open.clear();
        self.open.extend(0..flows.len() as u32);
        while !self.open.is_empty() {
            let full = |link: &u32| {
                let (free, weight) = (self.free[*link as usize], self.weight[*link as usize]);
                if weight > SHARE_EPSILON { free.max(0.0) / weight } else { f64::INFINITY }
            };
            let share = self.links.iter().map(full).fold(f64::INFINITY, f64::min);
            let (free, weight) = (&mut self.free, &mut self.weight);
            let is_full = |free: &[f64], weight: &[f64], link: u32| {
                let link = link as usize;
                weight[link] > SHARE_EPSILON && free[link] <= weight[link] * share * (1.0 + 1e-9)
            };
            // Find all full links before any capacity is subtracted.
            let (done, open): (Vec<u32>, Vec<u32>) = self.open.iter().partition(|flow| {
                let mut of = links(flows[**flow as usize]).into_iter();
                of.any(|(link, needs)| needs > 0.0 && is_full(free, weight, link))
            });
            if done.is_empty() {
                // Due to rounding, it can happen that no link is full.
                self.open.iter().for_each(|flow| shares[*flow as usize] = share.min(1.0));
                break;
            }
            for flow in done {
                shares[flow as usize] = share;
                for (link, needs) in links(flows[flow as usize]) {
                    free[link as usize] -= needs * share;
                    weight[link as usize] -= needs;
                }
            }
            self.open = open;
        }
        for link in &self.links {
            self.weight[*link as usize] = 0.0;
        }
    }
}

/// Messages in flight. When a message arrives, computing the shares takes time proportional to the
/// number of messages in flight.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    shares: bool,
    /// Fraction of the opposite link that a message uses for acknowledgements, as in SimGrid.
    cross: f64,
    nodes: usize,
    clock: f64,
    /// Messages whose latency has not ended, ordered by when it ends.
    joining: BinaryHeap<Reverse<(OrderedTime, u64, u32)>>,
    waiting: Vec<Flow>,
    free: Vec<u32>,
    /// Messages whose bytes are being transferred. Each entry has the number, both ends, the
    /// seconds left, and the share.
    ids: Vec<u64>,
    pairs: Vec<(u32, u32)>,
    left: Vec<f64>,
    share: Vec<f64>,
    is_old: bool,
    filling: Filling,
}

impl Flows {
    pub(crate) fn new(shares: bool, cross: f64, nodes: usize) -> Self {
        Flows { shares, cross, nodes, clock: f64::NEG_INFINITY, ..Flows::default() }
    }

    pub(crate) fn start(&mut self, flow: Flow, time: f64) {
        let place = match self.free.pop() {
            Some(place) => {
                self.waiting[place as usize] = flow;
                place
            }
            None => {
                self.waiting.push(flow);
                self.waiting.len() as u32 - 1
            }
        };
        self.joining.push(Reverse((OrderedTime(time + flow.cost.0), flow.id, place)));
    }

    /// Returns the messages that arrive next, and their time of arrival. Returns `None` if no
    /// message arrives up to `until`.
    pub(crate) fn next_arrivals(&mut self, until: f64, arrived: &mut Vec<(u64, f64)>) {
        arrived.clear();
        loop {
            if self.is_old {
                self.is_old = false;
                if self.shares {
                    self.filling.fill(&self.pairs, self.nodes, self.cross, &mut self.share);
                }
            }
            let done = self.left.iter().zip(&self.share).map(|(left, share)| left / share);
            let done = self.clock + done.fold(f64::INFINITY, f64::min);
            let join = self.joining.peek().map(|Reverse((time, ..))| time.0);
            let join = join.unwrap_or(f64::INFINITY);
            if join.min(done) > until || join.min(done) == f64::INFINITY {
                return;
            }
            if join > done {
                self.go_on(done);
                self.take_done(arrived);
                return;
            }
            // A message that takes no time beyond its latency has arrived.
            self.go_on(join);
            while let Some(Reverse((time, id, place))) = self.joining.peek().copied()
                && time.0 <= self.clock
            {
                self.joining.pop();
                self.free.push(place);
                let flow = self.waiting[place as usize];
                if flow.cost.1 > 0.0 {
                    self.ids.push(id);
                    self.pairs.push((flow.from, flow.to));
                    self.left.push(flow.cost.1);
                    self.share.push(1.0);
                    self.is_old = true;
                } else {
                    arrived.push((id, time.0));
                }
            }
            if !arrived.is_empty() {
                return;
            }
        }
    }

    fn go_on(&mut self, time: f64) {
        let time = time.max(self.clock);
        let seconds = time - self.clock;
        if seconds.is_finite() && seconds > 0.0 {
            for (left, share) in self.left.iter_mut().zip(&self.share) {
                *left -= share * seconds;
            }
        }
        self.clock = time;
    }

    fn take_done(&mut self, arrived: &mut Vec<(u64, f64)>) {
        let least = self.left.iter().copied().fold(f64::INFINITY, f64::min);
        for at in (0..self.left.len()).rev() {
            // A remainder of a picosecond is due to rounding.
            if self.left[at] <= least.max(1e-12) {
                arrived.push((self.ids.swap_remove(at), self.clock));
                self.pairs.swap_remove(at);
                self.left.swap_remove(at);
                self.share.swap_remove(at);
            }
        }
        self.is_old = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(text: &str) -> Vec<f64> {
        let node = |letter: u8| u32::from(letter - b'A');
        let flows: Vec<(u32, u32)> = text
            .split(' ')
            .map(|pair| (node(pair.as_bytes()[0]), node(pair.as_bytes()[1])))
            .collect();
        max_min(&flows, 10, 0.0)
    }

    fn close(found: &[f64], expected: &[f64]) {
        let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(found.len() == expected.len() && off < 1e-12, "{found:?} {expected:?}");
    }

    #[test]
    fn flows_share_the_fullest_link_first() {
        // The example of Schaeli's figure 3.8: A, B and D send to C, and B sends to E.
        close(&shares("AC BC DC"), &[1.0 / 3.0; 3]);
        close(&shares("AC BC DC BE"), &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn no_link_exceeds_its_capacity() {
        // Schaeli's Algorithm 1 uses 4/3 of the link into D.
        let found = shares("AC BC GC HF EF IF BD ED");
        close(&found[..6], &[1.0 / 3.0; 6]);
        close(&found[6..], &[0.5, 0.5]);
    }

    #[test]
    fn opposite_flows_use_part_of_a_link() {
        // Two nodes send to each other, as in SimGrid.
        close(&max_min(&[(0, 1), (1, 0)], 2, 0.05), &[1.0 / 1.05; 2]);
    }
}

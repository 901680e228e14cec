//! Simulates messages in a network with shared links.
//!
//! Each container has one link to a crossbar and one from it. A message first takes its latency,
//! and then the time of its bytes with its share of both links. Shares are max-min fair, by
//! progressive filling: all shares grow equally until a link is full. The messages on this link
//! keep their shares, while the other shares continue to grow. Algorithm 1 of Schaeli (*Integrated
//! simulation of parallel applications*, 2010) visits links by their number of messages instead,
//! and can exceed their capacity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::Graph;
use crate::ordered::OrderedTime;

/// A network.
#[derive(Clone, Debug)]
pub struct Network {
    /// Latency of each message, and the time of its bytes without sharing, in seconds. If they are
    /// NaN, the transfer keeps its recorded time.
    pub(crate) times: Vec<(f64, f64)>,
    pub(crate) shares: bool,
    /// Fraction of the opposite link that a message uses for acknowledgements, as in SimGrid.
    pub(crate) cross: f64,
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
    /// Free capacity and remaining weight of each link. The links out of each node come first, then
    /// those into each node.
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
            // Decides for all flows before it subtracts any capacity.
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
#[derive(Debug)]
pub(crate) struct Flows<'g> {
    network: &'g Network,
    graph: &'g Graph<'g>,
    clock: f64,
    /// Messages within their latency, ordered by the time when it ends.
    joining: BinaryHeap<Reverse<(OrderedTime, u32)>>,
    /// Messages whose bytes are being transferred: their number, ends, seconds left, and share.
    messages: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    left: Vec<f64>,
    shares: Vec<f64>,
    is_old: bool,
    filling: Filling,
}

impl<'g> Flows<'g> {
    pub(crate) fn new(network: &'g Network, graph: &'g Graph<'g>) -> Self {
        Flows {
            network,
            graph,
            clock: f64::NEG_INFINITY,
            joining: BinaryHeap::new(),
            messages: Vec::new(),
            pairs: Vec::new(),
            left: Vec::new(),
            shares: Vec::new(),
            is_old: false,
            filling: Filling::default(),
        }
    }

    /// Starts a transfer. Returns whether its duration is known.
    pub(crate) fn start(&mut self, message: u32, time: f64) -> bool {
        let (latency, work) = self.network.times[message as usize];
        if latency.is_nan() || work.is_nan() {
            return false;
        }
        self.joining.push(Reverse((OrderedTime(time + latency), message)));
        true
    }

    /// Returns the next messages that arrive and their time, if any arrive up to `until`.
    pub(crate) fn next_arrivals(&mut self, until: f64) -> Vec<(u32, f64)> {
        loop {
            if self.is_old {
                self.share();
            }
            let done = self.left.iter().zip(&self.shares).map(|(left, share)| left / share);
            let done = done.fold(f64::INFINITY, f64::min);
            let join = self.joining.peek().map(|Reverse((time, _))| time.0.max(self.clock));
            match join {
                None if done == f64::INFINITY => return Vec::new(),
                _ if join.unwrap_or(f64::INFINITY).min(self.clock + done) > until => {
                    return Vec::new();
                }
                Some(time) if done == f64::INFINITY || time <= self.clock + done => {
                    self.go_on(time);
                    while let Some(Reverse((joins, message))) = self.joining.peek().copied()
                        && joins.0 <= time
                    {
                        self.joining.pop();
                        let ends = &self.graph.messages.list()[message as usize];
                        self.messages.push(message);
                        self.pairs.push((ends.from, ends.to));
                        self.left.push(self.network.times[message as usize].1);
                        self.shares.push(1.0);
                    }
                    self.is_old = true;
                }
                _ => {
                    self.go_on(self.clock + done);
                    return self.take_done();
                }
            }
        }
    }

    fn share(&mut self) {
        self.is_old = false;
        if self.network.shares {
            let nodes = self.graph.tracks.list().len();
            self.filling.fill(&self.pairs, nodes, self.network.cross, &mut self.shares);
        }
    }

    fn go_on(&mut self, time: f64) {
        let seconds = time - self.clock;
        if seconds.is_finite() && seconds > 0.0 {
            for (left, share) in self.left.iter_mut().zip(&self.shares) {
                *left -= share * seconds;
            }
        }
        self.clock = time;
    }

    fn take_done(&mut self) -> Vec<(u32, f64)> {
        let least = self.left.iter().copied().fold(f64::INFINITY, f64::min);
        let mut done = Vec::new();
        for at in (0..self.left.len()).rev() {
            // A remainder of a picosecond is due to rounding.
            if self.left[at] <= least.max(1e-12) {
                done.push((self.messages.swap_remove(at), self.clock));
                self.pairs.swap_remove(at);
                self.left.swap_remove(at);
                self.shares.swap_remove(at);
            }
        }
        self.is_old = true;
        done
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

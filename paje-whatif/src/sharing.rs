//! Max-min fair shares of messages in a network with shared links.
//!
//! Each container has one link to a crossbar and one from it. Shares are found by progressive
//! filling: all shares grow equally until a link is full. The messages on this link keep their
//! shares, while the other shares continue to grow. Algorithm 1 of Schaeli (*Integrated simulation
//! of parallel applications*, 2010) visits links by their number of messages instead, and can
//! exceed their capacity.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A number that orders by its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ordered(pub(crate) f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Returns the max-min fair shares of flows. Each flow also uses the fraction `cross` of the
/// opposite links.
#[must_use]
pub fn max_min(flows: &[(u32, u32)], nodes: usize, cross: f64) -> Vec<f64> {
    let mut sharing = Sharing::new(nodes, cross);
    (0..).zip(flows).for_each(|(flow, ends)| sharing.add(flow, *ends));
    let mut shares = vec![0.0; flows.len()];
    while let Some(part) = sharing.next_part() {
        part.iter().for_each(|(flow, share)| shares[*flow as usize] = *share);
    }
    shares
}

/// Flows in transfer, and the links that they use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    cross: f64,
    /// The links out of each node come first, followed by the links into each node.
    links: Vec<Link>,
    /// Ends of each flow, and the part in which its share was computed last.
    flows: Vec<((u32, u32), u64)>,
    /// Links whose flows have changed.
    changed: Vec<u32>,
    /// Numbers of the current part, and of the first part since the last change.
    part: u64,
    first_part: u64,
    /// Links of the part, and flows with their shares.
    reached: Vec<u32>,
    found: Vec<(u32, f64)>,
    fullest: BinaryHeap<Reverse<(Ordered, u32)>>,
}

#[derive(Clone, Debug, Default)]
struct Link {
    /// Flows that use this link, and whether they use only a fraction of it.
    flows: Vec<(u32, bool)>,
    /// Part in which the link was reached last.
    part: u64,
    /// Capacity that is left during filling, and the numbers of flows without a share that use all
    /// or a fraction of their share.
    free: f64,
    open: [u32; 2],
}

impl Link {
    /// Returns the share of the open flows if this is the next full link.
    fn share(&self, cross: f64) -> f64 {
        self.free.max(0.0) / (f64::from(self.open[0]) + cross * f64::from(self.open[1]))
    }
}

impl Sharing {
    pub(crate) fn new(nodes: usize, cross: f64) -> Self {
        Sharing {
            cross,
            links: vec![Link::default(); 2 * nodes],
            first_part: 1,
            ..Sharing::default()
        }
    }

    /// Returns the links of a flow, and whether it uses only a fraction of them.
    fn links_of(&self, (from, to): (u32, u32)) -> impl Iterator<Item = (u32, bool)> + use<> {
        let nodes = self.links.len() as u32 / 2;
        let all = [(from, false), (nodes + to, false), (nodes + from, true), (to, true)];
        all.into_iter().take(if self.cross > 0.0 { 4 } else { 2 })
    }

    pub(crate) fn add(&mut self, flow: u32, ends: (u32, u32)) {
        if flow as usize >= self.flows.len() {
            self.flows.resize(flow as usize + 1, ((0, 0), 0));
        }
        self.flows[flow as usize].0 = ends;
        for (link, is_part) in self.links_of(ends) {
            self.links[link as usize].flows.push((flow, is_part));
            self.changed.push(link);
        }
    }

    pub(crate) fn remove(&mut self, flow: u32) {
        for (link, is_part) in self.links_of(self.flows[flow as usize].0) {
            let flows = &mut self.links[link as usize].flows;
            if let Some(place) = flows.iter().position(|it| *it == (flow, is_part)) {
                flows.swap_remove(place);
            }
            self.changed.push(link);
        }
    }

    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Returns the shares of flows that share links with a changed flow, directly or through other
    /// flows. Returns one part of the network at a time, and `None` when all shares are known.
    pub(crate) fn next_part(&mut self) -> Option<&[(u32, f64)]> {
        while let Some(link) = self.changed.pop() {
            if self.links[link as usize].part < self.first_part {
                self.reach(link);
                if !self.found.is_empty() {
                    self.fill();
                    return Some(&self.found);
                }
            }
        }
        self.first_part = self.part + 1;
        None
    }

    /// Finds the links and flows of the part with this link.
    fn reach(&mut self, link: u32) {
        self.part += 1;
        self.reached.clear();
        self.found.clear();
        self.reached.push(link);
        self.links[link as usize].part = self.part;
        let mut next = 0;
        while let Some(link) = self.reached.get(next).map(|link| *link as usize) {
            next += 1;
            for place in 0..self.links[link].flows.len() {
                let (flow, _) = self.links[link].flows[place];
                let (ends, part) = self.flows[flow as usize];
                if part == self.part {
                    continue;
                }
                self.flows[flow as usize].1 = self.part;
                self.found.push((flow, f64::NAN));
                for (other, _) in self.links_of(ends) {
                    let other_part = &mut self.links[other as usize].part;
                    if *other_part != self.part {
                        *other_part = self.part;
                        self.reached.push(other);
                    }
                }
            }
        }
    }

    fn fill(&mut self) {
        for link in &self.reached {
            let it = &mut self.links[*link as usize];
            it.free = 1.0;
            it.open = [0, 0];
            it.flows.iter().for_each(|(_, is_part)| it.open[usize::from(*is_part)] += 1);
            self.fullest.push(Reverse((Ordered(it.share(self.cross)), *link)));
        }
        let mut count = 0;
        while let Some(Reverse((Ordered(share), link))) = self.fullest.pop() {
            let it = &self.links[link as usize];
            if it.open == [0, 0] {
                continue;
            }
            // Shares of other flows may have been lower, so that this link is less full.
            let actual = it.share(self.cross);
            if actual > share * (1.0 + 1e-12) {
                self.fullest.push(Reverse((Ordered(actual), link)));
                continue;
            }
            for place in 0..self.links[link as usize].flows.len() {
                let (flow, _) = self.links[link as usize].flows[place];
                let it = &mut self.flows[flow as usize];
                if it.1 != self.part {
                    continue;
                }
                // Marks the flow as done.
                it.1 = 0;
                let ends = it.0;
                self.found[count] = (flow, share);
                count += 1;
                for (other, is_part) in self.links_of(ends) {
                    let other = &mut self.links[other as usize];
                    other.open[usize::from(is_part)] -= 1;
                    other.free -= if is_part { self.cross * share } else { share };
                }
            }
        }
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

//! Finds the causes of hangs: cycles of tracks that wait for one another, and stuck tracks that do
//! not wait.
//!
//! A track may wait for several tracks, and then waits for all of them. All members of a strongly
//! connected component of the graph of waits are in a cycle. The graph has a node for each
//! incomplete collective, so its size is linear in the number of containers.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::deadlock::{Hang, Wait};

/// Finds up to `limit` cycles and all stuck tracks. The ones that block the most tracks come first.
pub(crate) fn hangs(tracks: usize, waits: &[Wait], limit: usize) -> (Vec<Hang>, bool) {
    let graph = Graph::new(tracks, waits);
    let components = graph.components();
    let (mut found, mut is_more) = (Vec::new(), false);
    let mut covered: FxHashSet<u32> = FxHashSet::default();
    let mut members: Vec<u32> = waits.iter().map(|wait| wait.track as u32).collect();
    members.sort_by_key(|track| (usize::MAX - graph.waiting(*track), *track));
    for track in members {
        if covered.contains(&track) {
            continue;
        }
        if found.len() == limit {
            is_more |= graph.circle(track, &components).is_some();
            break;
        }
        let Some(mut circle) = graph.circle(track, &components) else { continue };
        covered.extend(&circle);
        let least = circle.iter().enumerate().min_by_key(|(_, track)| **track);
        let least = least.map_or(0, |(at, _)| at);
        circle.rotate_left(least);
        found.push((circle, true));
    }
    let blocked: FxHashSet<u32> = waits.iter().map(|wait| wait.track as u32).collect();
    let is_end = |track: &u32| {
        graph.next[*track as usize].is_empty()
            && (!graph.before[*track as usize].is_empty() || blocked.contains(track))
    };
    found.extend((0..tracks as u32).filter(is_end).map(|track| (vec![track], false)));
    let hang = |(tracks, is_circle): (Vec<u32>, bool)| {
        let count = |track: &u32| (*track, graph.waiting(*track));
        let most =
            tracks.iter().map(count).min_by_key(|(track, count)| (usize::MAX - count, *track));
        Hang { most: most.unwrap_or_default(), hanging: graph.hanging(&tracks), tracks, is_circle }
    };
    let mut hangs: Vec<Hang> = found.into_iter().map(hang).collect();
    hangs.sort_by_key(|hang| (usize::MAX - hang.hanging, hang.tracks[0]));
    (hangs, is_more)
}

/// Graph of waits. Nodes are the tracks, followed by the collectives in which they wait.
struct Graph {
    tracks: usize,
    next: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
}

impl Graph {
    fn new(tracks: usize, waits: &[Wait]) -> Self {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); tracks];
        let mut operations: FxHashMap<*const u32, u32> = FxHashMap::default();
        for wait in waits {
            match &wait.whom[..] {
                [] => {}
                [one] => next[wait.track].push(*one),
                many => {
                    let node =
                        *operations.entry(Arc::as_ptr(&wait.whom).cast()).or_insert_with(|| {
                            next.push(many.to_vec());
                            next.len() as u32 - 1
                        });
                    next[wait.track].push(node);
                }
            }
        }
        let mut before = vec![Vec::new(); next.len()];
        for (node, whom) in next.iter().enumerate() {
            whom.iter().for_each(|other| before[*other as usize].push(node as u32));
        }
        Graph { tracks, next, before }
    }

    fn waiting(&self, track: u32) -> usize {
        let through = |node: &u32| match *node as usize {
            node if node >= self.tracks => self.before[node].len(),
            _ => 1,
        };
        self.before[track as usize].iter().map(through).sum()
    }

    /// Counts the tracks that wait for one of these tracks, directly or indirectly. The tracks
    /// themselves are not counted.
    fn hanging(&self, tracks: &[u32]) -> usize {
        let mut seen: FxHashSet<u32> = tracks.iter().copied().collect();
        let mut open = tracks.to_vec();
        while let Some(node) = open.pop() {
            open.extend(self.before[node as usize].iter().filter(|other| seen.insert(**other)));
        }
        seen.iter().filter(|node| (**node as usize) < self.tracks).count() - tracks.len()
    }

    fn components(&self) -> Vec<u32> {
        // Kosaraju's algorithm: a depth-first search, then a search along reversed edges in the
        // opposite order.
        let mut left = Vec::with_capacity(self.next.len());
        let mut is_seen = vec![false; self.next.len()];
        for first in 0..self.next.len() as u32 {
            if std::mem::replace(&mut is_seen[first as usize], true) {
                continue;
            }
            let mut path = vec![(first, 0)];
            while let Some((node, at)) = path.last_mut() {
                match self.next[*node as usize].get(*at) {
                    Some(other) => {
                        *at += 1;
                        if !std::mem::replace(&mut is_seen[*other as usize], true) {
                            path.push((*other, 0));
                        }
                    }
                    None => {
                        left.push(*node);
                        path.pop();
                    }
                }
            }
        }
        let mut components = vec![u32::MAX; self.next.len()];
        for first in left.into_iter().rev() {
            let mut open = vec![first];
            while let Some(node) = open.pop() {
                if components[node as usize] == u32::MAX {
                    components[node as usize] = first;
                    open.extend(&self.before[node as usize]);
                }
            }
        }
        components
    }

    fn circle(&self, track: u32, components: &[u32]) -> Option<Vec<u32>> {
        let component = components[track as usize];
        let mut from: FxHashMap<u32, u32> = FxHashMap::default();
        let mut open = vec![track];
        while !open.is_empty() {
            let mut further = Vec::new();
            for node in open {
                for other in &self.next[node as usize] {
                    if components[*other as usize] != component || from.contains_key(other) {
                        continue;
                    }
                    from.insert(*other, node);
                    if *other != track {
                        further.push(*other);
                        continue;
                    }
                    let (mut circle, mut at) = (vec![track], node);
                    while at != track {
                        if (at as usize) < self.tracks {
                            circle.push(at);
                        }
                        at = from[&at];
                    }
                    circle[1..].reverse();
                    return Some(circle);
                }
            }
            open = further;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadlock::Evidence;

    fn waits(whom: &[(usize, &Arc<[u32]>)]) -> Vec<Wait> {
        let wait = |(track, whom): &(usize, &Arc<[u32]>)| Wait {
            track: *track,
            state: 0,
            whom: Arc::clone(whom),
            how: Evidence::Unknown,
        };
        whom.iter().map(wait).collect()
    }

    #[test]
    fn all_missing_members_are_followed() {
        // Other tracks wait in a barrier for tracks 3, 7 and 8. Track 3 waits for track 2, track 7
        // waits for track 6, and track 8 does not wait.
        let missing: Arc<[u32]> = [3, 7, 8].into();
        let (two, six): (Arc<[u32]>, Arc<[u32]>) = ([2].into(), [6].into());
        let mut whom: Vec<(usize, &Arc<[u32]>)> =
            [0, 1, 2, 4, 5, 6, 9].map(|track| (track, &missing)).to_vec();
        whom.extend([(3, &two), (7, &six)]);
        let (found, is_more) = hangs(10, &waits(&whom), 100);
        let listed: Vec<_> = found
            .iter()
            .map(|hang| (&hang.tracks[..], hang.is_circle, hang.most, hang.hanging))
            .collect();
        assert_eq!(
            listed,
            [
                (&[8][..], false, (8, 7), 9),
                (&[2, 3][..], true, (3, 7), 7),
                (&[6, 7][..], true, (7, 7), 7),
            ]
        );
        assert!(!is_more);
        let (found, is_more) = hangs(10, &waits(&whom), 1);
        assert_eq!((found.len(), is_more), (2, true));
    }

    #[test]
    fn every_member_of_a_component_is_in_a_cycle() {
        for seed in 0..200 {
            let mut rng = testkit::Rng::new(seed);
            let count = 2 + rng.index(8);
            let lists: Vec<Arc<[u32]>> = (0..count)
                .map(|track| {
                    let others = (0..count as u32).filter(|other| *other as usize != track);
                    others.filter(|_| rng.index(100) < 30).collect()
                })
                .collect();
            let whom: Vec<(usize, &Arc<[u32]>)> = lists.iter().enumerate().collect();
            let (found, _) = hangs(count, &waits(&whom), usize::MAX);
            // By definition, the nodes in cycles are the nodes that reach themselves.
            let mut reach: Vec<Vec<bool>> = lists
                .iter()
                .map(|list| (0..count as u32).map(|at| list.contains(&at)).collect())
                .collect();
            for k in 0..count {
                for i in 0..count {
                    for j in 0..count {
                        reach[i][j] |= reach[i][k] && reach[k][j];
                    }
                }
            }
            for (track, reached) in reach.iter().enumerate() {
                let is_in = |hang: &Hang| hang.is_circle && hang.tracks.contains(&(track as u32));
                assert_eq!(found.iter().any(is_in), reached[track], "seed {seed}: {track}");
            }
            for hang in &found {
                for (at, track) in hang.tracks.iter().enumerate().filter(|_| hang.is_circle) {
                    let next = hang.tracks[(at + 1) % hang.tracks.len()];
                    assert!(lists[*track as usize].contains(&next), "seed {seed}");
                }
                let waits_for =
                    |other: &usize| hang.tracks.iter().any(|at| reach[*other][*at as usize]);
                let others = (0..count).filter(|other| !hang.tracks.contains(&(*other as u32)));
                assert_eq!(others.filter(waits_for).count(), hang.hanging, "seed {seed}");
            }
        }
    }
}

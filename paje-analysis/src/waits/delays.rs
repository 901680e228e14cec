//! Costs of delays: the waiting that each container causes, directly or indirectly.
//!
//! The method is that of Böhme, Geimer, Wolf, Arnold: *Identifying the root causes of wait states
//! in large-scale parallel applications* (2010). Let p wait for q. Both were last synchronised when
//! one of them waited for the other, when their whole group was in a collective, or when the run
//! began. Since then, q spent more time than p in some call paths, without waiting, and q may have
//! waited. The cost of the wait is divided among these times, in proportion. The part due to longer
//! work is q's own cost. The part due to waiting is passed on to the containers that q waited for
//! in that time. There, it is added to q's own waiting and divided in the same way.
//!
//! Waits are processed from the last to the first, so the charge of each wait is complete when it
//! is processed. A charge for a range of q's waits is stored as a factor that applies until the
//! first wait of the range is reached. Therefore, the total time is that of sorting, even for long
//! ranges.

use std::collections::HashMap;

use rayon::prelude::*;

use super::paths::Paths;
use super::{Wait, Waits};
use crate::Seconds;
use crate::classes::Collective;

/// Waiting caused by one container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Track of the container.
    pub whom: u32,
    /// Time that other containers wait for this one.
    pub direct: Seconds,
    /// Waiting in seconds that is caused by longer work of this container, directly or indirectly.
    /// The sum over all containers equals that of `direct`.
    pub delay: f64,
}

impl Waits<'_> {
    /// Returns the costs of the waits in the window, in track order. Leaves out containers that
    /// cause no waiting.
    #[must_use]
    pub fn costs(&self, window: (f64, f64)) -> Vec<Cost> {
        let mut costs: Vec<Cost> = (0..self.by_track.len() as u32)
            .map(|whom| Cost { whom, direct: Seconds::ZERO, delay: 0.0 })
            .collect();
        let charging = Charging::new(self, &Paths::new(self));
        charging.each(
            |wait| wait.seconds_within(window),
            |wait, charge| {
                costs[wait.whom as usize].direct += wait.seconds_within(window);
                costs[wait.whom as usize].delay += charge.own;
            },
        );
        costs.retain(|cost| !cost.direct.is_zero() || cost.delay > 0.0);
        costs
    }

    fn at(&self, track: u32, at: u32) -> &Wait {
        &self.by_track[track as usize][at as usize]
    }

    /// Returns the track and index of each wait, ordered by end. If two waits end at the same time
    /// and the first container waits for the second, the wait of the second comes first.
    fn in_order(&self) -> Vec<(u32, u32)> {
        let mut order: Vec<(u32, u32)> = Vec::new();
        for (track, waits) in (0..).zip(&self.by_track) {
            order.extend((0..waits.len() as u32).map(|at| (track, at)));
        }
        let wait = |&(track, at): &(u32, u32)| &self.by_track[track as usize][at as usize];
        order.sort_by(|a, b| wait(a).until.total_cmp(&wait(b).until));
        let ends = |pair: &(u32, u32)| wait(pair).until;
        for same in order.chunk_by_mut(|a, b| ends(a) == ends(b)).filter(|same| same.len() > 1) {
            self.sort_by_cause(same);
        }
        order
    }

    /// Sorts waits that end at the same time and are in track order. The waits of a track follow
    /// those of the tracks that it waits for. Only wrong clocks cause cycles, which are broken
    /// arbitrarily.
    fn sort_by_cause(&self, same: &mut [(u32, u32)]) {
        let waits = same.to_vec();
        let tracks: Vec<&[(u32, u32)]> = waits.chunk_by(|a, b| a.0 == b.0).collect();
        let mut visited = vec![false; tracks.len()];
        let mut sorted = Vec::with_capacity(waits.len());
        let mut stack: Vec<(usize, bool)> = (0..tracks.len()).rev().map(|i| (i, false)).collect();
        while let Some((i, behind)) = stack.pop() {
            if behind {
                sorted.extend_from_slice(tracks[i]);
            } else if !std::mem::replace(&mut visited[i], true) {
                stack.push((i, true));
                let whom = tracks[i]
                    .iter()
                    .map(|&(track, at)| self.by_track[track as usize][at as usize].whom);
                let next =
                    whom.filter_map(|whom| tracks.binary_search_by_key(&whom, |of| of[0].0).ok());
                stack.extend(next.map(|next| (next, false)));
            }
        }
        same.copy_from_slice(&sorted);
    }

    /// For each wait in order, returns when the two containers were last synchronised.
    fn together(&self, order: &[(u32, u32)]) -> Vec<f64> {
        let begin = self.whole().0;
        let mut groups_of = vec![Vec::new(); self.by_track.len()];
        for (group, members) in self.facts.collectives.groups.iter().enumerate() {
            members.iter().for_each(|track| groups_of[*track as usize].push(group));
        }
        let meetings = self.meetings();
        let wait = |at: usize| self.at(order[at].0, order[at].1);
        let pair = |wait: &Wait| (wait.waiter.min(wait.whom), wait.waiter.max(wait.whom));
        // Visits the waits by start. Before each, records the waits that have ended by then.
        let mut begins: Vec<usize> = (0..order.len()).collect();
        begins.sort_by(|a, b| wait(*a).from.total_cmp(&wait(*b).from));
        let mut ended = 0;
        let mut pairs: HashMap<(u32, u32), f64> = HashMap::new();
        let mut since = vec![begin; order.len()];
        for at in begins {
            let begun = wait(at);
            while ended < order.len() && wait(ended).until <= begun.from {
                pairs.insert(pair(wait(ended)), wait(ended).until);
                ended += 1;
            }
            let last = pairs.get(&pair(begun)).map_or(begin, |time| *time);
            let others = &groups_of[begun.whom as usize];
            let groups = groups_of[begun.waiter as usize].iter();
            let both = groups.filter(|group| others.binary_search(group).is_ok());
            let times = both.filter_map(|group| {
                let times: &Vec<f64> = &meetings[*group];
                times[..times.partition_point(|time| *time <= begun.from)].last().copied()
            });
            since[at] = times.fold(last, f64::max);
        }
        since
    }

    /// For each group, returns the times of the operations that no member leaves before the last
    /// one enters.
    fn meetings(&self) -> Vec<Vec<f64>> {
        let collectives = &self.facts.collectives;
        let mut meetings = vec![Vec::new(); collectives.groups.len()];
        for series in collectives.series.iter().chain(&collectives.begins) {
            if series.is_part || !matches!(series.class, Collective::NxN | Collective::Barrier) {
                continue;
            }
            let members = &series.tracks;
            meetings[series.group].extend((0..series.len()).map(|instance| {
                let enters = members.iter().zip(series.operation(instance));
                let enters = enters.map(|(track, state)| {
                    self.facts.tracks.list()[*track as usize].start[*state as usize]
                });
                enters.fold(f64::NEG_INFINITY, f64::max)
            }));
        }
        meetings.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        meetings
    }
}

/// The order in which waits are charged.
pub(super) struct Charging<'w, 't> {
    waits: &'w Waits<'t>,
    /// Track and index of each wait.
    order: Vec<(u32, u32)>,
    /// When the two containers of each wait were last synchronised.
    since: Vec<f64>,
    /// Additional time of the container that is waited for.
    excess: Vec<f64>,
}

/// Cost of a wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charge {
    /// When the two containers were last synchronised.
    pub(super) since: f64,
    /// Part of the wait's seconds, and of the waiting that it causes, that the other container causes with longer work.
    pub(super) own: f64,
    /// Part of `own` that is due to the wait itself.
    pub(super) direct: f64,
}

impl<'w, 't> Charging<'w, 't> {
    pub(super) fn new(waits: &'w Waits<'t>, paths: &Paths) -> Self {
        let order = waits.in_order();
        let since = waits.together(&order);
        let excess = order.par_iter().zip(&since).map(|(&(track, at), since)| {
            let excess = paths.excess(waits, waits.at(track, at), *since);
            excess.iter().map(|(_, seconds)| seconds).sum()
        });
        let excess = excess.collect();
        Charging { waits, order, since, excess }
    }

    /// Charges these seconds of each wait, from the last one to the first one.
    pub(super) fn each(
        &self,
        seconds: impl Fn(&Wait) -> Seconds,
        mut charged: impl FnMut(&Wait, Charge),
    ) {
        let mut ledger = Ledger::new(self.waits);
        let all = self.order.iter().zip(&self.since).zip(&self.excess);
        for ((&(track, at), &since), excess) in all.rev() {
            let wait = self.waits.at(track, at);
            let seconds = seconds(wait).to_f64();
            let all = seconds + ledger.take(wait, at as usize);
            let own = ledger.pass_on(wait, since, *excess, all);
            let direct = if all > 0.0 { own * (seconds / all) } else { 0.0 };
            charged(wait, Charge { since, own, direct });
        }
    }
}

struct Ledger<'a> {
    waits: &'a [Vec<Wait>],
    /// Prefix sums of the waits of each track, in seconds.
    sums: Vec<Vec<f64>>,
    /// For each track, the number of waits that have not been processed yet.
    left: Vec<usize>,
    /// Charge per second of a track's waits. `ends` has the amounts by which it decreases at each
    /// wait.
    factor: Vec<f64>,
    ends: Vec<Vec<f64>>,
}

impl<'a> Ledger<'a> {
    fn new(waits: &'a Waits<'_>) -> Self {
        let waits = &waits.by_track;
        let sums = |waits: &Vec<Wait>| {
            let mut sum = 0.0;
            let seconds = waits.iter().map(|wait| {
                sum += wait.until - wait.from;
                sum
            });
            std::iter::once(0.0).chain(seconds.collect::<Vec<_>>()).collect()
        };
        Ledger {
            waits,
            sums: waits.iter().map(sums).collect(),
            left: waits.iter().map(Vec::len).collect(),
            factor: vec![0.0; waits.len()],
            ends: waits.iter().map(|waits| vec![0.0; waits.len()]).collect(),
        }
    }

    fn take(&mut self, wait: &Wait, at: usize) -> f64 {
        let track = wait.waiter as usize;
        let charged = self.factor[track] * (wait.until - wait.from);
        self.factor[track] -= self.ends[track][at];
        self.left[track] = at;
        // Discards remainders that are only rounding errors.
        if self.factor[track] < 0.0 || at == 0 {
            self.factor[track] = 0.0;
        }
        charged
    }

    /// Passes a part of a wait's charge on to the waits of the container that is waited for, and which has worked this much
    /// longer since they were synchronised. Returns the rest, which is this container's own cost.
    fn pass_on(&mut self, wait: &Wait, since: f64, excess: f64, charged: f64) -> f64 {
        let whom = wait.whom as usize;
        let (first, left) = (self.places_until(whom, since), self.left[whom]);
        let waited = self.waited(whom, since, left);
        if waited <= 0.0 || first >= left {
            return charged;
        }
        let passed = charged * (waited / (excess + waited));
        let factor = passed / (self.sums[whom][left] - self.sums[whom][first]);
        self.factor[whom] += factor;
        self.ends[whom][first] += factor;
        charged - passed
    }

    fn places_until(&self, track: usize, time: f64) -> usize {
        self.waits[track].partition_point(|wait| wait.until <= time)
    }

    /// Returns how long a track waited after `since`, considering only the first `until` of its
    /// waits.
    fn waited(&self, track: usize, since: f64, until: usize) -> f64 {
        let first = self.places_until(track, since);
        if first >= until {
            return 0.0;
        }
        let before = (since - self.waits[track][first].from).max(0.0);
        self.sums[track][until] - self.sums[track][first] - before
    }
}

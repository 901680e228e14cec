//! Waiting of receiving calls, and the times of transfers that it tells.

use paje_analysis::tracks::{Track, Tracks};

use rustc_hash::FxHashSet;

use super::ends::{MOMENT, Received, groups, groups_mut};
use super::freed::Senders;
use super::usual::Usual;
use super::{Least, value_of};

/// The least time that each receiving call takes by itself, in seconds, by track type and value: that of calls whose
/// messages were there before.
pub(super) fn least(track: &Track, all: &[Received]) -> Least {
    let mut least = Least::default();
    for group in groups(all) {
        let (since, until) = (group[0].since, group[0].end);
        let expected =
            |it: &Received| it.begin() + if it.usual().is_nan() { 0.0 } else { it.usual() };
        if group.iter().all(|it| !it.is_used || expected(it) <= since) {
            let entry = least.entry(value_of(track, &group[0]));
            let time = (until - since).max(0.0);
            entry.and_modify(|least| *least = least.min(time)).or_insert(time);
        }
    }
    least
}

/// Facts that tell what a call waited for.
pub(super) struct Measuring<'m, 't> {
    pub(super) tracks: &'m Tracks<'t>,
    pub(super) senders: &'m Senders,
    pub(super) usual: &'m Usual,
    pub(super) least: &'m Least,
    /// Types and values of operations that receive all their messages at once.
    pub(super) at_once: &'m FxHashSet<(u32, u32)>,
}

impl Measuring<'_, '_> {
    /// Finds out how long the transfers of a track took that it received; returns those that it sent and waited for longest, with
    /// their seconds.
    pub(super) fn of_track(&self, at: usize, all: &mut [Received]) -> Vec<(u32, f64)> {
        let ends = &self.tracks.list()[at].end;
        let (mut by_sender, mut seen, mut place) = (Vec::new(), Vec::new(), 0);
        for group in groups_mut(all) {
            let (state, count) = (group[0].recv, group.len());
            let mut rival = None;
            if (ends[state as usize] - group[0].end).abs() <= MOMENT {
                rival = self.senders.rival(self.tracks, at, state, self.usual);
                seen.push(state);
            }
            let first = place;
            let bound = |behind: usize| self.senders.bound(at, first + behind);
            if self.measure(at, group, bound, rival.map(|rival| rival.expected)) {
                by_sender.extend(rival.map(|rival| (rival.message, rival.seconds)));
            }
            place += count;
        }
        let waited = self.senders.waited.get(at).into_iter().flatten().map(|freed| freed.state);
        let mut others: Vec<u32> = waited.filter(|it| seen.binary_search(it).is_err()).collect();
        others.dedup();
        let others =
            others.iter().filter_map(|it| self.senders.rival(self.tracks, at, *it, self.usual));
        by_sender.extend(others.map(|rival| (rival.message, rival.seconds)));
        by_sender
    }

    /// Finds out what a receiving call waited for, and how long the transfers took, each of which had arrived at its `bound`. True if
    /// it waited for what it sent, expected at `rival`, rather than for what it received.
    fn measure(
        &self,
        at: usize,
        group: &mut [Received],
        bound: impl Fn(usize) -> f64,
        rival: Option<f64>,
    ) -> bool {
        let track = &self.tracks.list()[at];
        let (since, until) = (group[0].since, group[0].end);
        let expected =
            |it: &Received| it.begin() + if it.usual().is_nan() { 0.0 } else { it.usual() };
        // Programs take a moment to go on. A sender that went on long before tells that its message did not end this call.
        let is_last = |(place, it): &(usize, &Received)| {
            until - bound(*place) <= MOMENT.max(0.01 * (until - it.begin()))
        };
        let used = group.iter().enumerate().filter(|(_, it)| it.is_used);
        let last = used.filter(|it| rival.is_none() || is_last(it)).map(|(_, it)| *it);
        let last = last.max_by(|a, b| expected(a).total_cmp(&expected(b)));
        let is_rival =
            rival.is_some_and(|rival| last.is_none_or(|last| rival > expected(&last) + MOMENT));
        let least = self.least.get(&value_of(track, &group[0])).copied().unwrap_or(0.0);
        // An operation that receives all at once goes on as each arrives.
        let is_at_once = self.at_once.contains(&value_of(track, &group[0]));
        let awaited = last.filter(|last| {
            // Sent long before the call, it has arrived long before it returns. Where nothing is usual, that is not known.
            let start = last.begin();
            let was_there = !is_at_once
                && start < since
                && start + last.usual() <= since
                && start + 2.0 * last.usual() < until;
            !is_rival && until - since > least + MOMENT.min(least * 1e-3) && !was_there
        });
        for (place, it) in group.iter_mut().enumerate().filter(|(_, it)| it.is_used) {
            // Of rendezvous, all of the same time arrived then.
            let is_beside = |last: Received| is_at_once && last.is_rendezvous && it.is_rendezvous;
            it.is_awaited =
                awaited.is_some_and(|last| last.message == it.message || is_beside(last));
            // Not a number is no smaller one.
            it.expect(match it.is_awaited {
                true => (until - it.begin()).max(0.0),
                false => (until.min(bound(place)) - it.begin()).max(0.0).min(it.usual()),
            });
        }
        is_rival
    }
}

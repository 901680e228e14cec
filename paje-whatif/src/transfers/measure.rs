//! Measures transfers by the time that receiving calls wait.

use paje_analysis::tracks::{Track, Tracks};

use rustc_hash::FxHashSet;

use super::ends::{Received, TIME_TOLERANCE, groups, groups_mut};
use super::senders::RendezvousSenders;
use super::typical::TypicalTimes;
use super::{Least, value_of};

/// Returns the minimum time of receiving calls without waiting, in seconds, by track type and
/// value. It comes from calls whose messages had already arrived.
pub(super) fn least(track: &Track, all: &[Received]) -> Least {
    let mut least = Least::default();
    for group in groups(all) {
        let (since, until) = (group[0].since, group[0].end);
        let expected =
            |it: &Received| it.begin() + if it.typical().is_nan() { 0.0 } else { it.typical() };
        if group.iter().all(|it| !it.is_used || expected(it) <= since) {
            let entry = least.entry(value_of(track, &group[0]));
            let time = (until - since).max(0.0);
            entry.and_modify(|least| *least = least.min(time)).or_insert(time);
        }
    }
    least
}

pub(super) struct Measuring<'m, 't> {
    pub(super) tracks: &'m Tracks<'t>,
    pub(super) senders: &'m RendezvousSenders,
    pub(super) typical: &'m TypicalTimes,
    pub(super) least: &'m Least,
    pub(super) concurrent: &'m FxHashSet<(u32, u32)>,
}

impl Measuring<'_, '_> {
    /// Measures the transfers that a track received. Also returns the longest transfers that it
    /// sent, with their seconds.
    pub(super) fn of_track(&self, at: usize, all: &mut [Received]) -> Vec<(u32, f64)> {
        let ends = &self.tracks.list()[at].end;
        let (mut by_sender, mut seen, mut place) = (Vec::new(), Vec::new(), 0);
        for group in groups_mut(all) {
            let (state, count) = (group[0].recv, group.len());
            let mut completion = None;
            if (ends[state as usize] - group[0].end).abs() <= TIME_TOLERANCE {
                completion = self.senders.last_completion(self.tracks, at, state, self.typical);
                seen.push(state);
            }
            let first = place;
            let bound = |behind: usize| self.senders.bound(at, first + behind);
            if self.measure(at, group, bound, completion.map(|completion| completion.expected)) {
                by_sender
                    .extend(completion.map(|completion| (completion.message, completion.seconds)));
            }
            place += count;
        }
        let waited = self.senders.waited.get(at).into_iter().flatten().map(|wait| wait.state);
        let mut others: Vec<u32> = waited.filter(|it| seen.binary_search(it).is_err()).collect();
        others.dedup();
        let others = others
            .iter()
            .filter_map(|it| self.senders.last_completion(self.tracks, at, *it, self.typical));
        by_sender.extend(others.map(|completion| (completion.message, completion.seconds)));
        by_sender
    }

    /// Determines for what a receiving call waited, and how long the transfers took. Each transfer
    /// had arrived at its `bound`. Returns whether the call waited for what it sent, expected at
    /// `completion`, and not for what it received.
    fn measure(
        &self,
        at: usize,
        group: &mut [Received],
        bound: impl Fn(usize) -> f64,
        completion: Option<f64>,
    ) -> bool {
        let track = &self.tracks.list()[at];
        let (since, until) = (group[0].since, group[0].end);
        let expected =
            |it: &Received| it.begin() + if it.typical().is_nan() { 0.0 } else { it.typical() };
        // Programs take a moment to continue. A message whose sender continued earlier did not end
        // this call.
        let is_last = |(place, it): &(usize, &Received)| {
            until - bound(*place) <= TIME_TOLERANCE.max(0.01 * (until - it.begin()))
        };
        let used = group.iter().enumerate().filter(|(_, it)| it.is_used);
        let last = used.filter(|it| completion.is_none() || is_last(it)).map(|(_, it)| *it);
        let last = last.max_by(|a, b| expected(a).total_cmp(&expected(b)));
        let is_send_last = completion.is_some_and(|completion| {
            last.is_none_or(|last| completion > expected(&last) + TIME_TOLERANCE)
        });
        let least = self.least.get(&value_of(track, &group[0])).copied().unwrap_or(0.0);
        // An operation that receives concurrently continues as each message arrives.
        let is_concurrent = self.concurrent.contains(&value_of(track, &group[0]));
        let awaited = last.filter(|last| {
            // A message that was sent long before the call arrived before it.
            let start = last.begin();
            let was_there = !is_concurrent
                && start < since
                && start + last.typical() <= since
                && start + 2.0 * last.typical() < until;
            !is_send_last && until - since > least + TIME_TOLERANCE.min(least * 1e-3) && !was_there
        });
        for (place, it) in group.iter_mut().enumerate().filter(|(_, it)| it.is_used) {
            // Rendezvous messages with the same time all arrived then.
            let is_beside =
                |last: Received| is_concurrent && last.is_rendezvous && it.is_rendezvous;
            it.is_awaited =
                awaited.is_some_and(|last| last.message == it.message || is_beside(last));
            // `min` ignores NaN.
            it.expect(match it.is_awaited {
                true => (until - it.begin()).max(0.0),
                false => (until.min(bound(place)) - it.begin()).max(0.0).min(it.typical()),
            });
        }
        is_send_last
    }
}

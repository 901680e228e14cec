//! What messages show about the rules of the network: when they start, when they travel, and which
//! links they use.

use paje_comm::classes::Class;
use paje_comm::{Received, Run, TIME_TOLERANCE, sets};
use rustc_hash::FxHashMap;

use super::{Measured, Sort, sort_of};

/// Transfers by size, in ascending order.
pub(super) type Known = FxHashMap<Sort, Vec<f64>>;

fn has_time(known: &[f64], seconds: f64) -> bool {
    let next = known.partition_point(|time| *time < seconds - TIME_TOLERANCE);
    known.get(next).is_some_and(|time| *time <= seconds + TIME_TOLERANCE)
}

/// Returns the transfers of messages that were sent last while their receivers waited. These
/// transfers are known whatever starts a message.
pub(super) fn known(run: &Run<'_>, sent: &Measured, posted: &Measured) -> Known {
    let mut known = Known::default();
    for it in run.received.iter().flatten().filter(|it| it.is_used && !it.is_rendezvous) {
        let at = it.message as usize;
        if it.start >= it.posted && it.start >= it.since && sent.is_last[at] && posted.is_last[at] {
            known.entry(sort_of(run, it.message)).or_default().push(it.end - it.start);
        }
    }
    known.values_mut().for_each(|all| all.sort_by(f64::total_cmp));
    known
}

/// Counts the waits for messages that were ready long before. They end at once if messages travel
/// while ranks compute. If messages travel only in calls, they take as long as a transfer.
pub(super) fn progress_votes(run: &Run<'_>, known: &Known) -> (u64, u64) {
    let mut votes = (0, 0);
    for (at, list) in run.received.iter().enumerate() {
        for set in sets(list) {
            let was_ready = |it: &Received| {
                let times = known.get(&sort_of(run, it.message));
                let long_ago =
                    |all: &Vec<f64>| it.begin(true) + 3.0 * all[all.len() - 1] <= it.since;
                it.is_used && !it.is_tested && !it.is_rendezvous && times.is_some_and(long_ago)
            };
            let class = set[0].recv().map(|state| run.facts.tracks.class(at, state));
            if class != Some(Class::Wait) || !set.iter().all(was_ready) {
                continue;
            }
            let least = set.iter().filter_map(|it| known.get(&sort_of(run, it.message)));
            let least = least.map(|times| times[0]).fold(f64::INFINITY, f64::min);
            let seconds = set[0].end - set[0].since;
            votes.0 += u64::from(seconds <= TIME_TOLERANCE);
            votes.1 += u64::from(seconds > TIME_TOLERANCE && seconds >= 0.5 * least);
        }
    }
    votes
}

/// Counts the messages that took a known time from when they were sent, and those that took a known
/// time from when they were posted. In a simulation, equal messages take exactly the same time unless
/// they share links.
pub(super) fn exact_votes(run: &Run<'_>, known: &Known) -> (u64, u64) {
    let mut votes = (0, 0);
    for it in run.received.iter().flatten().filter(|it| it.is_used && !it.is_rendezvous) {
        let Some(times) = known.get(&sort_of(run, it.message)) else { continue };
        if it.posted - it.start > 2.0 * TIME_TOLERANCE {
            votes.0 += u64::from(has_time(times, it.end - it.start));
            votes.1 += u64::from(has_time(times, it.end - it.posted));
        }
    }
    votes
}

/// Counts the messages that arrived too early to have started when posted, and the waits that were
/// too long for messages that started when sent.
pub(super) fn votes(run: &Run<'_>, known: &Known, posted: &Measured) -> (u64, u64) {
    let mut votes = (0, 0);
    for it in run.received.iter().flatten().filter(|it| it.is_used && !it.is_rendezvous) {
        let Some(times) = known.get(&sort_of(run, it.message)) else { continue };
        let (least, most) = (times[0], times[times.len() - 1]);
        let (seconds, late) = (it.end - it.posted, it.posted - it.start);
        if late <= TIME_TOLERANCE || least <= 2.0 * TIME_TOLERANCE {
            continue;
        }
        let has_waited = it.end - it.since > TIME_TOLERANCE;
        if seconds < 0.95 * least {
            votes.0 += 1;
        } else if has_waited
            && posted.is_last[it.message as usize]
            && late > 0.1 * least
            && seconds <= 1.05 * most
        {
            // Otherwise, the message would have arrived earlier.
            votes.1 += u64::from(it.end - it.start > 1.05 * most);
        }
    }
    votes
}

/// Returns whether messages within a host take about as long as messages between hosts, so that they use the
/// same links. Otherwise, they are faster. A short upper bound proves that.
pub(super) fn is_local_linked(shortest: &FxHashMap<Sort, f64>) -> Option<bool> {
    let between = |(size, is_local): &Sort| shortest.get(&(*size, false)).filter(|_| *is_local);
    let both = shortest.iter().filter_map(|(sort, local)| Some((*local, *between(sort)?)));
    both.map(|(local, between)| local > 0.5 * between).reduce(|a, b| a && b)
}

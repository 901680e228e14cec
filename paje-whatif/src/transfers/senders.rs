//! Waiting of rendezvous senders. A message has arrived when either its sender or its receiver
//! continues, so both limit the time of arrival. If a call waits for several messages, including
//! sent ones, any of them may have ended it.

use paje_analysis::classes::Class;
use paje_analysis::messages::{Message, Messages};
use paje_analysis::tracks::Tracks;
use rayon::prelude::*;

use super::ends::{Received, TIME_TOLERANCE};
use super::typical::{Samples, TypicalTimes};

/// Maximum number of states after a send that are searched for its wait.
pub(crate) const WAIT_SEARCH_LIMIT: usize = 10_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct SenderWait {
    pub(super) message: u32,
    pub(super) state: u32,
    begin: f64,
    size: u64,
}

/// Waiting senders. It is empty if there are no rendezvous.
#[derive(Debug, Default)]
pub(super) struct RendezvousSenders {
    /// Waits of each track, ordered by state.
    pub(super) waited: Vec<Vec<SenderWait>>,
    /// Latest possible arrival in seconds, by receiving track and message.
    pub(super) bounds: Vec<Vec<f64>>,
}

/// The message that ended the wait of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendCompletion {
    pub(super) message: u32,
    /// Expected arrival in seconds. `seconds` is the duration if nothing else ended the wait.
    pub(super) expected: f64,
    pub(super) seconds: f64,
}

impl RendezvousSenders {
    /// Finds for what senders wait. `received` must still have the sizes of messages.
    pub(super) fn new(
        tracks: &Tracks<'_>,
        messages: &Messages,
        received: &[Vec<Received>],
    ) -> Self {
        let all = || received.par_iter().flatten().filter(|it| it.is_used && it.is_rendezvous);
        if !all().any(|_| true) {
            return RendezvousSenders::default();
        }
        let shortest = |mut least: TypicalTimes, it: &Received| {
            let entry = least.entry(it.size()).or_insert(f64::INFINITY);
            *entry = entry.min(it.end - it.begin());
            least
        };
        let least = all().fold(TypicalTimes::default, shortest).reduce(
            TypicalTimes::default,
            |mut a, b| {
                for (size, seconds) in b {
                    a.entry(size)
                        .and_modify(|least| *least = least.min(seconds))
                        .or_insert(seconds);
                }
                a
            },
        );
        let freed = received.par_iter().map(|all| {
            let freed = all.iter().map(|it| {
                let message = &messages.list()[it.message as usize];
                let least = least.get(&it.size()).filter(|_| it.is_used && it.is_rendezvous)?;
                let state = waiting(tracks, message, it.begin() + least)?;
                let (begin, size) = (it.begin(), it.size());
                Some(SenderWait { message: it.message, state, begin, size })
            });
            freed.collect::<Vec<Option<SenderWait>>>()
        });
        let freed: Vec<Vec<Option<SenderWait>>> = freed.collect();
        let mut waited = vec![Vec::new(); received.len()];
        let sender = |wait: &SenderWait| messages.list()[wait.message as usize].from as usize;
        freed.iter().flatten().flatten().for_each(|it| waited[sender(it)].push(*it));
        waited.par_iter_mut().for_each(|all| all.sort_by_key(|wait| (wait.state, wait.message)));
        let bound = |wait: &Option<SenderWait>| {
            let end = |wait: &SenderWait| tracks.list()[sender(wait)].end[wait.state as usize];
            wait.as_ref().map_or(f64::INFINITY, end)
        };
        let bounds = freed.par_iter().map(|all| all.iter().map(bound).collect()).collect();
        RendezvousSenders { waited, bounds }
    }

    pub(super) fn bound(&self, track: usize, place: usize) -> f64 {
        self.bounds.get(track).map_or(f64::INFINITY, |bounds| bounds[place])
    }

    /// Adds the transfers of rendezvous. They end before either side continues.
    pub(super) fn sample(&self, received: &[Vec<Received>], late: &mut Samples) {
        for (all, bounds) in received.iter().zip(&self.bounds) {
            let used = all.iter().zip(bounds).filter(|(it, _)| it.is_used && it.is_rendezvous);
            for (it, bound) in used {
                let seconds = (it.end.min(*bound) - it.begin()).max(0.0);
                late.entry(it.size()).or_default().push(seconds);
            }
        }
    }

    /// Returns the message that was expected last of those for which a track waited as their sender
    /// in a state. Returns `None` if it did not wait there.
    pub(super) fn last_completion(
        &self,
        tracks: &Tracks<'_>,
        at: usize,
        state: u32,
        typical: &TypicalTimes,
    ) -> Option<SendCompletion> {
        let all = self.waited.get(at)?;
        let from = all.partition_point(|wait| wait.state < state);
        let track = &tracks.list()[at];
        let (start, end) = (track.start[state as usize], track.end[state as usize]);
        if end - start <= TIME_TOLERANCE {
            return None;
        }
        let of_state = all[from..].iter().take_while(|wait| wait.state == state);
        let completions = of_state.filter_map(|wait| {
            let expected = wait.begin + typical.get(&wait.size)?;
            Some(SendCompletion { message: wait.message, expected, seconds: end - wait.begin })
        });
        completions.max_by(|a, b| a.expected.total_cmp(&b.expected))
    }
}

/// Returns the state in which the sender of a rendezvous waits. It ends no earlier than `earliest`.
fn waiting(tracks: &Tracks<'_>, message: &Message, earliest: f64) -> Option<u32> {
    let (from, send) = (message.from as usize, message.send()?);
    let track = &tracks.list()[from];
    let is_until = |state: usize| track.end[state] >= earliest - TIME_TOLERANCE;
    if tracks.class(from, send) == Class::Send && is_until(send) {
        return Some(send as u32);
    }
    if matches!(tracks.class(from, send), Class::Collective(_)) {
        return None;
    }
    let mut later = (send + 1..track.len()).take(WAIT_SEARCH_LIMIT);
    let wait = later.find(|at| tracks.class(from, *at) == Class::Wait && is_until(*at))?;
    Some(wait as u32)
}

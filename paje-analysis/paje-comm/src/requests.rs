//! Finds which calls complete which requests, by their numbers if the trace has them.

use crate::classes::Class;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::acts::{Act, Acts, StateAct};
use crate::facts::Facts;
use crate::received::{Received, TIME_TOLERANCE, has_word, sets, single_waits, values_that};

/// Maximum number of states after a send that are searched for the call that completes the send.
const SEARCH_LIMIT: usize = 10_000;

/// Finds the calls that wait for any of several messages, and the messages that each call could
/// take. A call could take any message that was posted before the first such call and completed in
/// one of the calls.
pub(crate) fn add_sets(
    facts: &Facts<'_>,
    acts: &mut [Acts],
    all: &[Vec<Received>],
) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = Vec::new();
    for (at, track) in facts.tracks.list().iter().enumerate() {
        let any = values_that(&facts.tracks, track, |class, name| {
            class == Class::Wait && has_word(name, &["waitany", "waitsome"])
        });
        if !any.contains(&true) {
            continue;
        }
        let is_any = |state: u32| any[track.value[state as usize].index()];
        let mut begin = f64::NAN;
        for set in sets(&all[at]).filter(|set| set[0].is_used && is_any(set[0].recv)) {
            let is_same = set.iter().all(|it| it.posted <= begin);
            if !is_same {
                begin = track.start[set[0].recv as usize];
                found.push(Vec::new());
            }
            let number = found.len() as u32 - 1;
            let Some(messages) = found.last_mut() else { continue };
            messages.extend(set.iter().filter(|it| it.is_used).map(|it| it.message));
            let act = StateAct::new(set[0].recv, Act::Any(number));
            match set[0].end >= track.end[set[0].recv as usize] {
                true => acts[at].closing.push(act),
                false => acts[at].within.push((set[0].end, act)),
            }
        }
    }
    found
}

/// Adds the waits of senders. A sender waits in the sending call, or in the first later call that
/// waits until after the earliest possible arrival. A call that waits for one message waits for no
/// other. Returns the number of waits in later calls.
pub(crate) fn add_completions(
    facts: &Facts<'_>,
    all: &[Vec<Received>],
    rendezvous: Option<f64>,
    acts: &mut [Acts],
) -> u64 {
    let (tracks, list) = (&facts.tracks, facts.messages.list());
    let size = |it: &Received| list[it.message as usize].bytes().unwrap_or(-1.0).to_bits();
    let becomes = |it: &Received| {
        let bytes = list[it.message as usize].bytes();
        rendezvous.zip(bytes).is_some_and(|(least, bytes)| bytes >= least)
    };
    let mut least: FxHashMap<u64, f64> = FxHashMap::default();
    for it in all.iter().flatten().filter(|it| it.is_used && it.is_rendezvous) {
        let seconds = it.end - it.begin(true);
        least.entry(size(it)).and_modify(|it| *it = it.min(seconds)).or_insert(seconds);
    }
    let begins = |class: Class, name: &[u8]| {
        class.sends() && has_word(name, &["isend", "issend", "ibsend", "irsend"])
    };
    let tracks_begin = tracks.list().iter().map(|track| values_that(tracks, track, begins));
    let tracks_begin: Vec<Vec<bool>> = tracks_begin.collect();
    let mut within = vec![Vec::new(); acts.len()];
    // Sends that a later call completes, with their earliest arrival and the sending state.
    let mut begun: Vec<Vec<(f64, usize, u32)>> = vec![Vec::new(); acts.len()];
    let mut inferred = 0;
    for it in all.iter().flatten().filter(|it| it.is_used && (it.is_rendezvous || becomes(it))) {
        let message = &list[it.message as usize];
        let (from, Some(send)) = (message.from as usize, message.send()) else { continue };
        if let Some(wait) = facts.recorded.completion(it.message as usize) {
            let act = StateAct::new(wait as u32, Act::Complete(it.message));
            acts[from].closing.push(act);
            continue;
        }
        let track = &tracks.list()[from];
        let least = least.get(&size(it)).copied().unwrap_or(0.0);
        let earliest = if it.is_rendezvous { it.begin(true) + least } else { message.start };
        let is_until = |state: usize| track.end[state] >= earliest - TIME_TOLERANCE;
        let is_begun = tracks_begin[from][track.value[send].index()];
        let act = Act::Complete(it.message);
        // A blocking send of a rendezvous waits in its call.
        let is_blocking = it.is_rendezvous
            && !is_begun
            && tracks.class(from, send) == Class::Send
            && track.end[send] >= it.begin(true) - TIME_TOLERANCE;
        if is_blocking || is_until(send) && (!is_begun || track.end[send] > message.start) {
            // The sender waited before it could send the next message in the same call.
            let sends = &acts[from].within;
            let next = sends.partition_point(|(time, _)| *time < earliest - TIME_TOLERANCE);
            let next = sends[next..].iter().take_while(|(time, _)| *time <= track.end[send]);
            let next = next.copied().find(|(time, of)| {
                let is_sent = of.state() == send as u32 && matches!(of.act(), Act::Send(_));
                is_sent && *time > message.start
            });
            match next {
                Some((time, _)) => within[from].push((time, StateAct::new(send as u32, act))),
                None => acts[from].closing.push(StateAct::new(send as u32, act)),
            }
            continue;
        }
        begun[from].push((earliest, send, it.message));
    }
    for (from, mut begun) in begun.into_iter().enumerate() {
        let track = &tracks.list()[from];
        let singles = single_waits(tracks, track);
        let is_single = |state: usize| singles[track.value[state].index()];
        let received = all[from].iter().filter_map(Received::recv);
        let mut taken: FxHashSet<usize> = received.filter(|state| is_single(*state)).collect();
        begun.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (earliest, send, message) in begun {
            let mut later = (send + 1..track.len()).take(SEARCH_LIMIT);
            let wait = later.find(|at| {
                tracks.class(from, *at) == Class::Wait
                    && track.end[*at] >= earliest - TIME_TOLERANCE
                    && !taken.contains(at)
            });
            let Some(wait) = wait else { continue };
            if is_single(wait) {
                taken.insert(wait);
            }
            acts[from].closing.push(StateAct::new(wait as u32, Act::Complete(message)));
            inferred += 1;
        }
    }
    for (acts, within) in acts.iter_mut().zip(within) {
        acts.within.extend(within);
    }
    inferred
}

//! The sequences of all ranks, with the recorded and the inferred facts.

use crate::acts::{Act, Acts, StateAct};
use crate::classes::Class;
use crate::messages::Message;
use crate::tracks::Tracks;
use paje_sim::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::facts::Facts;
use crate::groups::{Groups, group};
use crate::polls::{Poll, add_polls, tests};
use crate::received::{NONE, Received, TIME_TOLERANCE, between, received};
use crate::requests::{add_completions, add_sets};
use crate::steps::Steps;

/// The recorded run.
#[derive(Clone, Debug)]
pub struct Run<'t> {
    /// The facts that the trace records.
    pub facts: Facts<'t>,
    /// Sequence of each rank.
    pub steps: Vec<Steps>,
    /// Received messages of each rank, ordered by the state that completes the message, then by the
    /// message's end. Empty without steps.
    pub received: Vec<Vec<Received>>,
    /// Sets of messages for which a rank waits until any message of the set has arrived. The
    /// messages are in recorded order.
    pub sets: Vec<Vec<u32>>,
    /// Loops in which a rank tests for messages until they have arrived.
    pub polls: Vec<Poll>,
    /// Collectives without links.
    pub groups: Groups,
    /// Facts that were inferred, and links that were left out.
    pub inferred: Inferred,
}

/// Facts that a trace does not record and that were inferred, and links that were left out.
#[derive(Clone, Debug, Default)]
pub struct Inferred {
    /// Number of messages for which the receiver waits.
    pub used: u64,
    /// Number of links between ranks for which nothing waits, because the state at the start or the
    /// end is unknown.
    pub unmatched: u64,
    /// Number of links of a simulation that begin or end between calls, and for which the receiver
    /// waits there.
    pub between: u64,
    /// Number of ignored links of SMPI's `Sendrecv`, which pair the wrong sends and receives.
    pub mispaired: u64,
    /// Number of ignored links that end before they start.
    pub backwards: u64,
    /// Number of receives whose posting call was found by the order of posts and ends.
    pub posts: u64,
    /// Number of sends whose completing call was found by its time.
    pub completions: u64,
    /// Rendezvous threshold in bytes, if known.
    pub eager: Option<u64>,
}

impl<'t> Run<'t> {
    /// Upper limit of the number of states and of the number of messages. Both must be lower.
    pub const MAX: u64 = 1 << StateAct::BITS;

    /// Estimates the memory of the run of a trace in bytes. The memory of the trace is not
    /// included.
    #[must_use]
    pub fn bytes(trace: &Trace) -> u64 {
        // Each message needs an entry, its index in two lists, its receiving side, and three acts.
        const MESSAGE: usize = size_of::<Message>()
            + 2 * size_of::<u32>()
            + size_of::<Received>()
            + 3 * size_of::<StateAct>();
        let counts = trace.counts();
        let state = Tracks::STATE + 2 * Steps::STEP;
        counts.states * state as u64 + counts.links * MESSAGE as u64
    }

    /// Finds the sequences of all ranks. Sends of at least `rendezvous` bytes may wait for their
    /// receiver in a changed run.
    #[must_use]
    pub fn new(facts: Facts<'t>, rendezvous: Option<f64>) -> Self {
        Run::read(facts, true).with_steps(rendezvous)
    }

    /// Finds which messages are used, and which collectives have links. The run has no steps and no
    /// groups, which only a changed run needs.
    #[must_use]
    pub fn without_steps(facts: Facts<'t>) -> Self {
        Run::read(facts, false)
    }

    fn read(facts: Facts<'t>, has_steps: bool) -> Self {
        let count = facts.tracks.list().len();
        let simulated = facts.is_simulated().then_some(65_536);
        let eager = facts.eager.or(simulated);
        let list = facts.messages.list();
        let find = |at| {
            let (mut all, inferred) = receiving(&facts, eager, at, has_steps);
            // Collective states in which messages end, and those in which they start.
            let used = all.iter().filter(|it| it.is_used);
            let ends = used.clone().map(|it| (at as u32, it.recv));
            let mut linked: Vec<(u32, u32)> = ends.filter(|end| is_group(&facts, *end)).collect();
            linked.dedup();
            let starts = used.map(|it| &list[it.message as usize]);
            let starts = starts.filter_map(|it| Some((it.from, it.send()? as u32)));
            linked.extend(starts.filter(|start| is_group(&facts, *start)));
            if !has_steps {
                all = Vec::new();
            }
            (all, inferred, linked)
        };
        let found: Vec<_> = (0..count).into_par_iter().map(find).collect();
        let mut inferred = Inferred { eager, ..Inferred::default() };
        let (mut received, mut linked) = (Vec::with_capacity(count), vec![Vec::new(); count]);
        for (all, counted, ends) in found {
            inferred.unmatched += counted.unmatched;
            inferred.between += counted.between;
            inferred.mispaired += counted.mispaired;
            inferred.backwards += counted.backwards;
            inferred.posts += counted.posts;
            inferred.used += counted.used;
            received.push(all);
            ends.into_iter().for_each(|(track, state)| linked[track as usize].push(state));
        }
        // A stable sort is fast on sorted parts.
        linked.par_iter_mut().for_each(|states| states.sort());
        let is_linked =
            |track: u32, state: u32| linked[track as usize].binary_search(&state).is_ok();
        let groups = group(&facts, &is_linked, has_steps);
        let (steps, sets, polls) = Default::default();
        Run { steps, received, sets, polls, groups, inferred, facts }
    }

    fn with_steps(self, rendezvous: Option<f64>) -> Self {
        let Run { facts, received: mut all, groups, mut inferred, .. } = self;
        let mut is_used = vec![true; facts.messages.list().len()];
        let unused = all.iter().flatten().filter(|it| !it.is_used);
        unused.for_each(|it| is_used[it.message as usize] = false);
        in_collectives(&facts, &mut all);
        let acts = all.par_iter().enumerate().map(|(at, all)| acts_of(&facts, &is_used, at, all));
        let mut acts: Vec<Acts> = acts.collect();
        let sets = add_sets(&facts, &mut acts, &all);
        let polls = add_polls(&facts, &mut acts, &mut all);
        groups.add(&mut acts);
        acts.par_iter_mut().for_each(Acts::sort);
        if rendezvous.is_some() || all.iter().flatten().any(|it| it.is_rendezvous) {
            inferred.completions = add_completions(&facts, &all, rendezvous, &mut acts);
            acts.par_iter_mut().for_each(Acts::sort);
        }
        let steps = acts.into_par_iter().zip(facts.tracks.list());
        let steps = steps.map(|(acts, track)| Steps::new(track, &acts));
        Run { steps: steps.collect(), received: all, sets, polls, groups, inferred, facts }
    }

    /// Returns the name of a rank's container.
    #[must_use]
    pub fn name(&self, rank: u32) -> String {
        let tracks = &self.facts.tracks;
        let container = tracks.list()[rank as usize].container;
        tracks.trace().containers().name(container).to_string()
    }
}

/// Finds how a rank received its messages, and which messages are used. If there are steps, also finds
/// which messages are a rendezvous.
fn receiving(
    facts: &Facts<'_>,
    eager: Option<u64>,
    at: usize,
    has_steps: bool,
) -> (Vec<Received>, Inferred) {
    let (tracks, messages) = (&facts.tracks, &facts.messages);
    let mut all = received(facts, at);
    let mut inferred = Inferred::default();
    let is_simulated = facts.is_simulated();
    // SMPI's link keys pair the wrong ends for Sendrecv.
    let is_both = |track: u32, state: Option<usize>| {
        let class = state.map(|state| tracks.class(track as usize, state));
        is_simulated && messages.combined == 0 && class == Some(Class::SendRecv)
    };
    for it in &mut all {
        let message = &messages.list()[it.message as usize];
        let (send, recv) = (message.send(), Some(it.recv).filter(|recv| *recv != NONE));
        let is_large = || message.bytes().zip(eager).is_some_and(|(b, eager)| b >= eager as f64);
        it.is_rendezvous = has_steps
            && (facts.is_rendezvous(message)
                || is_large()
                || send.is_some_and(|send| is_blocked(facts, message, send)));
        let is_wrong =
            is_both(message.from, send) || is_both(message.to, recv.map(|recv| recv as usize));
        // SMPI does not record the calls that create communicators.
        let is_between =
            |track: u32, time| is_simulated && between(tracks, track as usize, time).is_some();
        let is_sent = send.is_some() || is_between(message.from, message.start);
        let is_received = recv.is_some() || is_between(message.to, message.end);
        let is_known = is_sent && is_received && message.from != message.to && !is_wrong;
        inferred.between += u64::from(is_known && (send.is_none() || recv.is_none()));
        let is_backwards = is_known && message.end < message.start;
        inferred.mispaired += u64::from(is_wrong);
        inferred.backwards += u64::from(is_backwards);
        inferred.unmatched += u64::from(!is_known && !is_wrong && message.from != message.to);
        let is_recorded = facts.recorded.post(it.message as usize).is_some();
        inferred.posts += u64::from(is_known && it.post != it.recv && !is_recorded);
        it.is_used = is_known && !is_backwards;
        inferred.used += u64::from(it.is_used);
    }
    (all, inferred)
}

/// Returns whether the sender left the call at the same time as the receiver, but not earlier.
fn is_blocked(facts: &Facts<'_>, message: &Message, send: usize) -> bool {
    let track = &facts.tracks.list()[message.from as usize];
    facts.tracks.class(message.from as usize, send) == Class::Send
        && track.end[send] > message.start
        && (track.end[send] - message.end).abs() <= TIME_TOLERANCE
}

/// Decides for each collective with links when a rank becomes ready to receive. It is ready either
/// for all messages when it enters, or for each message when it has received the previous one. The
/// assumption that better explains when the messages end is chosen. The second assumption is
/// rejected if more than 5 % of the messages would be clearly faster than the fastest message of
/// their size.
fn in_collectives(facts: &Facts<'_>, all: &mut [Vec<Received>]) {
    let tracks = &facts.tracks;
    let is_behind = |at: usize, it: &Received| {
        it.is_used && it.since > it.posted && is_group(facts, (at as u32, it.recv))
    };
    let is_any = |(at, list): (usize, &Vec<Received>)| list.iter().any(|it| is_behind(at, it));
    if !all.par_iter().enumerate().any(is_any) {
        return;
    }
    let size = |it: &Received| {
        facts.messages.list()[it.message as usize].bytes().unwrap_or(-1.0).to_bits()
    };
    let mut fastest: FxHashMap<u64, f64> = FxHashMap::default();
    for it in all.iter().flatten().filter(|it| it.is_used && it.end > it.since) {
        let seconds = (it.end - it.begin(true)).max(0.0);
        fastest.entry(size(it)).and_modify(|it| *it = it.min(seconds)).or_insert(seconds);
    }
    let value = |at: usize, it: &Received| {
        let track = &tracks.list()[at];
        (track.type_, track.value[it.recv as usize])
    };
    // Sums of errors if the rank was ready for all messages at once, and if it was ready for one
    // after the other. Then the number of messages, and the number of messages that are too fast
    // for the second case.
    let mut errors: FxHashMap<_, (f64, f64, u64, u64)> = FxHashMap::default();
    for (at, list) in all.iter().enumerate() {
        for it in list.iter().filter(|it| is_behind(at, it)) {
            let Some(fastest) = fastest.get(&size(it)) else { continue };
            let off = |posted: f64| (it.end - it.start.max(posted) - fastest).abs();
            let errors = errors.entry(value(at, it)).or_default();
            errors.0 += off(it.posted);
            errors.1 += off(it.since);
            errors.2 += 1;
            errors.3 += u64::from(it.end - it.since < 0.95 * fastest);
        }
    }
    let is_sequential = |(together, after, count, fast): &(f64, f64, u64, u64)| {
        after < together && fast * 20 <= *count
    };
    for (at, list) in all.iter_mut().enumerate() {
        for it in list.iter_mut().filter(|it| is_behind(at, it)) {
            if errors.get(&value(at, it)).is_some_and(is_sequential) {
                it.posted = it.since;
            }
        }
    }
}

/// Returns whether a state of a track is a collective.
fn is_group(facts: &Facts<'_>, (at, state): (u32, u32)) -> bool {
    let class = || facts.tracks.class(at as usize, state as usize);
    state != NONE && matches!(class(), Class::Collective(_))
}

fn acts_of(facts: &Facts<'_>, is_used: &[bool], at: usize, all: &[Received]) -> Acts {
    let (track, list) = (&facts.tracks.list()[at], facts.messages.list());
    let mut acts = Acts::default();
    let is_test = tests(&facts.tracks, at);
    acts.opening.reserve_exact(facts.messages.sent(at).len() + all.len());
    acts.closing.reserve_exact(all.len());
    for number in facts.messages.sent(at) {
        if !is_used[*number as usize] {
            continue;
        }
        let (start, act) = (list[*number as usize].start, Act::Send(*number));
        match list[*number as usize].send() {
            Some(send) => {
                acts.begin(start, track.start[send], StateAct::new(send as u32, act));
            }
            None => {
                let next = between(&facts.tracks, at, start).map(|(next, _)| next);
                acts.within.extend(next.map(|next| (start, StateAct::between(next, act))));
            }
        }
    }
    for it in all.iter().filter(|it| it.is_used) {
        if it.recv == NONE {
            let Some((next, _)) = between(&facts.tracks, at, it.end) else { continue };
            acts.within.push((it.posted, StateAct::between(next, Act::Post(it.message))));
            acts.within.push((it.end, StateAct::between(next, Act::Receive(it.message))));
            continue;
        }
        let of = StateAct::new(it.recv, Act::Receive(it.message));
        // In a collective, a send at the end comes after a receive at the same time.
        let is_last =
            it.end >= track.end[it.recv as usize] && !is_group(facts, (at as u32, it.recv));
        if is_last || is_test[track.value[it.recv as usize].index()] {
            acts.closing.push(of);
        } else {
            acts.within.push((it.end, of));
        }
        let of = StateAct::new(it.post, Act::Post(it.message));
        acts.begin(it.posted, track.start[it.post as usize], of);
    }
    acts
}

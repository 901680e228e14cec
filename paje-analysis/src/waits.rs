//! Wait states in message passing.
//!
//! | kind | waiting process | duration |
//! |---|---|---|
//! | late sender | a receiver that entered at r, for a message that starts at s > r | min(s, exit) − r |
//! | late receiver | the sender of a rendezvous that entered at s, for a receiver that enters at r > s | min(r, exit) − s |
//! | wait at NxN, barrier | each | latest enter − enter |
//! | late broadcast | each but the root | root's enter − enter |
//! | early reduce | the root | latest enter of the others − enter |
//! | scan | each | latest enter of the members before it − enter |
//!
//! A state has at most one wait of each kind. If it receives several messages, the wait is for the
//! message that starts last. A wait is never longer than its state.

pub mod delays;
mod notes;
pub mod paths;
pub mod portions;
mod report;
pub mod rest;
pub mod tables;

use std::sync::OnceLock;

pub use paje_comm::Options;
use paje_comm::classes::{Class, Collective, Map};
use paje_comm::collectives::Series;
use paje_comm::messages::Message;
use paje_comm::tracks::Tracks;
use paje_comm::{Facts, Seconds};
use paje_sim::Trace;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// All waits of a trace, and the states, messages and collectives from which they are derived.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Waits<'t> {
    pub facts: Facts<'t>,
    by_track: Vec<Vec<Wait>>,
    combined: OnceLock<(usize, usize)>,
}

/// Kind of a wait, by its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The module's table explains them.
pub enum Kind {
    LateSender,
    LateReceiver,
    NxN,
    Barrier,
    LateBroadcast,
    EarlyReduce,
    Scan,
}

/// One wait.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Wait {
    pub kind: Kind,
    /// Track that waits.
    pub waiter: u32,
    /// State that waits.
    pub state: u32,
    /// Start in seconds.
    pub from: f64,
    /// End in seconds, after `from`.
    pub until: f64,
    /// Track that is waited for.
    pub whom: u32,
    /// State of that track that ends the wait, if known.
    pub release: Option<u32>,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 7] = [
        Kind::LateSender,
        Kind::LateReceiver,
        Kind::NxN,
        Kind::Barrier,
        Kind::LateBroadcast,
        Kind::EarlyReduce,
        Kind::Scan,
    ];

    /// Returns the name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::LateSender => "late sender",
            Kind::LateReceiver => "late receiver",
            Kind::NxN => "wait at all-to-all",
            Kind::Barrier => "wait at barrier",
            Kind::LateBroadcast => "late broadcast",
            Kind::EarlyReduce => "early reduce",
            Kind::Scan => "late scan",
        }
    }
}

impl Wait {
    /// Returns the length of the wait.
    #[must_use]
    pub fn seconds(&self) -> Seconds {
        Seconds::between(self.from, self.until)
    }

    /// Returns the length of the wait within a window.
    pub(crate) fn seconds_within(&self, window: (f64, f64)) -> Seconds {
        let (from, until) = (self.from.max(window.0), self.until.min(window.1));
        if from < until { Seconds::between(from, until) } else { Seconds::ZERO }
    }
}

impl<'t> Waits<'t> {
    /// Estimates the memory for finding the waits of a trace in bytes. The trace itself is not
    /// included.
    #[must_use]
    pub fn bytes(trace: &Trace) -> u64 {
        let counts = trace.counts();
        Waits::bytes_of(counts.states, counts.links)
    }

    fn bytes_of(states: u64, links: u64) -> u64 {
        // Memory for a message: the message itself, its index in two lists, and its state and time
        // during the search.
        const MESSAGE: usize = size_of::<Message>() + 4 * size_of::<u32>() + size_of::<f64>();
        states * Tracks::STATE as u64 + links * (MESSAGE + size_of::<Wait>()) as u64
    }

    /// Finds all waits of a trace.
    #[must_use]
    pub fn new(trace: &'t Trace, map: &Map, options: &Options) -> Self {
        Waits::of(Facts::new(trace, map, options).on_one_clock())
    }

    /// Finds all waits in these states, messages and collectives.
    #[must_use]
    pub fn of(facts: Facts<'t>) -> Self {
        let (tracks, series) = (&facts.tracks, &facts.collectives.series);
        let awaited: Vec<Vec<u32>> = series.par_iter().map(|it| awaited(tracks, it)).collect();
        let mut seats: Vec<Vec<(usize, usize)>> = vec![Vec::new(); tracks.list().len()];
        for (at, series) in series.iter().enumerate() {
            let members = series.tracks.iter().enumerate();
            members.for_each(|(member, track)| seats[*track as usize].push((at, member)));
        }
        let of_track = |(track, seats): (usize, &Vec<(usize, usize)>)| {
            let mut waits = of_messages(&facts, track);
            for (at, member) in seats {
                of_series(tracks, &series[*at], &awaited[*at], *member, &mut waits);
            }
            let order = |wait: &Wait| (wait.state, wait.kind);
            waits.sort_by(|a, b| a.until.total_cmp(&b.until).then(order(a).cmp(&order(b))));
            waits.shrink_to_fit();
            waits
        };
        let by_track = seats.par_iter().enumerate().map(of_track).collect();
        Waits { facts, by_track, combined: OnceLock::new() }
    }

    /// Whether the trace has a message or a collective between containers. Without one, no waits
    /// are known, and no path leads from one container to another.
    #[must_use]
    pub fn has_dependences(&self) -> bool {
        let collectives = &self.facts.collectives;
        let between = |message: &Message| message.from != message.to;
        self.facts.messages.list().iter().any(between)
            || collectives.series.iter().any(|it| it.tracks.len() > 1)
    }

    /// Counts the states that both send and receive a message, and the messages that end in these
    /// states.
    pub(crate) fn combined(&self) -> (usize, usize) {
        *self.combined.get_or_init(|| self.count_combined())
    }

    fn count_combined(&self) -> (usize, usize) {
        let Facts { tracks, messages, .. } = &self.facts;
        let classes = tracks.classes();
        if classes.chosen().all(|type_| !classes.of_type(type_).contains(&Class::SendRecv)) {
            return (0, 0);
        }
        let is = |track: usize, state: usize| tracks.class(track, state) == Class::SendRecv;
        let states = tracks.list().iter().enumerate();
        let states = states.map(|(at, track)| (0..track.len()).filter(|it| is(at, *it)).count());
        let list = messages.list().iter();
        let received =
            list.filter(|message| message.recv().is_some_and(|it| is(message.to as usize, it)));
        (states.sum(), received.count())
    }

    /// Returns whether most states that send and receive have no message. SMPI does not record the
    /// messages of Sendrecv.
    pub(crate) fn lacks_messages(&self) -> bool {
        let (states, received) = self.combined();
        states > 2 * received
    }

    /// Returns the waits of a track, in the order of their ends.
    #[must_use]
    pub fn of_track(&self, track: usize) -> &[Wait] {
        &self.by_track[track]
    }

    /// Iterates over all waits, track by track.
    pub fn iter(&self) -> impl Iterator<Item = &Wait> {
        self.by_track.iter().flatten()
    }
}

fn of_messages(facts: &Facts<'_>, at: usize) -> Vec<Wait> {
    let (tracks, messages) = (&facts.tracks, &facts.messages);
    let track = &tracks.list()[at];
    let mut waits = Vec::new();
    // The latest start of the messages that each state receives, if the trace records calls.
    let mut latest: FxHashMap<usize, f64> = FxHashMap::default();
    let mut add = |kind, state: usize, late: f64, whom, release: Option<usize>| {
        let (from, until) = (track.start[state], late.min(track.end[state]));
        if from < until {
            let release = release.map(|state| state as u32);
            let (waiter, state) = (at as u32, state as u32);
            waits.push((late, Wait { kind, waiter, state, from, until, whom, release }));
        }
    };
    let p2p =
        |track: usize, state: usize| !matches!(tracks.class(track, state), Class::Collective(_));
    for number in messages.received(at) {
        let message = &messages.list()[*number as usize];
        let Some(state) = message.recv().filter(|state| p2p(at, *state)) else { continue };
        add(Kind::LateSender, state, message.start, message.from, message.send());
        if !facts.recorded.is_empty() {
            let latest = latest.entry(state).or_insert(message.start);
            *latest = latest.max(message.start);
        }
    }
    // The messages of a sender are scattered in memory.
    let may_wait = facts.has_rendezvous() || !facts.recorded.is_empty();
    for number in messages.sent(at).iter().filter(|_| may_wait) {
        let message = &messages.list()[*number as usize];
        let (Some(send), Some(recv)) = (message.send(), message.recv()) else { continue };
        // A nonblocking send waits in the call that completes it.
        let state = facts.recorded.completion(*number as usize).unwrap_or(send);
        let post = facts.recorded.post(*number as usize).unwrap_or(recv);
        let enter = tracks.list()[message.to as usize].start[post];
        // If the trace records calls, but not how a message was sent, a call that lasts until its
        // receiver enters has waited for it, unless it waited for something that came later.
        let has_waited = || {
            let is_later = |late: &f64| *late >= enter;
            !facts.recorded.is_empty()
                && tracks.class(at, send) == Class::Send
                && track.end[state] > enter
                && !latest.get(&state).is_some_and(is_later)
        };
        if p2p(at, send) && (facts.is_rendezvous(message) || has_waited()) {
            add(Kind::LateReceiver, state, enter, message.to, Some(post));
        }
    }
    // For each state and kind, the wait for the latest message is kept. If several messages are
    // equally late, the first wait is kept, because it may have ended the state.
    waits.sort_by(|(late_a, a), (late_b, b)| {
        (a.state, a.kind).cmp(&(b.state, b.kind)).then(late_b.total_cmp(late_a))
    });
    waits.dedup_by_key(|(_, wait)| (wait.state, wait.kind));
    waits.into_iter().map(|(_, wait)| wait).collect()
}

/// Returns for each state of a series the member that it waits for, or [`NONE`].
fn awaited(tracks: &Tracks<'_>, series: &Series) -> Vec<u32> {
    let members = series.tracks.len();
    let mut awaited = vec![NONE; series.len() * members];
    for instance in 0..series.len() {
        let states = series.operation(instance);
        let whom = &mut awaited[instance * members..][..members];
        let enter = |member: u32| {
            let track = series.tracks[member as usize];
            tracks.list()[track as usize].start[states[member as usize] as usize]
        };
        // Keeps the member that entered last. If several entered at that time, keeps the first of
        // them.
        let later = |best: u32, member: u32| {
            if best != NONE && enter(best) >= enter(member) { best } else { member }
        };
        let all = 0..members as u32;
        match (series.class, series.root_of(instance)) {
            (Collective::NxN | Collective::Barrier, _) => whom.fill(all.fold(NONE, later)),
            (Collective::OneToN, root) => whom.fill(root.map_or(NONE, |root| root as u32)),
            (Collective::NToOne, Some(root)) => {
                let others = all.filter(|member| *member != root as u32);
                whom[root] = others.fold(NONE, later);
            }
            (Collective::NToOne, None) => {}
            (Collective::Scan, _) => {
                let mut last = NONE;
                for (whom, member) in whom.iter_mut().zip(all) {
                    *whom = last;
                    last = later(last, member);
                }
            }
        }
    }
    awaited
}

/// Adds the waits of a member of a series.
fn of_series(
    tracks: &Tracks<'_>,
    series: &Series,
    awaited: &[u32],
    member: usize,
    waits: &mut Vec<Wait>,
) {
    let kind = match series.class {
        Collective::NxN => Kind::NxN,
        Collective::Barrier => Kind::Barrier,
        Collective::OneToN => Kind::LateBroadcast,
        Collective::NToOne => Kind::EarlyReduce,
        Collective::Scan => Kind::Scan,
    };
    let waiter = series.tracks[member];
    let track = &tracks.list()[waiter as usize];
    for (instance, awaited) in awaited.chunks_exact(series.tracks.len()).enumerate() {
        let (states, other) = (series.operation(instance), awaited[member]);
        if other == NONE {
            continue;
        }
        let (whom, release) = (series.tracks[other as usize], states[other as usize]);
        let late = tracks.list()[whom as usize].start[release as usize];
        let state = states[member];
        let (from, until) = (track.start[state as usize], late.min(track.end[state as usize]));
        if from < until {
            let release = Some(release);
            waits.push(Wait { kind, waiter, state, from, until, whom, release });
        }
    }
}

//! Transfers: how long messages take in the network. This is derived from when they were sent and
//! received.
//!
//! Traces do not record when messages arrive. If a receiver waits for a message, the message
//! arrives when the receiving call returns. The network then took the time since the message was
//! sent, or since both sides were ready. Other messages are assumed to take the median time of
//! their size.

mod ends;
mod measure;
mod senders;
mod typical;

use paje_analysis::classes::Class;
use paje_analysis::messages::{Message, Messages};
use paje_analysis::tracks::{Track, Tracks};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::settings::{EagerStart, Settings};
use ends::{NONE, groups};
pub(crate) use ends::{Received, TIME_TOLERANCE, received};
use measure::{Measuring, least};
use senders::RendezvousSenders;
pub(crate) use senders::WAIT_SEARCH_LIMIT;
use typical::{Samples, TypicalTimes, concurrent, fastest, typical};

/// Data about the transfer of a message that re-timing needs.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Start in seconds: when the message was sent, or when both sides were ready. NaN if nothing
    /// waits for the message because one of its states is unknown.
    pub start: f64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Seconds from the arrival until the receiver continues.
    pub(crate) slack: f64,
    /// Seconds from sending until the receiver was ready. This is negative if the receiver was
    /// ready before, and NaN if the transfer does not wait for the receiver.
    pub(crate) lag: f64,
    pub(crate) to: u32,
    /// Whether the receiver is known to have waited for this message.
    pub is_awaited: bool,
    /// Whether sender and receiver both wait until the message has arrived.
    pub is_rendezvous: bool,
}

impl Transfer {
    /// Returns the arrival in seconds.
    #[must_use]
    pub fn arrival(&self) -> f64 {
        self.start + self.seconds
    }

    /// Returns whether anything waits for the message.
    #[must_use]
    pub fn is_used(&self) -> bool {
        !self.start.is_nan()
    }
}

/// Assumptions about messages.
#[derive(Clone, Debug, Default)]
pub struct Assumptions {
    /// Start of eager transfers.
    pub start: EagerStart,
    /// Number of messages that indicate that eager transfers start when sent, and number of those
    /// that indicate that they start when posted. `None` if the user decided it.
    pub votes: Option<(u64, u64)>,
    /// Rendezvous threshold in bytes, if known.
    pub eager: Option<u64>,
    /// Number of messages whose transfers are measured, because the receiver waited for them.
    pub measured: u64,
    /// Number of messages whose transfer time is estimated as the median of their size.
    pub estimated: u64,
    /// Number of links for which nothing waits, because a state at one of their ends is unknown.
    pub unmatched: u64,
    /// Number of ignored links of SMPI's `Sendrecv`. Their ends are paired wrongly.
    pub mispaired: u64,
    /// Number of ignored links that end before they start.
    pub backwards: u64,
}

/// Minimum cost of calls in seconds, by track type and value.
pub(crate) type Least = FxHashMap<(u32, u32), f64>;

pub(crate) struct Transfers {
    pub(crate) list: Vec<Transfer>,
    pub(crate) assumed: Assumptions,
    pub(crate) least: Least,
    pub(crate) received: Vec<Vec<Received>>,
}

/// Estimates the transfers of all messages. Tracks are independent except for the typical times.
pub(crate) fn transfers(
    tracks: &Tracks<'_>,
    messages: &Messages,
    settings: &Settings,
) -> Transfers {
    let is_simulated = tracks.trace().comments().windows(7).any(|word| word == b"SimGrid");
    let eager = settings.eager.or(settings.map.eager()).or(is_simulated.then_some(65_536));
    let known = Context { tracks, messages, settings, is_simulated, eager };
    let found: Vec<_> =
        (0..tracks.list().len()).into_par_iter().map(|at| known.of_track(at)).collect();
    let mut assumed = Assumptions { eager, ..Assumptions::default() };
    let (mut received, mut late, mut other) = (Vec::new(), Samples::default(), Samples::default());
    for of_track in found {
        assumed.mispaired += of_track.wrong;
        assumed.backwards += of_track.backwards;
        assumed.unmatched += of_track.loose;
        for (all, some) in [(&mut late, of_track.late), (&mut other, of_track.other)] {
            some.into_iter().for_each(|(size, more)| all.entry(size).or_default().extend(more));
        }
        received.push(of_track.received);
    }
    let senders = RendezvousSenders::new(tracks, messages, &received);
    senders.sample(&received, &mut late);
    let fastest = fastest(&mut late);
    let concurrent = concurrent(&known, &received, &fastest);
    let typical = typical(late, other);
    let votes = received.par_iter_mut().enumerate().map(|(at, all)| {
        known.expect(at, all, &typical, &concurrent);
        known.votes(at, all, &fastest)
    });
    let votes = votes.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    (assumed.start, assumed.votes) = match settings.eager_start {
        Some(start) => (start, None),
        None if votes.0 > votes.1 => (EagerStart::Sent, Some(votes)),
        None if votes.1 > 0 || is_simulated => (EagerStart::Posted, Some(votes)),
        None => (EagerStart::Sent, Some(votes)),
    };
    let start = assumed.start;
    let least = received.par_iter_mut().enumerate().map(|(at, all)| {
        for it in all.iter_mut() {
            // The receiver is ready before the message has arrived.
            let waits_for_post = it.is_rendezvous || start == EagerStart::Posted;
            let waits_for_post = it.is_used && waits_for_post;
            it.posted = if waits_for_post { it.posted.min(it.end) } else { f64::NAN };
        }
        if start == EagerStart::Posted { Least::default() } else { least(&tracks.list()[at], all) }
    });
    let least = least.reduce(Least::default, |mut a, b| {
        for (value, time) in b {
            a.entry(value).and_modify(|least| *least = least.min(time)).or_insert(time);
        }
        a
    });
    let (senders, typical, concurrent) = (&senders, &typical, &concurrent);
    let measuring = Measuring { tracks, senders, typical, least: &least, concurrent };
    let all = received.par_iter_mut().enumerate();
    let by_sender = all.map(|(at, all)| measuring.of_track(at, all));
    let by_sender: Vec<Vec<(u32, f64)>> = by_sender.collect();
    let unused = |message: &Message| Transfer {
        start: f64::NAN,
        seconds: 0.0,
        slack: 0.0,
        lag: f64::NAN,
        to: message.to,
        is_awaited: false,
        is_rendezvous: false,
    };
    let mut list: Vec<Transfer> = messages.list().par_iter().map(unused).collect();
    let write = |it: &Received, transfer: &mut Transfer| {
        transfer.is_rendezvous = it.is_rendezvous;
        if it.is_used {
            transfer.start = it.begin();
            (transfer.lag, transfer.seconds) = (it.posted - it.start, it.seconds());
            // If a message is awaited, its slack is only due to rounding.
            let slack = it.end - transfer.arrival();
            transfer.slack = if it.is_awaited { 0.0 } else { slack.max(0.0) };
            transfer.is_awaited = it.is_awaited;
        }
    };
    // The messages of a receiving track are adjacent, so tracks can be written in parallel.
    let (mut places, mut rest, mut from) = (Vec::new(), &mut list[..], 0);
    for all in &received {
        let (of_track, behind) = std::mem::take(&mut rest).split_at_mut(all.len());
        places.push((from, of_track));
        (rest, from) = (behind, from + all.len() as u32);
    }
    let counts = places.into_par_iter().zip(&received).map(|((from, transfers), all)| {
        all.iter().for_each(|it| write(it, &mut transfers[(it.message - from) as usize]));
        let used = all.iter().filter(|it| it.is_used);
        (used.clone().filter(|it| it.is_awaited).count() as u64, used.count() as u64)
    });
    let (measured, used) = counts.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    (assumed.measured, assumed.estimated) = (measured, used - measured);
    for (message, seconds) in by_sender.into_iter().flatten() {
        let transfer = &mut list[message as usize];
        if transfer.is_used() && !transfer.is_awaited {
            transfer.seconds = seconds;
            transfer.slack = (messages.list()[message as usize].end - transfer.arrival()).max(0.0);
            (assumed.measured, assumed.estimated) = (assumed.measured + 1, assumed.estimated - 1);
        }
    }
    Transfers { list, assumed, least, received }
}

struct Context<'k, 't> {
    tracks: &'k Tracks<'t>,
    messages: &'k Messages,
    settings: &'k Settings,
    is_simulated: bool,
    eager: Option<u64>,
}

struct OfTrack {
    received: Vec<Received>,
    wrong: u64,
    backwards: u64,
    loose: u64,
    /// Transfer times of messages for which the receiver waited, and of others.
    late: Samples,
    other: Samples,
}

impl Context<'_, '_> {
    /// Returns whether a message is received after another one in a collective.
    fn is_behind(&self, at: usize, it: &Received) -> bool {
        it.since > it.posted
            && matches!(self.tracks.class(at, it.recv as usize), Class::Collective(_))
    }

    fn of_track(&self, at: usize) -> OfTrack {
        let Context { tracks, messages, settings, .. } = *self;
        let received = ends::received(tracks, messages, at);
        let (late, other) = (Samples::default(), Samples::default());
        let mut of_track = OfTrack { received, wrong: 0, backwards: 0, loose: 0, late, other };
        let mut values = Rendezvous::default();
        // The keys of SMPI's links pair the wrong ends for `Sendrecv`.
        let is_both = |track: u32, state: Option<usize>| {
            let class = state.map(|state| tracks.class(track as usize, state));
            self.is_simulated && class == Some(Class::SendRecv)
        };
        for it in &mut of_track.received {
            let message = &messages.list()[it.message as usize];
            let (send, recv) = (message.send(), Some(it.recv).filter(|recv| *recv != NONE));
            it.expect(f64::from_bits(size_of(message)));
            it.is_rendezvous = match (message.bytes(), self.eager) {
                (Some(bytes), Some(eager)) if bytes >= eager as f64 => true,
                _ => send.is_some_and(|send| values.is_blocked(tracks, message, send, settings)),
            };
            let is_wrong =
                is_both(message.from, send) || is_both(message.to, recv.map(|recv| recv as usize));
            let is_known =
                send.is_some() && recv.is_some() && message.from != message.to && !is_wrong;
            let is_backwards = is_known && message.end < message.start;
            of_track.wrong += u64::from(is_wrong);
            of_track.backwards += u64::from(is_backwards);
            of_track.loose += u64::from(!is_known && !is_wrong);
            it.is_used = is_known && !is_backwards;
        }
        for group in groups(&of_track.received) {
            let used = group.iter().filter(|it| it.is_used);
            // The message that was ready last.
            let last = used.max_by(|a, b| a.begin().total_cmp(&b.begin()));
            let last = last.filter(|last| !last.is_rendezvous);
            if let Some(last) = last.filter(|_| group[0].end > group[0].since) {
                let is_late = last.start >= group[0].since.max(last.posted);
                let samples = if is_late { &mut of_track.late } else { &mut of_track.other };
                samples.entry(last.size()).or_default().push((last.end - last.begin()).max(0.0));
            }
        }
        of_track
    }

    /// Records the typical transfer time of each message, and changes `posted` if it follows from
    /// it.
    fn expect(
        &self,
        at: usize,
        all: &mut [Received],
        typical: &TypicalTimes,
        concurrent: &FxHashSet<(u32, u32)>,
    ) {
        let track = &self.tracks.list()[at];
        let mut last = (0, f64::NAN);
        for it in all {
            let size = it.size();
            if size != last.0 || last.1.is_nan() {
                last = (size, typical.get(&size).copied().unwrap_or(f64::NAN));
            }
            it.expect(last.1);
            // A collective may receive messages sequentially or concurrently. The typical time of
            // their size shows which.
            if !it.typical().is_nan()
                && self.is_behind(at, it)
                && !concurrent.contains(&value_of(track, it))
            {
                let off = |posted: f64| (it.end - it.start.max(posted) - it.typical()).abs();
                if off(it.since) + TIME_TOLERANCE < off(it.posted) {
                    it.posted = it.since;
                }
            }
        }
    }

    /// Counts the messages that indicate that eager transfers start when sent, and those that
    /// indicate that they start when posted.
    fn votes(&self, at: usize, all: &[Received], fastest: &TypicalTimes) -> (u64, u64) {
        let track = &self.tracks.list()[at];
        let mut votes = (0, 0);
        let mut last = (0, f64::NAN);
        let mut least_of = |it: &Received| {
            let size = size_of(&self.messages.list()[it.message as usize]);
            if size != last.0 || last.1.is_nan() {
                last = (size, fastest.get(&size).copied().unwrap_or(it.typical()));
            }
            last.1
        };
        for group in groups(all) {
            let (since, until) = (group[0].since, group[0].end);
            // Computes when the call would return in either case. Messages that come at once are
            // slow. A single message that comes late to a call may be much faster than usual.
            let (mut sent, mut posted, mut shortest) = (since, since, f64::INFINITY);
            for it in group {
                let is_typical = it.is_used && !it.is_rendezvous && !it.typical().is_nan();
                let least = if is_typical { least_of(it) } else { f64::NAN };
                if least.is_nan() || least <= 2.0 * TIME_TOLERANCE {
                    shortest = f64::INFINITY;
                    break;
                }
                shortest = shortest.min(least);
                sent = sent.max(it.start + it.typical());
                posted = posted.max(it.start.max(track.start[it.post as usize]) + least);
            }
            if shortest.is_finite() && posted - sent > shortest / 2.0 {
                let is_sent = (until - sent).abs() < (until - posted).abs();
                if is_sent { votes.0 += 1 } else { votes.1 += 1 }
            }
        }
        votes
    }
}

/// For a type and value, whether the map declares sends to be a rendezvous.
#[derive(Debug, Default)]
struct Rendezvous(FxHashMap<(u32, u32), bool>);

impl Rendezvous {
    /// Returns whether the sender left the call at the same time as the receiver, or the map
    /// declares a rendezvous.
    fn is_blocked(
        &mut self,
        tracks: &Tracks<'_>,
        message: &Message,
        send: usize,
        settings: &Settings,
    ) -> bool {
        let track = &tracks.list()[message.from as usize];
        let value = track.value[send];
        let is_given = self.0.entry((track.type_.0, value.0)).or_insert_with(|| {
            settings.map.is_rendezvous(tracks.trace().types().value_name(track.type_, value).text)
        });
        *is_given
            || tracks.class(message.from as usize, send) == Class::Send
                && track.end[send] > message.start
                && (track.end[send] - message.end).abs() <= TIME_TOLERANCE
    }
}

fn value_of(track: &Track, it: &Received) -> (u32, u32) {
    (track.type_.0, track.value[it.recv as usize].0)
}

/// Returns the size of a message as a key. All unknown sizes have the same key.
fn size_of(message: &Message) -> u64 {
    message.bytes().unwrap_or(-1.0).to_bits()
}

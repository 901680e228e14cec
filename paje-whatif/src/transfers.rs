//! Transfers: the times of messages on their way, and what waits for them, told from when they were sent and received.
//!
//! Nobody records when a message arrives. Where a receiver waits for it, it arrives when the receiving call returns: so
//! the time since it was sent, or since both sides were there, is the network's. The others are assumed to take as long
//! as the median of those of their size.

mod ends;

use paje_analysis::classes::Class;
use paje_analysis::messages::{Message, Messages};
use paje_analysis::tracks::Tracks;
use rustc_hash::FxHashMap;

use crate::settings::{EagerStart, Settings};
pub(crate) use ends::Ends;

/// Facts about a message on its way.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// When it started, in seconds: when it was sent, or when both sides were there. Not a number if nothing waits for
    /// the message, since one of its states is not known.
    pub start: f64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Time from the arrival until the receiver left, in seconds.
    pub(crate) slack: f64,
    /// Time from the arrival until the sender was free, in seconds; not a number if it does not wait for that.
    pub(crate) free_slack: f64,
    /// When the receiver was ready, in seconds; not a number if the transfer does not wait for that.
    pub(crate) posted: f64,
    /// True if it is known that the receiver waited for this message.
    pub is_awaited: bool,
    /// True if sender and receiver both wait until it has arrived.
    pub is_rendezvous: bool,
}

impl Transfer {
    /// When it arrived, in seconds.
    #[must_use]
    pub fn arrival(&self) -> f64 {
        self.start + self.seconds
    }

    /// True if anything waits for it.
    #[must_use]
    pub fn is_used(&self) -> bool {
        !self.start.is_nan()
    }
}

/// Assumptions about messages.
#[derive(Clone, Debug, Default)]
pub struct Assumed {
    /// When eager transfers start.
    pub start: EagerStart,
    /// Numbers of messages that say that they start when they are sent, and when the receiver is there too; none if
    /// it was said when they do.
    pub votes: Option<(u64, u64)>,
    /// From how many bytes on transfers are a rendezvous, if that is known.
    pub eager: Option<u64>,
    /// Messages whose transfer was measured, since the receiver waited for them.
    pub measured: u64,
    /// Messages whose transfer is assumed to take as long as the median of its size.
    pub estimated: u64,
    /// Links that nothing waits for, since a state at one of their ends is not known.
    pub loose: u64,
    /// Links of SMPI's `Sendrecv`, whose ends are paired wrongly: nothing waits for them.
    pub wrong: u64,
    /// Links that end before they start: nothing waits for them.
    pub backwards: u64,
}

/// Sizes as keys; those that are not known are one.
fn key(bytes: Option<f64>) -> u64 {
    bytes.unwrap_or(-1.0).to_bits()
}

/// By message, the usual transfer of its size, in seconds; not a number if there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usual(Vec<f64>);

impl Usual {
    fn new(messages: &Messages, samples: FxHashMap<u64, Vec<f64>>) -> Self {
        let median = |(size, mut all): (u64, Vec<f64>)| {
            let middle = all.len() / 2;
            let (_, median, _) = all.select_nth_unstable_by(middle, f64::total_cmp);
            (size, *median)
        };
        let by_size: FxHashMap<u64, f64> =
            samples.into_iter().filter(|(_, all)| !all.is_empty()).map(median).collect();
        let of = |message: &Message| by_size.get(&key(message.bytes)).copied().unwrap_or(f64::NAN);
        Usual(messages.list().iter().map(of).collect())
    }

    fn of(&self, message: u32) -> Option<f64> {
        Some(self.0[message as usize]).filter(|usual| !usual.is_nan())
    }
}

/// The least time that calls take by themselves, in seconds, by track type and value.
pub(crate) type Least = FxHashMap<(u32, u32), f64>;

/// Messages that one receiving call waited for: they end when it returns.
struct Group<'e> {
    messages: &'e [u32],
    /// Since when the call can have waited, and until when.
    since: f64,
    until: f64,
}

/// Two times that differ by no more than this are one: half of what SimGrid prints.
pub(crate) const MOMENT: f64 = 5e-10;

/// Finds out about all messages.
pub(crate) fn transfers(
    tracks: &Tracks<'_>,
    messages: &Messages,
    ends: &Ends,
    settings: &Settings,
) -> (Vec<Transfer>, Assumed, Least) {
    let list = messages.list();
    let is_simulated = tracks.trace().comments().windows(7).any(|word| word == b"SimGrid");
    let eager = settings.eager.or(settings.map.eager()).or(is_simulated.then_some(65_536));
    let mut assumed = Assumed { eager, ..Assumed::default() };
    let mut transfers = Vec::with_capacity(list.len());
    let mut values = Rendezvous::default();
    for (at, message) in list.iter().enumerate() {
        let (send, recv) = (message.send(), ends.recv[at]);
        let posted = ends.posted[at];
        let is_rendezvous = match (message.bytes, eager) {
            (Some(bytes), Some(eager)) if bytes >= eager as f64 => true,
            _ => send.is_some_and(|send| values.is_blocked(tracks, message, send, settings)),
        };
        // SMPI's keys for these pair the wrong ends.
        let is_both = |track: u32, state: Option<usize>| {
            let class = state.map(|state| tracks.class(track as usize, state));
            is_simulated && class == Some(Class::SendRecv)
        };
        let is_wrong =
            is_both(message.from, send) || is_both(message.to, recv.map(|recv| recv as usize));
        assumed.wrong += u64::from(is_wrong);
        let is_known = send.is_some() && recv.is_some() && message.from != message.to && !is_wrong;
        let is_backwards = is_known && message.end < message.start;
        assumed.backwards += u64::from(is_backwards);
        assumed.loose += u64::from(!is_known && !is_wrong);
        transfers.push(Transfer {
            start: if is_known && !is_backwards { message.start } else { f64::NAN },
            seconds: 0.0,
            slack: 0.0,
            free_slack: f64::NAN,
            posted,
            is_awaited: false,
            is_rendezvous,
        });
    }
    let usual = usual(messages, ends, &transfers);
    for (at, transfer) in transfers.iter_mut().enumerate() {
        // In one operation, a message may be received after another one, or beside it: as its size tells.
        let (message, since) = (&list[at], ends.since(at));
        if let Some(usual) = usual.of(at as u32).filter(|_| since > transfer.posted) {
            let off = |posted: f64| (message.end - message.start.max(posted) - usual).abs();
            if ends.is_in_operation(tracks, messages, at)
                && off(since) + MOMENT < off(transfer.posted)
            {
                transfer.posted = since;
            }
        }
    }
    let votes = votes(messages, ends, &transfers, &usual);
    (assumed.start, assumed.votes) = match settings.eager_start {
        Some(start) => (start, None),
        None if votes.0 > votes.1 => (EagerStart::Sent, Some(votes)),
        None if votes.1 > 0 || is_simulated => (EagerStart::Posted, Some(votes)),
        None => (EagerStart::Sent, Some(votes)),
    };
    for (message, transfer) in list.iter().zip(&mut transfers) {
        if !transfer.is_used() {
            transfer.posted = f64::NAN;
        } else if transfer.is_rendezvous || assumed.start == EagerStart::Posted {
            // A receiver is ready before the message has arrived.
            transfer.posted = transfer.posted.min(message.end);
            transfer.start = transfer.start.max(transfer.posted);
        } else {
            transfer.posted = f64::NAN;
        }
    }
    let least = least(tracks, messages, ends, &transfers, &usual, assumed.start);
    for group in ends.groups(messages) {
        measure(tracks, messages, ends, &group, &usual, &least, &mut transfers);
    }
    for transfer in transfers.iter().filter(|transfer| transfer.is_used()) {
        assumed.measured += u64::from(transfer.is_awaited);
        assumed.estimated += u64::from(!transfer.is_awaited);
    }
    (transfers, assumed, least)
}

/// By type and value: whether the map says that what is sent so is a rendezvous.
#[derive(Debug, Default)]
struct Rendezvous(FxHashMap<(u32, u32), bool>);

impl Rendezvous {
    /// True if the sender left the call when the receiver did, and not before.
    fn is_blocked(
        &mut self,
        tracks: &Tracks<'_>,
        message: &Message,
        send: usize,
        settings: &Settings,
    ) -> bool {
        let track = &tracks.list()[message.from as usize];
        let value = track.value[send];
        let is_said = self.0.entry((track.type_.0, value.0)).or_insert_with(|| {
            settings.map.is_rendezvous(tracks.trace().types().value_name(track.type_, value).text)
        });
        *is_said
            || tracks.class(message.from as usize, send) == Class::Send
                && track.end[send] > message.start
                && (track.end[send] - message.end).abs() <= MOMENT
    }
}

/// The usual transfers: of messages that the receiver waited for, and of the other ones where there are none.
fn usual(messages: &Messages, ends: &Ends, transfers: &[Transfer]) -> Usual {
    let mut late: FxHashMap<u64, Vec<f64>> = FxHashMap::default();
    let mut other: FxHashMap<u64, Vec<f64>> = FxHashMap::default();
    for group in ends.groups(messages) {
        let used = group.messages.iter().filter(|at| transfers[**at as usize].is_used());
        // The one that everybody was ready for last.
        let ready = |at: &u32| messages.list()[*at as usize].start.max(ends.posted[*at as usize]);
        let Some(last) = used.copied().max_by(|a, b| ready(a).total_cmp(&ready(b))) else {
            continue;
        };
        let message = &messages.list()[last as usize];
        if group.until <= group.since {
            continue;
        }
        let is_late = message.start >= group.since.max(ends.posted[last as usize]);
        let samples = if is_late { &mut late } else { &mut other };
        samples.entry(key(message.bytes)).or_default().push((message.end - ready(&last)).max(0.0));
    }
    other.retain(|size, _| !late.contains_key(size));
    late.extend(other);
    Usual::new(messages, late)
}

/// Numbers of messages that say that eager transfers start when they are sent, and when the receiver is there.
fn votes(messages: &Messages, ends: &Ends, transfers: &[Transfer], usual: &Usual) -> (u64, u64) {
    let mut votes = (0, 0);
    for group in ends.groups(messages) {
        // When the call would return, either way.
        let (mut sent, mut posted, mut shortest) = (group.since, group.since, f64::INFINITY);
        for at in group.messages {
            let (message, transfer) = (&messages.list()[*at as usize], &transfers[*at as usize]);
            let usual = usual.of(*at).filter(|usual| *usual > 2.0 * MOMENT);
            let is_eager = transfer.is_used() && !transfer.is_rendezvous;
            let Some(usual) = usual.filter(|_| is_eager) else {
                shortest = f64::INFINITY;
                break;
            };
            shortest = shortest.min(usual);
            sent = sent.max(message.start + usual);
            posted = posted.max(message.start.max(ends.posted[*at as usize]) + usual);
        }
        if shortest.is_finite() && posted - sent > shortest / 2.0 {
            let is_sent = (group.until - sent).abs() < (group.until - posted).abs();
            if is_sent { votes.0 += 1 } else { votes.1 += 1 }
        }
    }
    votes
}

/// The least time that each receiving call takes by itself, in seconds, by track type and value: that of calls whose
/// messages were there before.
fn least(
    tracks: &Tracks<'_>,
    messages: &Messages,
    ends: &Ends,
    transfers: &[Transfer],
    usual: &Usual,
    start: EagerStart,
) -> Least {
    let mut least = Least::default();
    if start == EagerStart::Posted {
        return least;
    }
    for group in ends.groups(messages) {
        let was_there = |at: &u32| {
            let transfer = &transfers[*at as usize];
            let usual = usual.of(*at).unwrap_or(0.0);
            !transfer.is_used() || transfer.start + usual <= group.since
        };
        if group.messages.iter().all(was_there) {
            let entry = least.entry(ends.value(tracks, messages, group.messages[0]));
            let time = (group.until - group.since).max(0.0);
            entry.and_modify(|least| *least = least.min(time)).or_insert(time);
        }
    }
    least
}

/// Finds out what a receiving call waited for, and how long the transfers took.
fn measure(
    tracks: &Tracks<'_>,
    messages: &Messages,
    ends: &Ends,
    group: &Group<'_>,
    usual: &Usual,
    least: &Least,
    transfers: &mut [Transfer],
) {
    let expected = |at: u32, transfers: &[Transfer]| {
        let transfer = &transfers[at as usize];
        transfer.start + usual.of(at).unwrap_or(0.0)
    };
    let used = || group.messages.iter().copied();
    let used = || used().filter(|at| transfers[*at as usize].is_used());
    let last = used().max_by(|a, b| expected(*a, transfers).total_cmp(&expected(*b, transfers)));
    let Some(last) = last else { return };
    let least = least.get(&ends.value(tracks, messages, last)).copied().unwrap_or(0.0);
    let lasting = group.until - group.since;
    let start = transfers[last as usize].start;
    // Sent long before the call, it has arrived long before it returns.
    let was_there = start < group.since
        && usual
            .of(last)
            .is_some_and(|usual| start + usual <= group.since && start + 2.0 * usual < group.until);
    let is_awaited = lasting > least + MOMENT.min(least * 1e-3) && !was_there;
    for at in group.messages {
        let transfer = &mut transfers[*at as usize];
        if !transfer.is_used() {
            continue;
        }
        let most = (group.until - transfer.start).max(0.0);
        transfer.is_awaited = is_awaited && *at == last;
        transfer.seconds = match usual.of(*at) {
            _ if transfer.is_awaited => most,
            Some(usual) => usual.min(most),
            None => most,
        };
        transfer.slack = group.until - transfer.arrival();
        // Where it was waited for, nothing is left but rounding.
        transfer.slack = if transfer.is_awaited { 0.0 } else { transfer.slack.max(0.0) };
    }
}

//! Whether ranks that others wait for send or receive late, or are late because they waited
//! themselves.
//!
//! Long pieces of computing divide a rank's run into rounds of communication: see
//! [`Measures::rounds`].

use rustc_hash::FxHashMap;

use super::measures::Measures;
use crate::classes::{Class, Collective};
use crate::waits::{Kind, Wait};

/// Waiting by what the awaited ranks do. Times are in the trace's unit.
pub(super) struct Lateness {
    /// Waiting for ranks that only send, by track. In an exchange, both sides would wait for a slow
    /// one.
    pub(super) senders: Vec<f64>,
    /// Waiting for ranks that only receive, by track.
    pub(super) receivers: Vec<f64>,
    /// Waiting for ranks that had to wait themselves before they computed.
    pub(super) chained: f64,
}

/// What the rank that is waited for does in the round in which it ends the wait.
enum Role {
    Sender,
    Receiver,
    /// Sends an answer, for which it computes since it received a message.
    Server,
    /// Anything else, such as sending and receiving.
    Partner,
}

/// Transfers to ranks, by messages or by collectives with a root that receives.
struct Transfers {
    /// Times at which each track enters a call to receive, in order.
    receives: Vec<Vec<f64>>,
    /// Times at which each track sends a message, in order.
    sends: Vec<Vec<f64>>,
    /// Start and end of the transfers from a track to another, in the order of their starts.
    between: FxHashMap<(u32, u32), Vec<(f64, f64)>>,
}

impl Lateness {
    pub(super) fn new(measures: &Measures<'_, '_>) -> Self {
        let transfers = Transfers::new(measures);
        let none = || vec![0.0; measures.culprits.len()];
        let mut found = Lateness { senders: none(), receivers: none(), chained: 0.0 };
        for (wait, span) in measures.waits() {
            let (seconds, whom) = (span.1 - span.0, wait.whom as usize);
            let role = transfers.role(measures, wait);
            found.chained += match role {
                Role::Server => seconds,
                _ => chained(measures, wait.whom, span),
            };
            match role {
                Role::Sender => found.senders[whom] += seconds,
                Role::Receiver => found.receivers[whom] += seconds,
                Role::Server | Role::Partner => {}
            }
        }
        found
    }
}

/// Returns how long a rank waits between two times before it computes. If it does not compute for
/// long, it mostly passes on the delay of the rank that it waits for last, and that rank is looked
/// at. If no rank waits before long computing, a chain of short computing is left: all of it but
/// the computing of the slowest rank, because that would delay the others without a chain, too.
fn chained(measures: &Measures<'_, '_>, mut track: u32, (from, mut until): (f64, f64)) -> f64 {
    let length = until - from;
    let mut slowest = 0.0_f64;
    for _ in 0..measures.ranks.len().min(64) {
        let ends = measures.rounds(track);
        let computed = ends[..ends.partition_point(|end| *end <= until)].last();
        let all = measures.waits.of_track(track as usize);
        let all = &all[..all.partition_point(|wait| wait.until <= until)];
        let Some(last) = all.last().filter(|wait| wait.until > from) else {
            return length - slowest.max(until - from);
        };
        if computed.is_some_and(|end| *end > last.until) {
            let during = all.iter().rev().take_while(|wait| wait.until > from);
            let seconds: f64 = during.map(|wait| wait.until - wait.from.max(from)).sum();
            return seconds.min(until - from);
        }
        slowest = slowest.max(until - last.until);
        (track, until) = (last.whom, last.until);
    }
    0.0
}

impl Transfers {
    fn new(measures: &Measures<'_, '_>) -> Self {
        let facts = &measures.waits.facts;
        let mut found = Transfers {
            receives: vec![Vec::new(); facts.tracks.list().len()],
            sends: vec![Vec::new(); facts.tracks.list().len()],
            between: FxHashMap::default(),
        };
        let enter =
            |track: u32, state: u32| facts.tracks.list()[track as usize].start[state as usize];
        for message in facts.messages.list() {
            let Some(state) = message.recv() else { continue };
            if !matches!(facts.tracks.class(message.to as usize, state), Class::Collective(_)) {
                found.add(
                    message.from,
                    message.to,
                    (message.start, message.end),
                    enter(message.to, state as u32),
                );
            }
        }
        for series in facts.collectives.series.iter().filter(|it| it.class == Collective::NToOne) {
            for instance in 0..series.len() {
                let Some(root) = series.root_of(instance) else { continue };
                let states = series.operation(instance);
                let (to, at) = (series.tracks[root], states[root]);
                let end = facts.tracks.list()[to as usize].end[at as usize];
                for (from, state) in series.tracks.iter().zip(states).filter(|it| *it.0 != to) {
                    found.add(*from, to, (enter(*from, *state), end), enter(to, at));
                }
            }
        }
        let all = found.receives.iter_mut().chain(&mut found.sends);
        all.for_each(|times| times.sort_by(f64::total_cmp));
        found.between.values_mut().for_each(|all| all.sort_by(|a, b| a.0.total_cmp(&b.0)));
        found
    }

    fn add(&mut self, from: u32, to: u32, span: (f64, f64), enter: f64) {
        self.receives[to as usize].push(enter);
        self.sends[from as usize].push(span.0);
        self.between.entry((from, to)).or_default().push(span);
    }

    fn role(&self, measures: &Measures<'_, '_>, wait: &Wait) -> Role {
        let whom = wait.whom as usize;
        if !matches!(wait.kind, Kind::LateSender | Kind::LateBroadcast | Kind::LateReceiver) {
            return Role::Partner;
        }
        let span = round(measures, wait.whom, wait.until);
        if wait.kind == Kind::LateReceiver {
            let is_partner = is_any_within(&self.sends[whom], span);
            return if is_partner { Role::Partner } else { Role::Receiver };
        }
        // The last message to the awaited rank, if it was received after the waiting one computed.
        let (begin, _) = round(measures, wait.waiter, wait.from);
        let all = self.between.get(&(wait.waiter, wait.whom)).map_or(&[][..], |all| all);
        let last = all[..all.partition_point(|sent| sent.0 < wait.until)].last();
        match last.filter(|sent| sent.1 > begin) {
            Some(sent) if sent.0 >= begin && sent.1 <= span.0 => Role::Server,
            None if !is_any_within(&self.receives[whom], span) => Role::Sender,
            _ => Role::Partner,
        }
    }
}

/// Returns the round of a time: from the end of the last long piece of computing to the end of the
/// next one.
fn round(measures: &Measures<'_, '_>, track: u32, time: f64) -> (f64, f64) {
    let ends = measures.rounds(track);
    let next = ends.partition_point(|end| *end <= time);
    let begin = next.checked_sub(1).map_or(f64::MIN, |last| ends[last]);
    (begin, ends.get(next).copied().unwrap_or(f64::MAX))
}

fn is_any_within(times: &[f64], (begin, end): (f64, f64)) -> bool {
    times.get(times.partition_point(|time| *time < begin)).is_some_and(|time| *time < end)
}

//! Messages: links, together with the states in which they are sent and received.
//!
//! A link belongs to a sending state, which is open in the start container when the link starts,
//! and to a receiving state, which is open in the end container until the link ends. In traces of
//! SimGrid's SMPI and Akypuera, a link ends when the receiving call returns, so the link's duration
//! is not the time on the network. If the only open state is a collective, the link is part of the
//! collective.

mod combined;
mod doubles;
mod ends;
mod growing;
mod reader;
mod tested;

use std::collections::BTreeSet;
use std::str;
use std::sync::atomic::{AtomicU32, Ordering};

use paje_sim::{ContainerId, LaneId, Link, Trace, TypeNature, ValueId};
use rayon::prelude::*;

use crate::classes::Map;
use crate::tracks::Tracks;
use ends::Side;
use reader::{Counter, Reader};

/// Messages of a trace.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    list: Vec<Message>,
    /// Number of links with an end in a container that has no track.
    pub elsewhere: u64,
    /// Number of links that have no end.
    pub open: u64,
    /// Number of links for which the trace has no end, but loops of tests show it.
    pub tested: u64,
    /// Number of links that were left out, because they were written twice.
    pub doubled: u64,
    /// Number of messages of calls that send and receive, which were found although their links have
    /// wrong keys.
    pub combined: u64,
    received: Vec<Vec<u32>>,
    sent: Vec<Vec<u32>>,
    /// Requests of each message's send and receive. Empty if the trace has none.
    requests: Vec<[Option<u64>; 2]>,
}

/// A link between two tracks.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Lane of the link.
    pub lane: LaneId,
    /// Index of the link in its lane.
    pub row: u64,
    /// Value of the link.
    pub value: ValueId,
    /// Start, in seconds.
    pub start: f64,
    /// End, in seconds.
    pub end: f64,
    /// Size in bytes, or NaN if unknown.
    bytes: f64,
    /// Track in which the link starts.
    pub from: u32,
    /// Track in which the link ends.
    pub to: u32,
    send: u32,
    recv: u32,
}

const NONE: u32 = u32::MAX;

/// Default user-defined fields for the bytes of a link, by priority.
pub const BYTES: [&str; 4] = ["Size", "size", "Bytes", "MessageSize"];

impl Message {
    const NOWHERE: Message = Message {
        lane: LaneId(0),
        row: 0,
        value: ValueId(0),
        start: 0.0,
        end: 0.0,
        bytes: f64::NAN,
        from: NONE,
        to: NONE,
        send: NONE,
        recv: NONE,
    };

    /// Returns the size in bytes if the trace has it and was read with
    /// [user-defined fields](paje_sim::Options::user_defined).
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> Option<f64> {
        Some(self.bytes).filter(|bytes| !bytes.is_nan())
    }

    /// Returns the state of track `from` in which the message is sent.
    #[must_use]
    #[inline]
    pub fn send(&self) -> Option<usize> {
        Some(self.send).filter(|state| *state != NONE).map(|state| state as usize)
    }

    /// Returns the state of track `to` in which the message is received.
    #[must_use]
    #[inline]
    pub fn recv(&self) -> Option<usize> {
        Some(self.recv).filter(|state| *state != NONE).map(|state| state as usize)
    }
}

impl Messages {
    /// Reads the messages of all lanes, ordered by receiving track, so that the messages of one
    /// track are adjacent in memory. Sizes are in the user-defined field `bytes`, or in the first
    /// field of [`BYTES`] that the trace defines.
    ///
    /// If several states match links of the same time, they are assigned to the links in order. The
    /// first state also gets any surplus links.
    #[must_use]
    pub fn new(tracks: &Tracks<'_>, map: &Map, bytes: Option<&str>) -> Self {
        let trace = tracks.trace();
        let lanes = trace.lanes().filter(|lane| lane.nature() == TypeNature::Link);
        let lanes: Vec<_> = lanes.filter(|lane| map.is_message(lane.type_name().text)).collect();
        let mut messages = Messages::default();
        let field = bytes.or_else(|| size_field(trace));
        let tested = tested::tested(tracks, map, field);
        let mut counter = Counter { tracks, counts: vec![0; tracks.list().len()] };
        for lane in &lanes {
            let Ok(()) = lane.visit(&mut counter);
        }
        let mut next = counter.counts;
        tested.iter().for_each(|message| next[message.to as usize] += 1);
        let mut sum = 0;
        next.iter_mut().for_each(|count| (*count, sum) = (sum, sum + *count));
        // Fills the list in parallel, so that the system provides its memory in parallel.
        messages.list = (0..sum).into_par_iter().map(|_| Message::NOWHERE).collect();
        messages.tested = tested.len() as u64;
        messages.open = trace.link_starts().count() as u64 - messages.tested;
        if has_field(trace, reader::REQUEST) && trace.has_user_defined() {
            messages.requests.resize(messages.list.len(), [None; 2]);
        }
        let mut reader = Reader { tracks, field, messages, next: Some(next), row: 0 };
        for lane in lanes {
            reader.row = 0;
            let Ok(()) = lane.visit(&mut reader);
        }
        for message in tested {
            reader.add(message);
        }
        let mut messages = reader.messages;
        messages.find_states(tracks);
        if tracks.is_simulated() {
            messages.drop_doubles(tracks);
            messages.pair_combined(tracks, map, field);
        }
        messages
    }

    /// Returns a copy of the messages with other times, in seconds. Messages for which `times`
    /// returns `None` lose their states.
    #[must_use]
    pub fn at_times(&self, times: impl Fn(usize, &Message) -> Option<(f64, f64)>) -> Self {
        let mut messages = self.clone();
        for (at, message) in messages.list.iter_mut().enumerate() {
            match times(at, message) {
                Some((start, end)) => (message.start, message.end) = (start, end),
                None => (message.send, message.recv) = (NONE, NONE),
            }
        }
        let list = &messages.list;
        for (by_track, side) in
            [(&mut messages.received, Side::Receiving), (&mut messages.sent, Side::Sending)]
        {
            let time = |at: &u32| side.time(&list[*at as usize]);
            by_track.iter_mut().for_each(|all| all.sort_by(|a, b| time(a).total_cmp(&time(b))));
        }
        messages
    }

    /// Finds the states of all ends of links that are not forgotten. The others keep their states.
    pub fn find_states(&mut self, tracks: &Tracks<'_>) {
        let (received, ends) = find(&self.list, tracks, Side::Receiving);
        for (at, state) in received.iter().flatten().zip(ends.into_iter().flatten()) {
            self.list[*at as usize].recv = state;
        }
        let (sent, starts) = find(&self.list, tracks, Side::Sending);
        // The messages of one sender are scattered in memory. To avoid cache misses, only their
        // states are collected.
        let sends = self.list.par_iter().map(|message| AtomicU32::new(message.send));
        let sends: Vec<AtomicU32> = sends.collect();
        sent.par_iter().zip(starts).for_each(|(all, states)| {
            for (at, state) in all.iter().zip(states) {
                sends[*at as usize].store(state, Ordering::Relaxed);
            }
        });
        let all = self.list.par_iter_mut().zip(sends);
        all.for_each(|(message, send)| message.send = send.into_inner());
        (self.received, self.sent) = (received, sent);
    }

    /// Returns the containers in which messages start or end, in order of creation.
    #[must_use]
    pub fn ends(trace: &Trace, map: &Map) -> Vec<ContainerId> {
        let lanes = trace.lanes().filter(|lane| lane.nature() == TypeNature::Link);
        let lanes = lanes.filter(|lane| map.is_message(lane.type_name().text));
        let ends: BTreeSet<ContainerId> =
            lanes.flat_map(|lane| lane.links()).flat_map(|link| [link.from, link.to]).collect();
        ends.into_iter().collect()
    }

    /// Returns all messages, by receiving track.
    #[must_use]
    pub fn list(&self) -> &[Message] {
        &self.list
    }

    /// Returns the requests of each message's nonblocking send and receive. Empty if the trace records none.
    #[must_use]
    pub fn requests(&self) -> &[[Option<u64>; 2]] {
        &self.requests
    }

    /// Returns the messages that end in a track, ordered by end.
    #[must_use]
    pub fn received(&self, track: usize) -> &[u32] {
        &self.received[track]
    }

    /// Returns the messages that start in a track, ordered by start.
    #[must_use]
    pub fn sent(&self, track: usize) -> &[u32] {
        &self.sent[track]
    }

    /// Calls `visit` with the link of each message, lane by lane. Links that lack an end are left
    /// out.
    pub fn each_link(&self, trace: &Trace, mut visit: impl FnMut(usize, &Link<'_>)) {
        let row = |at: &usize| (self.list[*at].lane, self.list[*at].row);
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_unstable_by_key(row);
        let mut order = order.into_iter().peekable();
        for lane in trace.lanes() {
            for (link, number) in lane.links().zip(0..) {
                while order.next_if(|at| row(at) < (lane.id(), number)).is_some() {}
                if let Some(at) = order.next_if(|at| row(at) == (lane.id(), number)) {
                    visit(at, &link);
                }
            }
        }
    }

    /// Returns the number of messages without a sending state, and the number without a receiving
    /// state.
    #[must_use]
    pub fn without_state(&self) -> (u64, u64) {
        let count =
            |missing: fn(&&Message) -> bool| self.list.iter().filter(missing).count() as u64;
        (count(|message| message.send == NONE), count(|message| message.recv == NONE))
    }
}

/// Returns the messages at one end of each track, by time, and the state of each, or [`NONE`]. Ends
/// that are forgotten are left out.
fn find(list: &[Message], tracks: &Tracks<'_>, side: Side) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let mut lengths = vec![0; tracks.list().len()];
    list.iter().for_each(|message| lengths[side.track(message)] += 1);
    // The times are freed soon, so they are not placed between the orders.
    let mut times: Vec<Vec<f64>> = lengths.iter().copied().map(Vec::with_capacity).collect();
    let mut orders: Vec<Vec<u32>> = lengths.into_iter().map(Vec::with_capacity).collect();
    for (at, message) in (0..).zip(list) {
        let (track, time) = (side.track(message), side.time(message));
        if time < tracks.list()[track].forgotten.until {
            continue;
        }
        times[track].push(time);
        orders[track].push(at);
    }
    // Links of the same time stay in order of completion.
    let in_trace = |at: u32| (list[at as usize].lane, list[at as usize].row);
    let of_track = |(track, (order, times)): (usize, (&mut Vec<u32>, Vec<f64>))| {
        // Links are in order of completion, so they are sorted by their ends and nearly sorted by
        // their starts.
        let mut timed: Vec<(f64, u32)> = times.into_iter().zip(order.iter().copied()).collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| in_trace(a.1).cmp(&in_trace(b.1))));
        order.iter_mut().zip(&timed).for_each(|(at, (_, sorted))| *at = *sorted);
        ends::states_at(tracks, track, &timed, side)
    };
    let states = orders.par_iter_mut().zip(times).enumerate().map(of_track).collect();
    (orders, states)
}

fn has_field(trace: &Trace, name: &str) -> bool {
    trace.defs().iter().any(|def| def.extras().any(|(field, _)| field == name))
}

fn size_field(trace: &Trace) -> Option<&'static str> {
    BYTES.into_iter().find(|name| has_field(trace, name))
}

/// Sender, receiver and tag of a message.
pub type Channel = [i64; 3];

/// Returns the channel in a key of SimGrid: `from_to_tag_number`.
#[must_use]
pub fn channel(key: &[u8]) -> Option<Channel> {
    let mut parts = str::from_utf8(key).ok()?.split('_');
    let mut next = || parts.next()?.parse().ok();
    let channel = [next()?, next()?, next()?];
    (parts.count() == 1).then_some(channel)
}

/// Returns a number of bytes.
pub(crate) fn amount(text: &[u8]) -> Option<f64> {
    let number = str::from_utf8(text).ok()?.trim().trim_matches('"').parse::<f64>().ok();
    number.filter(|bytes| *bytes >= 0.0 && bytes.is_finite())
}

//! Finds the calls that post and that complete the receive of a message.

use std::collections::VecDeque;

use paje_analysis::classes::Class;
use paje_analysis::messages::Messages;
use paje_analysis::tracks::{Track, Tracks};

/// Times that differ by at most this many seconds are equal. It is half of SimGrid's resolution.
pub(crate) const TIME_TOLERANCE: f64 = 5e-10;

pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) message: u32,
    /// State that completes the receive, or [`NONE`].
    pub(crate) recv: u32,
    /// State that posted the receive, or [`NONE`].
    pub(crate) post: u32,
    pub(crate) is_used: bool,
    pub(super) is_rendezvous: bool,
    pub(super) is_awaited: bool,
    /// Start and end of the link, in seconds.
    pub(super) start: f64,
    pub(crate) end: f64,
    /// Time in seconds when the receiver was ready; −∞ if unknown, NaN if it does not matter.
    pub(crate) posted: f64,
    /// Earliest time when waiting could start: the end of the receiver's previous activity in that
    /// state.
    pub(super) since: f64,
    /// First the size in bytes, later the typical time, and finally the actual time.
    expected: f64,
}

impl Received {
    pub(super) fn expect(&mut self, expected: f64) {
        self.expected = expected;
    }

    /// Returns the size as a key. All unknown sizes have the same key.
    pub(super) fn size(&self) -> u64 {
        self.expected.to_bits()
    }

    pub(super) fn typical(&self) -> f64 {
        self.expected
    }

    pub(super) fn seconds(&self) -> f64 {
        self.expected
    }

    pub(super) fn begin(&self) -> f64 {
        self.start.max(self.posted)
    }
}

/// Returns the messages that a track receives, ordered by receiving state and end.
pub(crate) fn received(tracks: &Tracks<'_>, messages: &Messages, at: usize) -> Vec<Received> {
    let track = &tracks.list()[at];
    let begins = nonblocking_receives(tracks, track);
    let take = |number: &u32| {
        let message = &messages.list()[*number as usize];
        let recv = message.recv();
        let recv = recv.map(|state| returning(tracks, at, state, message.end, &begins));
        Received {
            message: *number,
            recv: recv.map_or(NONE, |state| state as u32),
            post: NONE,
            is_used: false,
            is_rendezvous: false,
            is_awaited: false,
            start: message.start,
            end: message.end,
            posted: f64::NEG_INFINITY,
            since: f64::NEG_INFINITY,
            expected: f64::NAN,
        }
    };
    let mut all: Vec<Received> = messages.received(at).iter().map(take).collect();
    all.sort_by(|a, b| a.recv.cmp(&b.recv).then_with(|| a.end.total_cmp(&b.end)));
    // Receives that were posted but not completed, in order.
    let mut begun: VecDeque<u32> = VecDeque::new();
    let mut state = 0;
    for place in 0..all.len() {
        let Received { recv, end, .. } = all[place];
        if recv == NONE {
            break;
        }
        while state < recv {
            if begins[track.value[state as usize].index()] {
                begun.push_back(state);
            }
            state += 1;
        }
        let class = tracks.class(at, recv as usize);
        let post = match class {
            Class::Wait => begun.pop_front().unwrap_or(recv),
            _ => recv,
        };
        let mut since = last_within(track, recv as usize, end);
        if let Some(before) = place.checked_sub(1).map(|before| &all[before]) {
            // The message that was received before it in the same operation.
            let is_group = matches!(class, Class::Collective(_));
            if is_group && before.recv == recv && before.end < end {
                since = since.max(before.end);
            }
        }
        let posted = track.start[post as usize];
        all[place] = Received { post, posted, since, ..all[place] };
    }
    all
}

pub(super) fn groups(all: &[Received]) -> impl Iterator<Item = &[Received]> {
    all.chunk_by(is_same).filter(|group| group[0].recv != NONE)
}

pub(super) fn groups_mut(all: &mut [Received]) -> impl Iterator<Item = &mut [Received]> {
    all.chunk_by_mut(is_same).filter(|group| group[0].recv != NONE)
}

fn is_same(a: &Received, b: &Received) -> bool {
    a.recv == b.recv && (a.end - b.end).abs() <= TIME_TOLERANCE
}

fn nonblocking_receives(tracks: &Tracks<'_>, track: &Track) -> Vec<bool> {
    let types = tracks.trace().types();
    let classes = tracks.classes().of_type(track.type_);
    let name = |value: usize| {
        let value = paje_sim::ValueId(value as u32);
        types.value_name(track.type_, value).text.to_ascii_lowercase()
    };
    let begins = |(value, class): (usize, &Class)| {
        *class == Class::Recv && name(value).windows(5).any(|part| part == b"irecv")
    };
    classes.iter().enumerate().map(begins).collect()
}

/// Returns the state that completes a message. If the message seems to end in a call that posts a
/// receive, a waiting call at the same time completes it, since calls may take no time.
fn returning(tracks: &Tracks<'_>, at: usize, state: usize, end: f64, begins: &[bool]) -> usize {
    let track = &tracks.list()[at];
    if !begins[track.value[state].index()] {
        return state;
    }
    let later = (state + 1..track.len()).take_while(|later| track.start[*later] <= end);
    let mut later = later.filter(|later| tracks.class(at, *later) == Class::Wait);
    later.find(|later| track.end[*later] == end).unwrap_or(state)
}

/// Returns when the last child of a state ended before a time. Without such a child, returns when
/// the state began.
pub(super) fn last_within(track: &Track, state: usize, until: f64) -> f64 {
    let mut last = track.start[state];
    for inner in state + 1..track.len() {
        if track.start[inner] >= until || track.parent(inner).is_none_or(|parent| parent < state) {
            break;
        }
        if track.end[inner] <= until {
            last = last.max(track.end[inner]);
        }
    }
    last
}

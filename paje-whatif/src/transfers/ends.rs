//! Which call returns a message, and which one began to receive it.

use std::collections::VecDeque;

use paje_analysis::classes::Class;
use paje_analysis::messages::Messages;
use paje_analysis::tracks::{Track, Tracks};

use super::{Group, MOMENT};

/// By message: what receives it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    /// The state that returns it.
    pub(crate) recv: Vec<Option<u32>>,
    /// The state in which the receiver was ready; that and no other if the message ends later.
    pub(crate) post: Vec<Option<u32>>,
    /// When it was ready, in seconds; minus infinity if that is not known.
    pub(crate) posted: Vec<f64>,
    /// Since when the receiver can have waited: what it did before in that state was over.
    since: Vec<f64>,
    /// Messages by receiver, state and end: those that one call returned stand together.
    order: Vec<u32>,
}

impl Ends {
    pub(crate) fn new(tracks: &Tracks<'_>, messages: &Messages) -> Self {
        let count = messages.list().len();
        let mut ends = Ends {
            recv: vec![None; count],
            post: vec![None; count],
            posted: vec![f64::NEG_INFINITY; count],
            since: vec![f64::NEG_INFINITY; count],
            order: Vec::with_capacity(count),
        };
        for at in 0..tracks.list().len() {
            ends.add_track(tracks, messages, at);
        }
        ends
    }

    fn add_track(&mut self, tracks: &Tracks<'_>, messages: &Messages, at: usize) {
        let track = &tracks.list()[at];
        let list = messages.list();
        let begins = beginners(tracks, track);
        let first = self.order.len();
        for message in messages.received(at) {
            let state = list[*message as usize].recv();
            let end = list[*message as usize].end;
            let state = state.map(|state| returning(tracks, at, state, end, &begins));
            self.recv[*message as usize] = state.map(|state| state as u32);
            self.order.push(*message);
        }
        let recv = &self.recv;
        self.order[first..].sort_by(|a, b| {
            let key = |at: &u32| recv[*at as usize];
            let end = |at: &u32| list[*at as usize].end;
            key(a).cmp(&key(b)).then(end(a).total_cmp(&end(b)))
        });
        // Receives that were begun and not returned, in order.
        let mut begun: VecDeque<u32> = VecDeque::new();
        let mut state = 0;
        for place in first..self.order.len() {
            let message = self.order[place] as usize;
            let Some(recv) = self.recv[message] else { continue };
            while state < recv as usize {
                if begins[track.value[state].index()] {
                    begun.push_back(state as u32);
                }
                state += 1;
            }
            let class = tracks.class(at, recv as usize);
            let post = match class {
                Class::Wait => begun.pop_front().unwrap_or(recv),
                _ => recv,
            };
            self.post[message] = Some(post);
            self.posted[message] = track.start[post as usize];
            self.since[message] = last_within(track, recv as usize, list[message].end);
            if place > first && matches!(class, Class::Collective(_)) {
                // The message received before in the same operation.
                let before = self.order[place - 1] as usize;
                let end = list[before].end;
                if self.recv[before] == Some(recv) && end < list[message].end {
                    self.since[message] = self.since[message].max(end);
                }
            }
        }
    }

    /// The messages, by the calls that returned them.
    pub(super) fn groups<'e>(&'e self, messages: &'e Messages) -> impl Iterator<Item = Group<'e>> {
        let list = messages.list();
        let same = move |a: &u32, b: &u32| {
            let (x, y) = (&list[*a as usize], &list[*b as usize]);
            let recv = (self.recv[*a as usize], self.recv[*b as usize]);
            x.to == y.to && recv.0 == recv.1 && (x.end - y.end).abs() <= MOMENT
        };
        self.order.chunk_by(same).filter(|group| self.recv[group[0] as usize].is_some()).map(
            move |group| Group {
                messages: group,
                since: self.since[group[0] as usize],
                until: list[group[0] as usize].end,
            },
        )
    }

    /// Since when the receiver of a message can have waited, in seconds.
    pub(super) fn since(&self, message: usize) -> f64 {
        self.since[message]
    }

    /// True if a message is received in an operation of a group.
    pub(super) fn is_in_operation(
        &self,
        tracks: &Tracks<'_>,
        messages: &Messages,
        message: usize,
    ) -> bool {
        let track = messages.list()[message].to as usize;
        self.recv[message].is_some_and(|state| {
            matches!(tracks.class(track, state as usize), Class::Collective(_))
        })
    }

    /// The type and value of the state that returns a message.
    pub(super) fn value(
        &self,
        tracks: &Tracks<'_>,
        messages: &Messages,
        message: u32,
    ) -> (u32, u32) {
        let track = &tracks.list()[messages.list()[message as usize].to as usize];
        let state = self.recv[message as usize].unwrap_or(0) as usize;
        (track.type_.0, track.value[state].0)
    }
}

/// By value: whether such a call begins to receive, and returns at once.
fn beginners(tracks: &Tracks<'_>, track: &Track) -> Vec<bool> {
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

/// The state that returns a message which seems to end in a call that begins to receive: where calls take no time, the one
/// that waits is of the same moment.
fn returning(tracks: &Tracks<'_>, at: usize, state: usize, end: f64, begins: &[bool]) -> usize {
    let track = &tracks.list()[at];
    if !begins[track.value[state].index()] {
        return state;
    }
    let later = (state + 1..track.len()).take_while(|later| track.start[*later] <= end);
    let mut later = later.filter(|later| tracks.class(at, *later) == Class::Wait);
    later.find(|later| track.end[*later] == end).unwrap_or(state)
}

/// When the last of the states directly in a state ended before a time, or when the state began.
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

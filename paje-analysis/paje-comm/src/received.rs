//! Finds the calls that post and complete the receive of each message.

use std::collections::VecDeque;
use std::iter::successors;

use paje_sim::ValueId;

use crate::classes::Class;
use crate::facts::Facts;
use crate::tracks::{Track, Tracks};

/// Times that are closer than this count as equal. This is half of SimGrid's resolution, in
/// seconds.
pub const TIME_TOLERANCE: f64 = 5e-10;

pub(crate) const NONE: u32 = u32::MAX;

/// The receiving side of a message.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The message.
    pub message: u32,
    /// State that completes the receive, or [`NONE`]. A message may end between states.
    pub(crate) recv: u32,
    /// State that posted the receive, or [`NONE`].
    pub(crate) post: u32,
    /// Whether both sides are known, so that the receiver waits for the message.
    pub is_used: bool,
    /// Whether the sender also waits for the message.
    pub is_rendezvous: bool,
    /// Whether a [loop of tests](crate::Poll) completes the receive.
    pub is_tested: bool,
    /// Start of the link, in seconds.
    pub start: f64,
    /// End of the link, in seconds. This is when the receiving call returned.
    pub end: f64,
    /// Time at which the receiver was ready, in seconds.
    pub posted: f64,
    /// Earliest start of the waiting, which is when the receiver's previous activity in the state
    /// ended.
    pub since: f64,
}

impl Received {
    /// Returns the state that completes the receive, if it is known.
    #[must_use]
    pub fn recv(&self) -> Option<usize> {
        (self.recv != NONE).then_some(self.recv as usize)
    }

    /// Returns the state that posted the receive. If the posting call is unknown, this is the state
    /// that completes the receive.
    #[must_use]
    pub fn post(&self) -> Option<usize> {
        (self.post != NONE).then_some(self.post as usize)
    }

    /// Returns the time from which the message can travel. `needs_post` says whether it has to wait
    /// for the receiver.
    #[must_use]
    pub fn begin(&self, needs_post: bool) -> f64 {
        if needs_post || self.is_rendezvous { self.start.max(self.posted) } else { self.start }
    }
}

/// Returns the messages that a track receives, ordered by receiving state and end.
#[must_use]
pub fn received(facts: &Facts<'_>, at: usize) -> Vec<Received> {
    let (tracks, messages) = (&*facts.tracks, &facts.messages);
    let track = &tracks.list()[at];
    let posting = posting(tracks, track);
    let take = |number: &u32| {
        let message = &messages.list()[*number as usize];
        Received {
            message: *number,
            recv: message.recv().map_or(NONE, |state| state as u32),
            post: NONE,
            is_used: false,
            is_rendezvous: false,
            is_tested: false,
            start: message.start,
            end: message.end,
            posted: f64::NEG_INFINITY,
            since: f64::NEG_INFINITY,
        }
    };
    let mut all: Vec<Received> = messages.received(at).iter().map(take).collect();
    all.sort_by(|a, b| a.recv.cmp(&b.recv).then_with(|| a.end.total_cmp(&b.end)));
    // Receives that have been posted but not completed, in order.
    let mut begun: VecDeque<u32> = VecDeque::new();
    let mut state = 0;
    for place in 0..all.len() {
        let Received { recv, end, .. } = all[place];
        if recv == NONE {
            // The rank was ready for all messages when the last state had ended.
            let posted = between(tracks, at, end).map_or(f64::NEG_INFINITY, |(_, begin)| begin);
            let before = place.checked_sub(1).map(|before| &all[before]);
            let before = before.filter(|before| before.recv == NONE && before.end < end);
            let since = before.map_or(posted, |before| before.end.max(posted));
            all[place] = Received { posted, since, ..all[place] };
            continue;
        }
        while state < recv {
            if posting[track.value[state as usize].index()] {
                begun.push_back(state);
            }
            state += 1;
        }
        let class = tracks.class(at, recv as usize);
        let recorded = facts.recorded.post(all[place].message as usize).map(|post| post as u32);
        let post = match (recorded, class) {
            (Some(post), _) => {
                begun.retain(|other| *other != post);
                post
            }
            (None, Class::Wait) => begun.pop_front().unwrap_or(recv),
            (None, _) => recv,
        };
        let mut since = last_within(track, recv as usize, end);
        if let Some(before) = place.checked_sub(1).map(|before| &all[before]) {
            // The previous message that the same operation received.
            let is_group = matches!(class, Class::Collective(_));
            if is_group && before.recv == recv && before.end < end {
                since = since.max(before.end);
            }
        }
        let posted = track.start[post as usize].min(end);
        all[place] = Received { post, posted, since, ..all[place] };
    }
    all
}

/// Returns the state that follows a time between states, and the end of the state before. Returns
/// `None` if an unknown call at that time may communicate. The first call begins the use of the library.
pub(crate) fn between(tracks: &Tracks<'_>, at: usize, time: f64) -> Option<(u32, f64)> {
    let track = &tracks.list()[at];
    let mut next = track.start.partition_point(|start| *start < time);
    let is_then = |state: usize| track.start[state] == time && track.end[state] == time;
    if next < track.len() && is_then(next) && !tracks.class(at, next).communicates() {
        if next > 0 {
            return None;
        }
        next = 1;
    }
    let around = successors(next.checked_sub(1), |state| track.parent(*state)).last()?;
    (track.end[around] <= time).then_some((next as u32, track.end[around]))
}

/// Divides the messages of a track into the sets of messages that one call completed at the same
/// time.
pub fn sets(all: &[Received]) -> impl Iterator<Item = &[Received]> {
    all.chunk_by(is_same).filter(|set| set[0].recv != NONE)
}

fn is_same(a: &Received, b: &Received) -> bool {
    a.recv == b.recv && (a.end - b.end).abs() <= TIME_TOLERANCE
}

/// Returns which values of a track fit, given their class and their name in lower case.
pub(crate) fn values_that(
    tracks: &Tracks<'_>,
    track: &Track,
    fit: impl Fn(Class, &[u8]) -> bool,
) -> Vec<bool> {
    let types = tracks.trace().types();
    let name = |value| types.value_name(track.type_, ValueId(value)).text.to_ascii_lowercase();
    let classes = (0..).zip(tracks.classes().of_type(track.type_));
    classes.map(|(value, class)| fit(*class, &name(value))).collect()
}

/// Returns whether a name contains one of the words.
pub(crate) fn has_word(name: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| name.windows(word.len()).any(|part| part == word.as_bytes()))
}

/// Returns which values of a track are calls that post a receive and complete none.
pub(crate) fn posting(tracks: &Tracks<'_>, track: &Track) -> Vec<bool> {
    values_that(tracks, track, |class, name| class == Class::Recv && has_word(name, &["irecv"]))
}

/// Returns which values of a track are calls that wait for at most one request.
pub(crate) fn single_waits(tracks: &Tracks<'_>, track: &Track) -> Vec<bool> {
    values_that(tracks, track, |class, name| {
        class == Class::Wait && has_word(name, &["wait"]) && !has_word(name, &["all", "some"])
    })
}

/// Returns when the last nested state that ended before `until` ended. Without such a nested state,
/// returns when the state began.
fn last_within(track: &Track, state: usize, until: f64) -> f64 {
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

//! Finds the states in which links start or end.

use super::{Message, NONE};
use crate::classes::Class;
use crate::received::{posting, single_waits};
use crate::tracks::{Forgotten, Track, Tracks};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Sending,
    Receiving,
}

impl Side {
    pub(super) fn time(self, message: &Message) -> f64 {
        match self {
            Side::Sending => message.start,
            Side::Receiving => message.end,
        }
    }

    pub(super) fn track(self, message: &Message) -> usize {
        match self {
            Side::Sending => message.from as usize,
            Side::Receiving => message.to as usize,
        }
    }

    fn takes(self, class: Class) -> bool {
        match self {
            Side::Sending => class.sends(),
            Side::Receiving => class.receives(),
        }
    }
}

/// Returns the state in which each link starts or ends, or [`NONE`]. The links must be in the order of
/// their times.
pub(super) fn states_at(
    tracks: &Tracks<'_>,
    track: usize,
    timed: &[(f64, u32)],
    side: Side,
) -> Vec<u32> {
    let classes = tracks.classes().of_type(tracks.list()[track].type_);
    let track = &tracks.list()[track];
    let posting = posting(tracks, track);
    let is_simulated = tracks.is_simulated();
    // Without posted receives, none are pending.
    let may_pend = side == Side::Receiving && posting.contains(&true);
    let mut pending = may_pend.then(|| Pending::new(tracks, track, &posting));
    let mut found = Vec::with_capacity(timed.len());
    let mut candidates = Vec::new();
    let mut next = 0;
    for same in timed.chunk_by(|a, b| a.0 == b.0) {
        let time = same[0].0;
        // `next` is the number of states entered before this time. `now` is the number of states
        // entered at this time.
        next += track.start[next..].iter().take_while(|start| **start < time).count();
        let now = track.start[next..].iter().take_while(|start| **start <= time).count();
        let moment = Moment { track, classes, posting: &posting, side, time, next, now };
        candidates.clear();
        moment.find(&mut candidates, is_simulated);
        // The first state gets surplus links.
        let more = same.len().saturating_sub(candidates.len());
        for i in 0..same.len() {
            let state = candidates.get(i.saturating_sub(more)).map_or(NONE, |(state, _)| *state);
            found.push(match &mut pending {
                Some(pending) if state != NONE => pending.take(&moment, state, &mut candidates),
                _ => state,
            });
        }
    }
    found
}

struct Moment<'a> {
    track: &'a Track,
    classes: &'a [Class],
    /// Which values are calls that only post a receive.
    posting: &'a [bool],
    side: Side,
    time: f64,
    /// Index of the first state entered at `time` or later. `now` is the number of states entered
    /// at `time`.
    next: usize,
    now: usize,
}

impl Moment<'_> {
    /// Finds the matching states. At most one of them has a duration above zero. A call that posts
    /// a receive completes none. Only if a real trace has no other state, it matches.
    fn find(&self, candidates: &mut Vec<(u32, u32)>, is_simulated: bool) {
        let takes = |state: &usize| self.side.takes(self.class(*state)) && !self.posts(*state);
        let just_then = self.just_then().filter(takes);
        match self.side {
            Side::Sending => candidates.extend(just_then.map(|state| (state as u32, 0))),
            Side::Receiving => {
                let left = |state: &usize| self.track.end[*state] == self.time;
                let before = self.before().filter(takes).find(left);
                let both = before.into_iter().chain(just_then.filter(left));
                candidates.extend(both.map(|state| (state as u32, 0)));
            }
        }
        if !candidates.is_empty() {
            return;
        }
        let in_group = |state: &usize| matches!(self.class(*state), Class::Collective(_));
        let posts = |state: &usize| !is_simulated && self.posts(*state);
        let one = self.before().find(takes);
        let one = one.or_else(|| self.before().find(in_group));
        let one = one.or_else(|| self.just_then().find(takes));
        let one = one.or_else(|| self.just_then().find(in_group));
        let one = one.or_else(|| self.before().chain(self.just_then()).find(posts));
        candidates.extend(one.map(|state| (state as u32, 0)));
    }

    fn posts(&self, state: usize) -> bool {
        self.posting[self.track.value[state].index()]
    }

    fn class(&self, state: usize) -> Class {
        self.classes[self.track.value[state].index()]
    }

    /// Returns the states that were entered before `time` and are still open. The innermost one
    /// comes first.
    fn before(&self) -> impl Iterator<Item = usize> + '_ {
        let last = self.next.checked_sub(1);
        let around = std::iter::successors(last, |state| self.track.parent(*state));
        around.filter(|state| self.track.end[*state] >= self.time)
    }

    fn just_then(&self) -> impl Iterator<Item = usize> + '_ {
        self.next..self.next + self.now
    }
}

/// Receives of a track that have been posted but not completed.
struct Pending {
    /// Which values are calls that wait for at most one request.
    singles: Vec<bool>,
    /// Number of receives posted before each state.
    posted: Vec<u32>,
    /// Number of receives that waiting calls completed.
    completed: i64,
}

impl Pending {
    fn new(tracks: &Tracks<'_>, track: &Track, posting: &[bool]) -> Self {
        let Forgotten { until, pending } = track.forgotten;
        let mut count = 0;
        let posted = track.value.iter().zip(&track.start).map(|(value, start)| {
            let before = count;
            count += u32::from(posting[value.index()] && *start >= until);
            before
        });
        let singles = single_waits(tracks, track);
        Pending { posted: posted.collect(), singles, completed: -pending }
    }

    /// Returns the state in which a link ends. If several calls waited, this is the first call that
    /// can complete a pending receive. Each candidate has the number of links that it has taken so far.
    fn take(&mut self, moment: &Moment<'_>, state: u32, candidates: &mut [(u32, u32)]) -> u32 {
        let waits = |state: u32| moment.class(state as usize) == Class::Wait;
        if !waits(state) {
            self.completed += i64::from(moment.posts(state as usize));
            return state;
        }
        let is_single = |state: u32| self.singles[moment.track.value[state as usize].index()];
        let is_free = |(state, count): &&mut (u32, u32)| {
            let is_pending = i64::from(self.posted[*state as usize]) > self.completed;
            waits(*state) && is_pending && (*count == 0 || !is_single(*state))
        };
        let free = candidates.iter_mut().find(is_free);
        self.completed += 1;
        free.map_or(state, |(state, count)| {
            *count += 1;
            *state
        })
    }
}

/// Returns how many more receives a track posts than completes between two times. `received` has the
/// receiving states of the messages that end then.
pub(super) fn pending_between(
    tracks: &Tracks<'_>,
    at: usize,
    (from, until): (f64, f64),
    received: impl Iterator<Item = usize>,
) -> i64 {
    let track = &tracks.list()[at];
    let posting = posting(tracks, track);
    let posts = |state: usize| posting[track.value[state].index()];
    let begin = |state: &usize| (from..until).contains(&track.start[*state]);
    let posted = (0..track.len()).filter(|state| begin(state) && posts(*state)).count();
    let completes = |state: &usize| tracks.class(at, *state) == Class::Wait || posts(*state);
    posted as i64 - received.filter(completes).count() as i64
}

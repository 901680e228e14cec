//! Finds the states in which links start or end.

use super::{Message, NONE};
use crate::classes::Class;
use crate::tracks::{Track, Tracks};

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

    fn takes(self, class: Class) -> bool {
        match self {
            Side::Sending => class.sends(),
            Side::Receiving => class.receives(),
        }
    }
}

/// Returns the state in which each link starts or ends, or [`NONE`]. Times must be in ascending
/// order.
pub(super) fn states_at(tracks: &Tracks<'_>, track: usize, times: &[f64], side: Side) -> Vec<u32> {
    let classes = tracks.classes().of_type(tracks.list()[track].type_);
    let track = &tracks.list()[track];
    let mut found = Vec::with_capacity(times.len());
    let mut candidates = Vec::new();
    let mut next = 0;
    for same in times.chunk_by(|a, b| a == b) {
        let time = same[0];
        // `next` is the number of states entered before this time. `now` is the number of states
        // entered at this time.
        next += track.start[next..].iter().take_while(|start| **start < time).count();
        let now = track.start[next..].iter().take_while(|start| **start <= time).count();
        let moment = Moment { track, classes, side, time, next, now };
        candidates.clear();
        moment.find(&mut candidates);
        // The first state gets surplus links.
        let more = same.len().saturating_sub(candidates.len());
        let state = |i: usize| candidates.get(i.saturating_sub(more)).copied().unwrap_or(NONE);
        found.extend((0..same.len()).map(state));
    }
    found
}

struct Moment<'a> {
    track: &'a Track,
    classes: &'a [Class],
    side: Side,
    time: f64,
    /// Index of the first state entered at `time` or later. `now` is the number of states entered
    /// at `time`.
    next: usize,
    now: usize,
}

impl Moment<'_> {
    /// Finds the matching states. At most one of them has a duration above zero.
    fn find(&self, candidates: &mut Vec<u32>) {
        let takes = |state: &usize| self.side.takes(self.class(*state));
        let just_then = self.just_then().filter(takes);
        match self.side {
            Side::Sending => candidates.extend(just_then.map(|state| state as u32)),
            Side::Receiving => {
                let left = |state: &usize| self.track.end[*state] == self.time;
                let before = self.before().filter(takes).find(left);
                let both = before.into_iter().chain(just_then.filter(left));
                candidates.extend(both.map(|state| state as u32));
            }
        }
        if !candidates.is_empty() {
            return;
        }
        let in_group = |state: &usize| matches!(self.class(*state), Class::Collective(_));
        let one = self.before().find(takes);
        let one = one.or_else(|| self.just_then().find(takes));
        let one = one.or_else(|| self.before().find(in_group));
        let one = one.or_else(|| self.just_then().find(in_group));
        candidates.extend(one.map(|state| state as u32));
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

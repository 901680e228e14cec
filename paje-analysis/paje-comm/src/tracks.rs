//! Tracks: the states of each container, with random access. They are used for the analysis of
//! message passing.
//!
//! The rows of a lane can only be visited in order. Messages and critical paths need random access,
//! so a track has a copy of the states. It takes 24 bytes per state.

mod growing;
mod read;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use paje_sim::{ContainerId, LaneView, Trace, TypeId, ValueId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::Seconds;
use crate::classes::{Class, Classes};
pub(crate) use growing::Forgotten;

/// The tracks of a trace.
#[derive(Clone, Debug)]
pub struct Tracks<'t> {
    trace: &'t Trace,
    classes: Classes,
    list: Vec<Track>,
    found: Vec<Option<u32>>,
}

/// The states of one container, in order of their start.
#[derive(Clone, Debug)]
pub struct Track {
    /// The container.
    pub container: ContainerId,
    /// Type of the states.
    pub type_: TypeId,
    /// Time at which each state was entered, in seconds.
    pub start: Vec<f64>,
    /// Time at which each state was left, in seconds.
    pub end: Vec<f64>,
    /// Value of each state.
    pub value: Vec<ValueId>,
    parent: Vec<u32>,
    last_exit: f64,
    pub(crate) forgotten: Forgotten,
}

const NONE: u32 = u32::MAX;

/// Time span of a track in which the innermost state does not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Innermost state, or `None` between states.
    pub state: Option<usize>,
    /// Start in seconds.
    pub start: f64,
    /// End in seconds.
    pub end: f64,
}

impl<'t> Tracks<'t> {
    /// Number of bytes per state.
    pub const STATE: usize = 2 * size_of::<f64>() + 2 * size_of::<u32>();

    /// Collects the tracks of all containers with states of a chosen type, in natural order of the
    /// containers' names: `rank-2` before `rank-10`.
    #[must_use]
    pub fn new(trace: &'t Trace, classes: Classes) -> Self {
        let lanes: Vec<LaneView<'t>> = trace
            .lanes()
            .filter(|lane| classes.state_type(trace, lane.container()) == Some(lane.type_id()))
            .filter(|lane| !lane.is_empty())
            .collect();
        let list: Vec<Track> = lanes.par_iter().map(|lane| Track::new(*lane)).collect();
        Tracks::of_list(trace, classes, list)
    }

    /// Adds an empty track for each of these containers that has none.
    #[must_use]
    pub fn with_others(self, containers: impl IntoIterator<Item = ContainerId>) -> Self {
        let Tracks { trace, classes, mut list, found } = self;
        let others: BTreeSet<ContainerId> = containers.into_iter().collect();
        let others = others.into_iter().filter(|container| found[container.index()].is_none());
        list.extend(others.map(Track::without_states));
        Tracks::of_list(trace, classes, list)
    }

    fn of_list(trace: &'t Trace, classes: Classes, mut list: Vec<Track>) -> Self {
        let name = |track: &Track| trace.containers().name(track.container).text;
        list.sort_by(|a, b| natural(name(a), name(b)).then(a.container.cmp(&b.container)));
        let mut found = vec![None; trace.containers().len()];
        for (at, track) in list.iter().enumerate() {
            found[track.container.index()] = Some(at as u32);
        }
        Tracks { trace, classes, list, found }
    }

    /// Returns a copy of the tracks with other times of the states. The times are given in seconds,
    /// by track and state.
    #[must_use]
    pub fn at_times(&self, start: &[Vec<f64>], end: &[Vec<f64>]) -> Self {
        let mut tracks = self.clone();
        for (track, (start, end)) in tracks.list.iter_mut().zip(start.iter().zip(end)) {
            track.start.clone_from(start);
            track.end.clone_from(end);
            track.last_exit = track.latest_end();
        }
        tracks
    }

    /// Returns the trace.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// Returns whether SimGrid wrote the trace.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.trace.comments().windows(7).any(|word| word == b"SimGrid")
    }

    /// Returns the classes of the states.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Returns the tracks, in the order of the containers' names.
    #[must_use]
    #[inline]
    pub fn list(&self) -> &[Track] {
        &self.list
    }

    /// Returns the track of a container.
    #[must_use]
    #[inline]
    pub fn of_container(&self, container: ContainerId) -> Option<usize> {
        self.found[container.index()].map(|at| at as usize)
    }

    /// Returns the class of a state of a track.
    #[must_use]
    #[inline]
    pub fn class(&self, track: usize, state: usize) -> Class {
        let track = &self.list[track];
        self.classes.class(track.type_, track.value[state])
    }

    /// Returns the times of the first enter and of the last exit, in seconds.
    #[must_use]
    pub fn span(&self) -> Option<(f64, f64)> {
        let start = self.list.iter().filter_map(|track| track.start.first().copied());
        let end = self.list.iter().map(Track::last_exit);
        Some((start.min_by(f64::total_cmp)?, end.max_by(f64::total_cmp)?))
    }
}

impl Track {
    /// Returns the number of states.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Returns whether there are no states.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Returns the next outer state of a state.
    #[must_use]
    #[inline]
    pub fn parent(&self, state: usize) -> Option<usize> {
        Some(self.parent[state]).filter(|parent| *parent != NONE).map(|parent| parent as usize)
    }

    /// Returns the states that are open at a time. First come those entered before, the innermost one first, then those
    /// entered at this time.
    pub fn open_at(&self, time: f64) -> impl Iterator<Item = usize> + '_ {
        let next = self.start.partition_point(|start| *start < time);
        let around = std::iter::successors(next.checked_sub(1), |state| self.parent(*state));
        let before = around.filter(move |state| self.end[*state] >= time);
        let now = self.start[next..].iter().take_while(move |start| **start <= time).count();
        before.chain(next..next + now)
    }

    /// Returns the time of the last exit, in seconds.
    #[must_use]
    #[inline]
    pub fn last_exit(&self) -> f64 {
        self.last_exit
    }

    fn latest_end(&self) -> f64 {
        // Outermost states end last.
        let ends =
            (0..self.len()).filter(|state| self.parent[*state] == NONE).map(|at| self.end[at]);
        ends.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the pieces that cover the time from `start` to `end` in seconds. The latest piece
    /// comes first.
    pub fn pieces_back(&self, start: f64, end: f64) -> impl Iterator<Item = Piece> + '_ {
        self.pieces_before(self.start.partition_point(|time| *time < end), start, end)
    }

    /// Returns the same pieces, if the first `ahead` states include all that start before `end`.
    pub fn pieces_before(
        &self,
        mut ahead: usize,
        start: f64,
        end: f64,
    ) -> impl Iterator<Item = Piece> + '_ {
        let mut until = end;
        std::iter::from_fn(move || {
            if until <= start {
                return None;
            }
            // Skips states that start at `until` or later.
            while ahead > 0 && self.start[ahead - 1] >= until {
                ahead -= 1;
            }
            let (mut state, mut since) = (ahead.checked_sub(1), start);
            while let Some(at) = state {
                if self.end[at] >= until {
                    since = since.max(self.start[at]);
                    break;
                }
                // The piece of an outer state begins where the last inner state ended.
                since = since.max(self.end[at]);
                state = self.parent(at);
            }
            let piece = Piece { state, start: since, end: until };
            until = since;
            Some(piece)
        })
    }

    /// Returns the exclusive time of each value between two times.
    #[must_use]
    pub fn exclusive(&self, start: f64, end: f64) -> FxHashMap<ValueId, Seconds> {
        let mut times: FxHashMap<ValueId, Seconds> = FxHashMap::default();
        for (at, value) in self.value.iter().enumerate() {
            let (from, until) = (self.start[at].max(start), self.end[at].min(end));
            if from < until {
                let time = Seconds::between(from, until);
                *times.entry(*value).or_default() += time;
                if let Some(around) = self.parent(at) {
                    *times.entry(self.value[around]).or_default() -= time;
                }
            }
        }
        times
    }
}

fn natural(a: &[u8], b: &[u8]) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (in_a, in_b) = (digits(a), digits(b));
        if in_a > 0 && in_b > 0 {
            let bare = |text: &[u8]| text.iter().take_while(|byte| **byte == b'0').count();
            let number = |text: &[u8], count: usize| {
                let zeros = bare(&text[..count]);
                (count - zeros, text[zeros..count].to_vec())
            };
            match number(a, in_a).cmp(&number(b, in_b)) {
                Ordering::Equal => (a, b) = (&a[in_a..], &b[in_b..]),
                other => return other,
            }
            continue;
        }
        match (a.split_first(), b.split_first()) {
            (Some((x, rest_a)), Some((y, rest_b))) if x == y => (a, b) = (rest_a, rest_b),
            (x, y) => return x.map(|(x, _)| x).cmp(&y.map(|(y, _)| y)),
        }
    }
}

pub(crate) fn grouped<K: Ord>(
    tracks: &Tracks<'_>,
    key: impl Fn(&Track) -> K,
) -> Vec<(K, Vec<u32>)> {
    let mut groups: BTreeMap<K, Vec<u32>> = BTreeMap::new();
    for (at, track) in tracks.list.iter().enumerate() {
        groups.entry(key(track)).or_default().push(at as u32);
    }
    let mut groups: Vec<(K, Vec<u32>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, tracks)| tracks[0]);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a track with the given start, end and imbrication of states. Each state has a
    /// different value.
    fn track(states: &[(f64, f64, usize)]) -> Track {
        let mut open: Vec<u32> = Vec::new();
        let parent = states.iter().enumerate().map(|(at, state)| {
            open.truncate(state.2);
            let parent = open.last().copied().unwrap_or(NONE);
            open.push(at as u32);
            parent
        });
        let mut track = Track {
            container: ContainerId(1),
            type_: TypeId(1),
            parent: parent.collect(),
            start: states.iter().map(|state| state.0).collect(),
            end: states.iter().map(|state| state.1).collect(),
            value: (0..states.len() as u32).map(ValueId).collect(),
            last_exit: f64::NEG_INFINITY,
            forgotten: Forgotten::NOTHING,
        };
        track.last_exit = track.latest_end();
        track
    }

    #[test]
    fn pieces_are_contiguous_and_show_innermost_states() {
        let track = track(&[
            (1.0, 9.0, 0),
            (2.0, 4.0, 1),
            (2.0, 2.0, 2),
            (3.0, 4.0, 2),
            (4.0, 4.0, 1),
            (6.0, 7.0, 1),
            (10.0, 11.0, 0),
        ]);
        let pieces = |start, end| -> Vec<(Option<usize>, f64, f64)> {
            let pieces = track.pieces_back(start, end);
            pieces.map(|piece| (piece.state, piece.start, piece.end)).collect()
        };
        assert_eq!(
            pieces(0.0, 12.0),
            [
                (None, 11.0, 12.0),
                (Some(6), 10.0, 11.0),
                (None, 9.0, 10.0),
                (Some(0), 7.0, 9.0),
                (Some(5), 6.0, 7.0),
                (Some(0), 4.0, 6.0),
                (Some(3), 3.0, 4.0),
                (Some(1), 2.0, 3.0),
                (Some(0), 1.0, 2.0),
                (None, 0.0, 1.0),
            ]
        );
        assert_eq!(
            pieces(3.5, 6.5),
            [(Some(5), 6.0, 6.5), (Some(0), 4.0, 6.0), (Some(3), 3.5, 4.0)]
        );
        assert_eq!(pieces(5.0, 5.0), []);
        let times = track.exclusive(0.0, 12.0);
        let times = [0, 1, 2, 3, 4, 5, 6]
            .map(|value| times.get(&ValueId(value)).copied().unwrap_or_default().to_f64());
        assert_eq!(times, [5.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn numbers_in_names_are_compared_by_value() {
        let mut names = ["rank-10", "rank-2", "rank-02", "rank-", "rank", "a9", "a10b", "a10a"];
        names.sort_by(|a, b| natural(a.as_bytes(), b.as_bytes()));
        assert_eq!(names, ["a9", "a10a", "a10b", "rank", "rank-", "rank-2", "rank-02", "rank-10"]);
    }
}

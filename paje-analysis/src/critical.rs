//! The critical path, which is the chain of activities that determines the length of the run.
//!
//! The path is followed backwards from the last exit. At the end of a wait, it continues in the
//! container that was waited for. Otherwise, it continues with the preceding state of the same
//! container. Therefore, the path contains no waiting and is as long as the run. If several
//! containers leave last, the path starts with the container whose last wait ended earliest.
//!
//! The imbalance of a value is its time on the path minus its mean time per container, excluding
//! waiting. The definition is that of Böhme, de Supinski, Geimer, Schulz, Wolf: *Scalable
//! critical-path based performance analysis* (2012).

mod report;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use paje_sim::{TypeId, ValueId};
use rayon::prelude::*;

use crate::Seconds;
use crate::classes::Map;
use crate::tasks::NO_FILE;
use crate::waits::Waits;

/// The critical path.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalPath {
    /// Parts in chronological order, without gaps.
    pub parts: Vec<Part>,
}

/// Explains why a trace has no critical path, and what it lacks. Returns `None` if it has a path.
#[must_use]
pub fn refusal(waits: &Waits<'_>, map: &Map) -> Option<String> {
    if map.name() == "starpu" {
        return Some(format!("no critical path, as {NO_FILE}"));
    }
    let has_dependences = waits.has_dependences();
    let why = "no critical path, as the trace has no messages and no collectives between containers; \
               record them (Pajé links), or see the time in states";
    (!has_dependences).then(|| why.into())
}

/// A part of the path within one container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Index of the container's track.
    pub track: u32,
    /// Start in seconds.
    pub start: f64,
    /// End in seconds.
    pub end: f64,
}

/// A state value, or the time between states of its type (`None`).
pub type Activity = (TypeId, Option<ValueId>);

/// Length of the path in one value of one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct OnPath {
    pub activity: Activity,
    pub track: u32,
    pub seconds: Seconds,
}

/// Length of the path in one value, compared with the time that containers spend in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imbalance {
    /// State value, or the time between states.
    pub activity: Activity,
    /// Length of the path.
    pub on_path: Seconds,
    /// Mean time per container that has states of the type, excluding waiting.
    pub mean: Seconds,
    /// Excess of the path over the mean. This is the possible gain from perfect balance.
    pub imbalance: Seconds,
    /// Imbalance times the number of containers.
    pub cost: Seconds,
}

impl CriticalPath {
    /// Finds the path. Returns `None` if there are no states.
    #[must_use]
    pub fn new(waits: &Waits<'_>) -> Option<Self> {
        let tracks = waits.facts.tracks.list();
        let (begin, end) = waits.facts.tracks.span()?;
        let last = (0..tracks.len()).filter(|track| tracks[*track].last_exit() == end);
        let waited =
            |track: &usize| waits.of_track(*track).last().map_or(f64::MIN, |wait| wait.until);
        let mut track = last.min_by(|a, b| waited(a).total_cmp(&waited(b)))?;
        // Number of waits of each track that the path has not passed yet. Each wait is used at most
        // once, even if clocks are wrong.
        let mut left: Vec<usize> =
            (0..tracks.len()).map(|track| waits.of_track(track).len()).collect();
        let (mut parts, mut until, mut release) = (Vec::new(), end, None);
        while until > begin {
            let list = waits.of_track(track);
            let behind = |at: &usize| {
                let wait = &list[*at];
                wait.until < until
                    || (wait.until == until && release.is_none_or(|state| wait.state < state))
            };
            let next = (0..left[track]).rev().find(behind);
            left[track] = next.unwrap_or(0);
            let since = next.map_or(begin, |at| list[at].until.max(begin));
            if since < until {
                parts.push(Part { track: track as u32, start: since, end: until });
            }
            let Some(wait) = next.map(|at| &list[at]) else { break };
            (track, until, release) = (wait.whom as usize, since, wait.release);
        }
        parts.reverse();
        Some(CriticalPath { parts })
    }

    fn within(&self, window: (f64, f64)) -> impl Iterator<Item = Part> + '_ {
        let clipped = self.parts.iter().map(move |part| Part {
            start: part.start.max(window.0),
            end: part.end.min(window.1),
            ..*part
        });
        clipped.filter(|part| part.start < part.end)
    }

    /// Returns the length of the path in the window.
    #[must_use]
    pub fn length(&self, window: (f64, f64)) -> Seconds {
        self.within(window).map(|part| Seconds::between(part.start, part.end)).sum()
    }

    /// Returns the length of the path in the window by value and container. The largest comes
    /// first.
    #[must_use]
    pub fn by_activity(&self, waits: &Waits<'_>, window: (f64, f64)) -> Vec<OnPath> {
        let parts: Vec<Part> = self.within(window).collect();
        let pieces = parts.par_iter().flat_map_iter(|part| {
            let track = &waits.facts.tracks.list()[part.track as usize];
            track.pieces_back(part.start, part.end).map(move |piece| {
                let activity = (track.type_, piece.state.map(|state| track.value[state]));
                ((activity, part.track), Seconds::between(piece.start, piece.end))
            })
        });
        let times = pieces.fold(BTreeMap::new, |mut times, (key, seconds)| {
            *times.entry(key).or_insert(Seconds::ZERO) += seconds;
            times
        });
        let times: BTreeMap<_, Seconds> = times.reduce(BTreeMap::new, |mut all, times| {
            for (key, seconds) in times {
                *all.entry(key).or_insert(Seconds::ZERO) += seconds;
            }
            all
        });
        let on_path = |((activity, track), seconds)| OnPath { activity, track, seconds };
        let mut list: Vec<OnPath> = times.into_iter().map(on_path).collect();
        list.sort_by_key(|on_path| Reverse(on_path.seconds));
        list
    }

    /// Returns the imbalance of each value in the window. The most costly one comes first.
    #[must_use]
    pub fn imbalance(&self, waits: &Waits<'_>, window: (f64, f64)) -> Vec<Imbalance> {
        let mut on_path: BTreeMap<Activity, Seconds> = BTreeMap::new();
        for row in self.by_activity(waits, window) {
            *on_path.entry(row.activity).or_default() += row.seconds;
        }
        let whole = waits.whole();
        let window = (window.0.max(whole.0), window.1.min(whole.1));
        let times: Vec<Vec<(Activity, Seconds)>> = (0..waits.facts.tracks.list().len())
            .into_par_iter()
            .map(|track| working_times(waits, track, window))
            .collect();
        let mut sums: BTreeMap<Activity, Seconds> = BTreeMap::new();
        for (activity, seconds) in times.into_iter().flatten() {
            *sums.entry(activity).or_default() += seconds;
        }
        let mut counts: BTreeMap<TypeId, u64> = BTreeMap::new();
        for track in waits.facts.tracks.list() {
            *counts.entry(track.type_).or_default() += 1;
        }
        let row = |(activity, on_path): (Activity, Seconds)| {
            let sum = sums.get(&activity).copied().unwrap_or_default();
            let count = counts.get(&activity.0).copied().unwrap_or_default();
            let mean = sum.mean(count);
            let imbalance = (on_path - mean).max(Seconds::ZERO);
            let all: Seconds = std::iter::repeat_n(on_path, count as usize).sum();
            let cost = if imbalance.is_zero() { imbalance } else { all - sum };
            Imbalance { activity, on_path, mean, imbalance, cost }
        };
        let mut list: Vec<Imbalance> = on_path.into_iter().map(row).collect();
        list.sort_by_key(|row| Reverse(row.cost));
        list
    }
}

fn working_times(waits: &Waits<'_>, at: usize, window: (f64, f64)) -> Vec<(Activity, Seconds)> {
    let track = &waits.facts.tracks.list()[at];
    let mut times = track.exclusive(window.0, window.1);
    let covered: Seconds = times.values().copied().sum();
    let lasting = Seconds::between(window.0, window.1.max(window.0));
    for wait in waits.of_track(at) {
        *times.entry(track.value[wait.state as usize]).or_default() -= wait.seconds_within(window);
    }
    let activity = |(value, seconds): (ValueId, Seconds)| {
        // If a state has nested states, its waiting may be longer than its exclusive time.
        ((track.type_, Some(value)), seconds.max(Seconds::ZERO))
    };
    let between = ((track.type_, None), lasting - covered);
    times.into_iter().map(activity).chain([between]).collect()
}

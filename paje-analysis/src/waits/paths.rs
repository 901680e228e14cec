//! Waits and their causes by call path.
//!
//! A delay is divided among the call paths in which a container took longer than the container that waits for it, in
//! proportion to the additional time, without waiting.

use std::collections::BTreeMap;

use paje_sim::{TypeId, ValueId};
use rustc_hash::FxHashMap;

use super::delays::Charging;
use super::tables::Total;
use super::{Kind, Wait, Waits};
use crate::Seconds;

/// Index of a call path, or [`Paths::BETWEEN`] between states.
type Path = u32;

/// Waits of one kind in a call path, and the waiting that it causes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByPath {
    /// Kind of the waits.
    pub kind: Kind,
    /// Track of the container.
    pub track: u32,
    /// Call path.
    pub path: Path,
    /// Waits of the container in the call path.
    pub total: Total,
    /// Waiting in seconds of containers that waited for longer work in the call path.
    pub delay: f64,
    /// Waiting in seconds of containers that waited for these.
    pub indirect: f64,
}

/// The call paths of all states.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Outer path and value of each path.
    list: Vec<(Path, TypeId, ValueId)>,
    /// Path of each state of each track.
    of_state: Vec<Vec<Path>>,
}

impl Paths {
    /// Number of the path between states.
    pub(crate) const BETWEEN: Path = Path::MAX;

    pub(super) fn new(waits: &Waits<'_>) -> Self {
        let mut paths = Paths::default();
        let mut numbers: FxHashMap<(Path, TypeId, ValueId), Path> = FxHashMap::default();
        for track in waits.facts.tracks.list() {
            let mut of_state: Vec<Path> = Vec::with_capacity(track.len());
            for (state, value) in track.value.iter().enumerate() {
                let outer = track.parent(state).map_or(Paths::BETWEEN, |outer| of_state[outer]);
                let step = (outer, track.type_, *value);
                let path = *numbers.entry(step).or_insert_with(|| {
                    paths.list.push(step);
                    paths.list.len() as Path - 1
                });
                of_state.push(path);
            }
            paths.of_state.push(of_state);
        }
        paths
    }

    /// Returns the names of a path's states, the outermost one first, with `/` between them.
    #[must_use]
    pub fn name(&self, waits: &Waits<'_>, path: Path) -> String {
        let types = waits.facts.tracks.trace().types();
        let step = |path: &Path| self.list.get(*path as usize).map(|step| step.0);
        let all: Vec<Path> = std::iter::successors(Some(path), step).collect();
        let steps = all.iter().rev().filter_map(|path| self.list.get(*path as usize));
        let names = steps.map(|(_, type_, value)| types.value_name(*type_, *value).to_string());
        match names.collect::<Vec<_>>().join("/") {
            empty if empty.is_empty() => "(between states)".into(),
            name => name,
        }
    }

    /// Returns for how long the container that is waited for was longer in each call path than the one that waits, since
    /// they were synchronised. Waiting does not count.
    pub(super) fn excess(&self, waits: &Waits<'_>, wait: &Wait, since: f64) -> Vec<(Path, f64)> {
        let mine = self.times(waits, wait.waiter, since, wait.from);
        let mut more = self.times(waits, wait.whom, since, wait.until);
        for (path, time) in &mut more {
            *time -= mine.get(path).copied().unwrap_or(0.0).max(0.0);
        }
        let mut more: Vec<(Path, f64)> = more.into_iter().filter(|it| it.1 > 0.0).collect();
        more.sort_unstable_by_key(|(path, _)| *path);
        if more.is_empty() {
            // Only wrong clocks make this possible.
            let state = wait.release.map(|state| self.of_state[wait.whom as usize][state as usize]);
            more.push((state.unwrap_or(Paths::BETWEEN), f64::MIN_POSITIVE));
        }
        more
    }

    /// Returns the time of a track in each path, without waiting.
    fn times(&self, waits: &Waits<'_>, at: u32, start: f64, end: f64) -> FxHashMap<Path, f64> {
        let (track, paths) = (&waits.facts.tracks.list()[at as usize], &self.of_state[at as usize]);
        let path = |state: Option<usize>| state.map_or(Paths::BETWEEN, |state| paths[state]);
        let mut times: FxHashMap<Path, f64> = FxHashMap::default();
        for piece in track.pieces_back(start, end) {
            *times.entry(path(piece.state)).or_default() += piece.end - piece.start;
        }
        let all = waits.of_track(at as usize);
        let first = all.partition_point(|wait| wait.until <= start);
        for wait in all[first..].iter().take_while(|wait| wait.until <= end) {
            *times.entry(paths[wait.state as usize]).or_default() -=
                wait.until - wait.from.max(start);
        }
        times
    }
}

impl Waits<'_> {
    /// Returns the waits in the window and their causes by kind, container and call path.
    #[must_use]
    pub fn by_path(&self, window: (f64, f64)) -> (Paths, Vec<ByPath>) {
        let paths = Paths::new(self);
        let mut rows: BTreeMap<(Kind, u32, Path), ByPath> = BTreeMap::new();
        let row = |(kind, track, path): (Kind, u32, Path)| ByPath {
            kind,
            track,
            path,
            total: Total::default(),
            delay: 0.0,
            indirect: 0.0,
        };
        for wait in self.iter() {
            let key =
                (wait.kind, wait.waiter, paths.of_state[wait.waiter as usize][wait.state as usize]);
            let seconds = wait.seconds_within(window);
            if !seconds.is_zero() {
                rows.entry(key).or_insert_with(|| row(key)).total.add(seconds);
            }
        }
        let charging = Charging::new(self, &paths);
        for kind in Kind::ALL.into_iter().filter(|kind| self.iter().any(|wait| wait.kind == *kind))
        {
            let seconds = |wait: &Wait| match wait.kind == kind {
                true => wait.seconds_within(window),
                false => Seconds::ZERO,
            };
            charging.each(seconds, |wait, charge| {
                if charge.own <= 0.0 {
                    return;
                }
                let more = paths.excess(self, wait, charge.since);
                let sum: f64 = more.iter().map(|(_, time)| time).sum();
                for (path, time) in more.into_iter().filter(|(_, time)| *time > 0.0) {
                    let key = (kind, wait.whom, path);
                    let row = rows.entry(key).or_insert_with(|| row(key));
                    row.delay += charge.direct * (time / sum);
                    row.indirect += (charge.own - charge.direct) * (time / sum);
                }
            });
        }
        (paths, rows.into_values().collect())
    }
}

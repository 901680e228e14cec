//! Collectives. If a trace records the communicators, the k-th operations of a communicator in all
//! containers that use it are one operation. Otherwise, the k-th states of a value in all
//! containers of a group count as one operation, unless their times contradict this. In that case,
//! the group is divided.

mod communicators;
mod growing;
mod parts;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use paje_sim::{ContainerId, Trace, TypeId, ValueId};
use rayon::prelude::*;

use crate::classes::{Class, Collective};
use crate::named;
use crate::recorded::Recorded;
use crate::tracks::{Track, Tracks, grouped};

pub use growing::Residuals;

/// Settings for finding collectives.
#[derive(Clone, Debug, Default)]
pub struct Grouping {
    /// Type that separates groups. Containers below the same container of this type form a group,
    /// and all containers that are not below one form another group. Without a type, the largest
    /// groups whose members agree are used (see [`Level`]).
    pub level: Option<TypeId>,
    /// Root of all rooted collectives. Without it, the root is estimated.
    pub root: Option<ContainerId>,
}

impl Grouping {
    /// Looks up the container type and the root by name or alias.
    ///
    /// # Errors
    /// Fails if the type or the root does not exist. The message refers to the options `--group`
    /// and `--root`.
    pub fn named(trace: &Trace, group: Option<&str>, root: Option<&str>) -> Result<Self, String> {
        let level = group.map(|wanted| named::container_type(trace, "--group", wanted));
        let root = root.map(|wanted| named::container(trace, "--root", wanted));
        Ok(Grouping { level: level.transpose()?, root: root.transpose()? })
    }
}

/// Containers that form a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Containers below the same container of the given type.
    #[default]
    Given,
    /// All containers that have states of the type.
    All,
    /// Containers below the same container of this depth. The root has depth 0.
    Depth(u32),
    /// Containers that use the same communicator, which the trace records.
    Recorded,
}

/// Collectives of a trace.
#[derive(Clone, Debug, Default)]
pub struct Collectives {
    /// Tracks of each group. The states of a group's tracks are all of one type.
    pub groups: Vec<Vec<u32>>,
    /// How containers were grouped.
    pub level: Level,
    /// Operations by group and value.
    pub series: Vec<Series>,
    /// Calls that begin the use of the library. No member leaves them before the last one enters.
    pub begins: Vec<Series>,
    /// Values that were not analysed.
    pub uneven: Vec<Uneven>,
}

/// Operations of one value in one group.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Series {
    /// Index of the group.
    pub group: usize,
    /// Members, which are tracks of the group, in the order of [`Series::operation`].
    pub tracks: Vec<u32>,
    pub type_: TypeId,
    pub value: ValueId,
    pub class: Collective,
    /// States of the members, one operation after the other.
    pub(crate) states: Vec<u32>,
    /// Index of the first operation's root among the members, or `None` if the collective has no
    /// root.
    pub root: Option<usize>,
    /// Number of members by which the root moves on after each operation. 0 if all operations have the
    /// same root.
    pub turn: usize,
    /// Whether the root was estimated. If false, it was given.
    pub assumed: bool,
    /// Whether the members are only a part of the group, which was found by its times.
    pub is_part: bool,
}

/// A value that occurs more often in some containers of a group than in others. Its operations
/// cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Uneven {
    pub group: usize,
    pub type_: TypeId,
    pub value: ValueId,
    /// Smallest number of states in a container of the group.
    pub least: usize,
    /// Largest number of states in a container of the group.
    pub most: usize,
}

impl Series {
    /// Returns the number of operations.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.states.len() / self.tracks.len()
    }

    /// Returns whether there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the states of operation `instance`, in the order of the members.
    #[must_use]
    #[inline]
    pub fn operation(&self, instance: usize) -> &[u32] {
        &self.states[instance * self.tracks.len()..][..self.tracks.len()]
    }
}

impl Collectives {
    /// Finds the collectives of a trace.
    #[must_use]
    pub fn new(tracks: &Tracks<'_>, grouping: &Grouping, recorded: &Recorded) -> Self {
        if grouping.level.is_none() && recorded.has_operations() {
            return communicators::series(tracks, recorded, grouping.root);
        }
        let containers = tracks.trace().containers();
        let up = |container| {
            let next =
                |id: &ContainerId| (*id != ContainerId::ROOT).then(|| containers.parent(*id));
            iter::successors(Some(container), next)
        };
        let states: Vec<States> =
            (0..tracks.list().len()).into_par_iter().map(|track| by_value(tracks, track)).collect();
        let (level, groups) = match grouping.level {
            Some(level) => {
                let around = |container| up(container).find(|id| containers.type_of(*id) == level);
                let root = ContainerId::ROOT;
                let key = |track: &Track| (around(track.container).unwrap_or(root), track.type_);
                (Level::Given, grouped(tracks, key))
            }
            None => {
                let path = |track: &Track| {
                    let mut path: Vec<ContainerId> = up(track.container).skip(1).collect();
                    path.reverse();
                    path
                };
                largest(tracks, &states, &tracks.list().iter().map(path).collect::<Vec<_>>())
            }
        };
        let mut found = Collectives { level, ..Collectives::default() };
        for ((_, type_), group) in groups {
            let values: BTreeMap<ValueId, Collective> = group
                .iter()
                .flat_map(|track| states[*track as usize].iter())
                .map(|(value, (class, _))| (*value, *class))
                .collect();
            for (value, class) in values {
                let none = Vec::new();
                let of = |track: &u32| {
                    states[*track as usize].get(&value).map_or(&none, |(_, states)| states)
                };
                let lists: Vec<&Vec<u32>> = group.iter().map(of).collect();
                let counts = lists.iter().map(|list| list.len());
                if let Some(series) = found.add((&group, type_), (value, class), counts) {
                    let count = lists.first().map_or(0, |list| list.len());
                    let operation = |at: usize| lists.iter().map(move |list| list[at]);
                    series.states = (0..count).flat_map(operation).collect();
                }
            }
            found.groups.push(group);
        }
        let divide = |mut series: Series| {
            series.find_root(tracks, grouping.root);
            series.divided(tracks)
        };
        found.series = found.series.into_par_iter().flat_map_iter(divide).collect();
        found
    }

    /// Adds a series without operations for a value of the next group, given each member's number
    /// of states. If the numbers differ, adds an uneven value.
    fn add(
        &mut self,
        (members, type_): (&[u32], TypeId),
        (value, class): (ValueId, Collective),
        counts: impl Iterator<Item = usize> + Clone,
    ) -> Option<&mut Series> {
        let group = self.groups.len();
        let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
        if least != most {
            self.uneven.push(Uneven { group, type_, value, least, most });
            return None;
        }
        self.series.push(Series {
            group,
            tracks: members.to_vec(),
            type_,
            value,
            class,
            states: Vec::new(),
            root: None,
            turn: 0,
            assumed: false,
            is_part: false,
        });
        self.series.last_mut()
    }
}

impl Series {
    /// Returns the index of an operation's root among the members, or `None` if the collective has
    /// no root.
    #[must_use]
    pub fn root_of(&self, instance: usize) -> Option<usize> {
        self.root.map(|root| (root + self.turn * instance) % self.tracks.len())
    }

    /// Returns the residual of one operation for each possible root, in nanoseconds.
    fn residuals(&self, tracks: &Tracks<'_>, instance: usize) -> Vec<i128> {
        let times = self.times(tracks, instance).into_iter();
        let times: Vec<_> = times.map(|(enter, exit)| (nanos(enter), nanos(exit))).collect();
        let mut residuals = vec![0; times.len()];
        match self.class {
            Collective::OneToN => one_to_n(&times, &mut residuals),
            _ => n_to_one(&times, &mut residuals),
        }
        residuals
    }

    /// Finds the root. If the given root is in the group, uses it. Otherwise, estimates it.
    fn find_root(&mut self, tracks: &Tracks<'_>, named: Option<ContainerId>) {
        if self.needs_root(tracks, named) {
            let mut residuals = Residuals::default();
            (0..self.len()).for_each(|instance| residuals.add(self, tracks, instance));
            residuals.choose_root(self);
        }
    }
}

/// Rounds to nanoseconds, because sums of integers are exact.
fn nanos(seconds: f64) -> i128 {
    (seconds * 1e9).round() as i128
}

/// Adds the residual of one operation to the sum of each possible root: Σ |exit − max(enter, root's
/// enter)|. Takes time O(n log n), because groups may be large.
fn one_to_n(times: &[(i128, i128)], sums: &mut [i128]) {
    let mut exits: Vec<i128> = times.iter().map(|(_, exit)| *exit).collect();
    exits.sort_unstable();
    let mut roots: Vec<usize> = (0..times.len()).collect();
    roots.sort_unstable_by_key(|root| times[*root].0);
    // If a member entered with the root or later, its residual is its duration. If it entered
    // earlier, its residual is the distance of its exit from the root's enter. The last term below
    // corrects the sign for exits before the root's enter.
    let mut later: i128 = times.iter().map(|(enter, exit)| exit - enter).sum();
    let (mut before, mut before_count, mut left, mut left_count) = (0, 0, 0, 0);
    let mut entered = roots.iter().map(|member| times[*member]).peekable();
    let mut exited = exits.iter().peekable();
    for root in roots.iter().copied() {
        let at = times[root].0;
        while let Some((enter, exit)) = entered.next_if(|(enter, _)| *enter < at) {
            (later, before, before_count) =
                (later - (exit - enter), before + exit, before_count + 1);
        }
        while let Some(exit) = exited.next_if(|exit| **exit < at) {
            (left, left_count) = (left + exit, left_count + 1);
        }
        sums[root] += later + (before - before_count * at) + 2 * (left_count * at - left);
    }
}

/// Adds the residual of one operation to the sum of each possible root, if the root waits for the
/// other members. The residual is |exit − latest enter| of the root, plus the durations of the
/// other members.
fn n_to_one(times: &[(i128, i128)], sums: &mut [i128]) {
    let all: i128 = times.iter().map(|(enter, exit)| exit - enter).sum();
    let latest = times.iter().map(|(enter, _)| *enter).max().unwrap_or(0);
    for ((enter, exit), sum) in times.iter().zip(sums) {
        *sum += all - (exit - enter) + (exit - latest).abs();
    }
}

/// Groups of tracks, by a container and the type of their states.
type Groups = Vec<((ContainerId, TypeId), Vec<u32>)>;

/// Returns the largest groups with equal numbers of collectives, most of which are in step. Without
/// such groups, returns all tracks. `paths` has the containers around each track from the root
/// down.
fn largest(tracks: &Tracks<'_>, states: &[States], paths: &[Vec<ContainerId>]) -> (Level, Groups) {
    let at = |depth: usize| -> Groups {
        let around = |track: &Track| {
            let path = &paths[tracks.of_container(track.container).unwrap_or_default()];
            path.get(depth).or(path.last()).copied().unwrap_or(ContainerId::ROOT)
        };
        grouped(tracks, |track| (around(track), track.type_))
    };
    let all = at(0);
    let agree = |groups: &Groups| {
        groups
            .iter()
            .all(|(_, group)| are_even(states, group) && are_in_step(tracks, states, group))
    };
    if agree(&all) {
        return (Level::All, all);
    }
    let deepest = paths.iter().map(Vec::len).max().unwrap_or(1);
    let found = (1..deepest)
        .map(|depth| (depth, at(depth)))
        .find(|(_, groups)| groups.iter().any(|(_, group)| group.len() > 1) && agree(groups));
    found.map_or((Level::All, all), |(depth, groups)| (Level::Depth(depth as u32), groups))
}

/// Returns whether all members have the same number of states of each collective.
fn are_even(states: &[States], group: &[u32]) -> bool {
    let counts = |track: &u32| -> Vec<(ValueId, usize)> {
        let of_track = &states[*track as usize];
        of_track.iter().map(|(value, (_, states))| (*value, states.len())).collect()
    };
    group.iter().map(counts).collect::<BTreeSet<_>>().len() < 2
}

/// Returns whether, in most operations that wait for all members, no member leaves before the last
/// member enters.
fn are_in_step(tracks: &Tracks<'_>, states: &[States], group: &[u32]) -> bool {
    let (mut count, mut in_step) = (0_usize, 0_usize);
    let Some(first) = group.first() else { return true };
    for (value, (class, list)) in &states[*first as usize] {
        if !matches!(class, Collective::NxN | Collective::Barrier) {
            continue;
        }
        // Latest enter and first exit of each operation. The states of a track are adjacent in memory.
        let mut times = vec![(f64::MIN, f64::MAX); list.len()];
        for track in group {
            let states = states[*track as usize].get(value).map_or(&[][..], |(_, states)| states);
            let track = &tracks.list()[*track as usize];
            for ((enter, exit), state) in times.iter_mut().zip(states) {
                *enter = enter.max(track.start[*state as usize]);
                *exit = exit.min(track.end[*state as usize]);
            }
        }
        count += times.len();
        in_step += times.iter().filter(|(enter, exit)| enter <= exit).count();
    }
    2 * in_step >= count
}

/// Collectives of a track by value.
type States = BTreeMap<ValueId, (Collective, Vec<u32>)>;

fn by_value(tracks: &Tracks<'_>, track: usize) -> States {
    let track = &tracks.list()[track];
    let classes = tracks.classes().of_type(track.type_);
    let mut found = States::new();
    for (state, value) in track.value.iter().enumerate() {
        if let Class::Collective(class) = classes[value.index()] {
            found.entry(*value).or_insert((class, Vec::new())).1.push(state as u32);
        }
    }
    found
}

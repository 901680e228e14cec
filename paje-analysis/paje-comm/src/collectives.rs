//! Collectives. Traces record no communicators. Therefore, the k-th states of a value in all
//! containers of a group are taken as one operation, unless their times contradict this. In that
//! case, the group is divided.

mod parts;

use std::collections::BTreeMap;
use std::iter;

use paje_sim::{ContainerId, Name, Trace, TypeId, TypeNature, ValueId};
use rayon::prelude::*;

use crate::classes::{Class, Collective};
use crate::tracks::{Tracks, grouped};

/// Settings for finding collectives.
#[derive(Clone, Debug, Default)]
pub struct Grouping {
    /// If a type is given, containers below the same container of this type form a group. All
    /// containers that are not below a container of this type form another group. Without a type,
    /// containers with the same parent form a group.
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
        let (types, containers) = (trace.types(), trace.containers());
        let is = |name: Name<'_>, alias: Option<Name<'_>>, wanted: &str| {
            name.text == wanted.as_bytes()
                || alias.is_some_and(|alias| alias.text == wanted.as_bytes())
        };
        let level = group.map(|wanted| {
            let mut all = types.ids().filter(|id| types.nature(*id) == TypeNature::Container);
            let found = all.find(|id| is(types.name(*id), types.alias(*id), wanted));
            found.ok_or_else(|| format!("--group: there is no container type `{wanted}`"))
        });
        let root = root.map(|wanted| {
            let mut all = containers.ids();
            let found = all.find(|id| is(containers.name(*id), containers.alias(*id), wanted));
            found.ok_or_else(|| format!("--root: there is no container `{wanted}`"))
        });
        Ok(Grouping { level: level.transpose()?, root: root.transpose()? })
    }
}

/// Collectives of a trace.
#[derive(Clone, Debug, Default)]
pub struct Collectives {
    /// Tracks of each group. The states of a group's tracks are all of one type.
    pub groups: Vec<Vec<u32>>,
    /// Operations by group and value.
    pub series: Vec<Series>,
    /// Values that were not analysed.
    pub uneven: Vec<Uneven>,
}

/// Operations of one value in one group.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Series {
    /// Index of the group.
    pub group: usize,
    /// Members, which are tracks of the group.
    pub tracks: Vec<u32>,
    pub type_: TypeId,
    pub value: ValueId,
    pub class: Collective,
    /// States of the members, one operation after the other.
    pub(crate) states: Vec<u32>,
    /// Index of the first operation's root among the members, if the collective is rooted.
    pub root: Option<usize>,
    /// Whether the root rotates through the members. Otherwise, all operations have the same
    /// root.
    pub is_turning: bool,
    /// Whether the root was estimated rather than given.
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
    pub fn new(tracks: &Tracks<'_>, grouping: &Grouping) -> Self {
        let containers = tracks.trace().containers();
        let around = |container| match grouping.level {
            None => containers.parent(container),
            Some(level) => {
                let next =
                    |id: &ContainerId| (*id != ContainerId::ROOT).then(|| containers.parent(*id));
                let mut up = iter::successors(Some(container), next);
                up.find(|id| containers.type_of(*id) == level).unwrap_or(ContainerId::ROOT)
            }
        };
        let groups = grouped(tracks, |track| (around(track.container), track.type_));
        let states: Vec<_> =
            (0..tracks.list().len()).into_par_iter().map(|track| by_value(tracks, track)).collect();
        let mut found = Collectives::default();
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
                let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
                let at = found.groups.len();
                if least != most {
                    found.uneven.push(Uneven { group: at, type_, value, least, most });
                    continue;
                }
                let states = (0..most).flat_map(|instance| lists.iter().map(move |l| l[instance]));
                found.series.push(Series {
                    group: at,
                    type_,
                    value,
                    class,
                    states: states.collect(),
                    tracks: group.clone(),
                    root: None,
                    is_turning: false,
                    assumed: false,
                    is_part: false,
                });
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

    /// Returns the tracks of a series, in the order of [`Series::operation`].
    #[must_use]
    #[inline]
    pub fn members<'s>(&self, series: &'s Series) -> &'s [u32] {
        &series.tracks
    }
}

impl Series {
    /// Returns the index of an operation's root among the members, if the collective is
    /// rooted.
    #[must_use]
    pub fn root_of(&self, instance: usize) -> Option<usize> {
        let turned = if self.is_turning { instance } else { 0 };
        self.root.map(|root| (root + turned) % self.tracks.len())
    }

    /// Uses the given root if it is in the group. Otherwise, takes the member with the smallest sum
    /// of residuals. If a rotating root reduces the sum to less than four fifths, takes the
    /// rotating root.
    fn find_root(&mut self, tracks: &Tracks<'_>, named: Option<ContainerId>) {
        let group = &self.tracks;
        if !matches!(self.class, Collective::OneToN | Collective::NToOne) {
            return;
        }
        let named = named.and_then(|named| tracks.of_container(named));
        let named = named.and_then(|named| group.iter().position(|track| *track as usize == named));
        self.assumed = named.is_none();
        if named.is_some() {
            self.root = named;
            return;
        }
        let mut sums = vec![0; group.len()];
        // Indexed by the root of the first operation if roots rotate.
        let (mut turning, mut of_one) = (sums.clone(), sums.clone());
        for instance in 0..self.len() {
            let times = |(track, state): (&u32, &u32)| {
                let track = &tracks.list()[*track as usize];
                (nanos(track.start[*state as usize]), nanos(track.end[*state as usize]))
            };
            let times: Vec<_> = group.iter().zip(self.operation(instance)).map(times).collect();
            of_one.fill(0);
            match self.class {
                Collective::OneToN => one_to_n(&times, &mut of_one),
                _ => n_to_one(&times, &mut of_one),
            }
            for (member, sum) in of_one.iter().enumerate() {
                sums[member] += sum;
                let first = (member + group.len() - instance % group.len()) % group.len();
                turning[first] += sum;
            }
        }
        let least = |sums: &[i128]| (0..group.len()).min_by_key(|member| sums[*member]);
        self.root = least(&sums);
        let turned = least(&turning);
        if let (Some(root), Some(first)) = (self.root, turned)
            && self.len() > 2
            && 5 * turning[first] < 4 * sums[root]
        {
            (self.root, self.is_turning) = (turned, true);
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
    let mut by_enter = times.to_vec();
    by_enter.sort_unstable();
    let mut exits: Vec<i128> = times.iter().map(|(_, exit)| *exit).collect();
    exits.sort_unstable();
    let mut roots: Vec<usize> = (0..times.len()).collect();
    roots.sort_unstable_by_key(|root| times[*root].0);
    // For members that entered with the root or later, the residual is the member's duration. For
    // members that entered earlier, it is the distance of the member's exit from the root's enter.
    // The last term below corrects the sign for exits before the root's enter.
    let mut later: i128 = times.iter().map(|(enter, exit)| exit - enter).sum();
    let (mut before, mut before_count, mut left, mut left_count) = (0, 0, 0, 0);
    let (mut entered, mut exited) = (by_enter.iter().peekable(), exits.iter().peekable());
    for root in roots {
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

/// Adds the residual of one operation in which the root waits for the other members, for each
/// possible root. The residual is |exit − latest enter| of the root, plus the durations of the other
/// members.
fn n_to_one(times: &[(i128, i128)], sums: &mut [i128]) {
    let all: i128 = times.iter().map(|(enter, exit)| exit - enter).sum();
    let latest = times.iter().map(|(enter, _)| *enter).max().unwrap_or(0);
    for ((enter, exit), sum) in times.iter().zip(sums) {
        *sum += all - (exit - enter) + (exit - latest).abs();
    }
}

fn by_value(tracks: &Tracks<'_>, track: usize) -> BTreeMap<ValueId, (Collective, Vec<u32>)> {
    let track = &tracks.list()[track];
    let classes = tracks.classes().of_type(track.type_);
    let mut found: BTreeMap<ValueId, (Collective, Vec<u32>)> = BTreeMap::new();
    for (state, value) in track.value.iter().enumerate() {
        if let Class::Collective(class) = classes[value.index()] {
            found.entry(*value).or_insert((class, Vec::new())).1.push(state as u32);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_of_broadcasts_equal_their_definition() {
        let mut state = 7_u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as i128 % i128::from(bound)
        };
        for _ in 0..500 {
            let count = 1 + next(8) as usize;
            let times: Vec<_> = (0..count)
                .map(|_| {
                    let enter = next(10);
                    (enter, enter + next(10))
                })
                .collect();
            let mut sums = vec![0; count];
            one_to_n(&times, &mut sums);
            for (root, sum) in sums.iter().enumerate() {
                let at = times[root].0;
                let residual = |(enter, exit): &(i128, i128)| (exit - (*enter).max(at)).abs();
                assert_eq!(*sum, times.iter().map(residual).sum::<i128>(), "{root} of {times:?}");
            }
        }
    }
}

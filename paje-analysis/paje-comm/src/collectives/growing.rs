//! Collectives of which only a part is in memory.

use std::collections::{BTreeMap, BTreeSet};

use paje_sim::{ContainerId, ValueId};

use super::{Collectives, Level, Series};
use crate::classes::{Class, Collective};
use crate::tracks::{Tracks, grouped};

/// Sums of the residuals of possible roots over operations.
#[derive(Clone, Debug, Default)]
pub struct Residuals {
    sums: Vec<i128>,
    /// If roots rotate, the index is the root of the first operation.
    turning: Vec<i128>,
    count: usize,
}

impl Residuals {
    /// Adds the next operation of a series.
    pub fn add(&mut self, series: &Series, tracks: &Tracks<'_>, instance: usize) {
        let count = series.tracks.len();
        self.sums.resize(count, 0);
        self.turning.resize(count, 0);
        for (member, sum) in series.residuals(tracks, instance).iter().enumerate() {
            self.sums[member] += sum;
            self.turning[(member + count - self.count % count) % count] += sum;
        }
        self.count += 1;
    }

    /// Takes the member with the smallest sum of residuals as the root, or a rotating root if that
    /// reduces the sum to less than four fifths.
    pub fn choose_root(&self, series: &mut Series) {
        let least = |sums: &[i128]| (0..sums.len()).min_by_key(|member| sums[*member]);
        series.root = least(&self.sums).or(Some(0));
        let turned = least(&self.turning);
        if let (Some(root), Some(first)) = (series.root, turned)
            && self.count > 2
            && 5 * self.turning[first] < 4 * self.sums[root]
        {
            (series.root, series.turn) = (turned, 1);
        }
    }
}

impl Series {
    /// Returns whether the root must be estimated. Sets the root if it is given and in the group.
    pub fn needs_root(&mut self, tracks: &Tracks<'_>, named: Option<ContainerId>) -> bool {
        if !matches!(self.class, Collective::OneToN | Collective::NToOne) {
            return false;
        }
        let named = named.and_then(|named| tracks.of_container(named));
        let group = &self.tracks;
        let named = named.and_then(|named| group.iter().position(|track| *track as usize == named));
        (self.root, self.assumed) = (named, named.is_none());
        self.assumed
    }

    /// Adds an operation with these states.
    pub fn push(&mut self, states: impl IntoIterator<Item = u32>) {
        self.states.extend(states);
    }

    /// Removes the first operations, and changes the numbers of the others' states. Each track has
    /// the new number of each of its states, which exist.
    pub fn remove_first(&mut self, count: usize, numbers: &[Vec<Option<u32>>]) {
        let members = self.tracks.len();
        self.states.drain(..count * members);
        for (at, state) in self.states.iter_mut().enumerate() {
            let numbers = &numbers[self.tracks[at % members] as usize];
            *state = numbers[*state as usize].unwrap_or(*state);
        }
        self.root = self.root.map(|root| (root + self.turn * count) % members);
    }
}

impl Collectives {
    /// Returns the series of a trace without their operations, as [`Collectives::new`] groups them
    /// if it finds that all tracks form one group. `counts` has the number of states of each track
    /// and value. The flag is true if other groups are possible.
    #[must_use]
    pub fn planned(
        tracks: &Tracks<'_>,
        counts: &[BTreeMap<ValueId, usize>],
    ) -> (Collectives, bool) {
        let mut found = Collectives { level: Level::All, ..Collectives::default() };
        for (type_, group) in grouped(tracks, |track| track.type_) {
            let of = |track: &u32| counts[*track as usize].keys().copied();
            let values: BTreeSet<ValueId> = group.iter().flat_map(of).collect();
            for value in values {
                let Class::Collective(class) = tracks.classes().class(type_, value) else {
                    continue;
                };
                let counts =
                    group.iter().map(|it| counts[*it as usize].get(&value).copied().unwrap_or(0));
                found.add((&group, type_), (value, class), counts);
            }
            found.groups.push(group);
        }
        let containers = tracks.trace().containers();
        let root = ContainerId::ROOT;
        let is_deep = |at: ContainerId| at != root && containers.parent(at) != root;
        let is_deep = tracks.list().iter().any(|track| is_deep(track.container));
        (found, is_deep)
    }
}

//! Finds the operations of communicators that a trace records.

use std::collections::BTreeMap;

use paje_sim::ContainerId;

use super::{Collectives, Level, Series, Uneven};
use crate::classes::{Class, Collective};
use crate::recorded::{Operation, Recorded};
use crate::tracks::Tracks;

/// Returns the operations of each communicator, by value and root. MPI requires that all members call the operations of
/// a communicator in the same order.
pub(super) fn series(
    tracks: &Tracks<'_>,
    recorded: &Recorded,
    root: Option<ContainerId>,
) -> Collectives {
    let mut members: BTreeMap<(u32, bool), Vec<Member>> = BTreeMap::new();
    for (track, operations) in (0..).zip(recorded.operations()) {
        for operation in operations {
            let key = (operation.communicator, operation.is_begin);
            let members = members.entry(key).or_default();
            match members.last_mut() {
                Some((last, all)) if *last == track => all.push(*operation),
                _ => members.push((track, vec![*operation])),
            }
        }
    }
    let mut found = Collectives { level: Level::Recorded, ..Collectives::default() };
    for ((_, is_begin), members) in members {
        add(tracks, &mut found, &members, is_begin);
    }
    // The root may be unknown to the trace.
    found
        .series
        .iter_mut()
        .filter(|it| it.root.is_none())
        .for_each(|it| it.find_root(tracks, root));
    found
}

/// A track that uses a communicator, and its operations.
type Member = (u32, Vec<Operation>);

/// Adds the operations of a communicator.
fn add(tracks: &Tracks<'_>, found: &mut Collectives, members: &[Member], is_begin: bool) {
    let group = found.groups.len();
    let tracks_of: Vec<u32> = members.iter().map(|(track, _)| *track).collect();
    let counts = members.iter().map(|(_, operations)| operations.len());
    let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    let mut places = BTreeMap::new();
    for instance in 0..least {
        let all = members.iter().map(|(track, operations)| (*track, operations[instance]));
        let class =
            |(track, it): (u32, Operation)| match tracks.class(track as usize, it.state as usize) {
                Class::Collective(kind) => Some(kind),
                _ => it.is_begin.then_some(Collective::Barrier),
            };
        let (first, operation) = (members[0].0 as usize, members[0].1[instance]);
        let Some(kind) = class((members[0].0, operation)) else { continue };
        let track = &tracks.list()[first];
        let (type_, value) = (track.type_, track.value[operation.state as usize]);
        if all.clone().any(|it| class(it) != Some(kind)) {
            // The members call different operations, so the later ones cannot be found.
            found.uneven.push(Uneven { group, type_, value, least: instance, most });
            break;
        }
        let root = operation.root.and_then(|root| tracks_of.binary_search(&root).ok());
        let place = *places.entry((value, root)).or_insert_with(|| {
            let list = if is_begin { &mut found.begins } else { &mut found.series };
            list.push(Series {
                group,
                tracks: tracks_of.clone(),
                type_,
                value,
                class: kind,
                states: Vec::new(),
                root,
                turn: 0,
                assumed: false,
                is_part: false,
            });
            list.len() - 1
        });
        let list = if is_begin { &mut found.begins } else { &mut found.series };
        list[place].states.extend(all.map(|(_, operation)| operation.state));
    }
    found.groups.push(tracks_of);
}

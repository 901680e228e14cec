//! Maps ranks of communicators to locations.

use rustc_hash::FxHashMap;

use crate::definitions::{Definition, Definitions, definition};
use crate::record::UNDEFINED;
use crate::table::Reference;

/// Types of groups.
mod group {
    pub(super) const COMM_LOCATIONS: u64 = 4;
    pub(super) const COMM_GROUP: u64 = 5;
    pub(super) const COMM_SELF: u64 = 6;
    pub(super) const COMM_LOCATION_GROUPS: u64 = 7;
}

/// Finds the locations of ranks.
#[derive(Debug, Default)]
pub struct Ranks {
    /// For each paradigm, the locations of its ranks. Their group may share its identifier with
    /// another one, which was defined later.
    worlds: FxHashMap<u64, Vec<u64>>,
}

impl Ranks {
    /// Creates it from the definitions of an archive.
    #[must_use]
    pub fn new(definitions: &Definitions) -> Ranks {
        let mut main = FxHashMap::default();
        for location in definitions.of(definition::LOCATION) {
            main.entry(location.fields[4]).or_insert(location.fields[0]);
        }
        let mut worlds = FxHashMap::default();
        for it in definitions.of(definition::GROUP) {
            let [.., type_, paradigm] = *it.fields.first_chunk::<6>().unwrap_or(&[0; 6]);
            let members = it.list.iter().map(|entry| entry.value);
            let locations = match type_ {
                group::COMM_LOCATIONS => members.collect(),
                group::COMM_LOCATION_GROUPS => {
                    members.map(|id| main.get(&id).copied().unwrap_or(UNDEFINED)).collect()
                }
                _ => continue,
            };
            worlds.entry(paradigm).or_insert(locations);
        }
        Ranks { worlds }
    }

    /// Returns the location of a rank in a communicator, for an event of the location `of`.
    #[must_use]
    pub fn location(
        &self,
        definitions: &Definitions,
        comm: u64,
        rank: u64,
        of: u64,
    ) -> Option<u64> {
        let comm = definitions.get(Reference::Comm, comm)?;
        let group_of = |field: usize| definitions.get(Reference::Group, comm.fields[field]);
        let group = match comm.kind {
            definition::INTER_COMM => {
                let (a, b) = (group_of(2)?, group_of(3)?);
                // The rank refers to the other side's group.
                if self.has(a, of) { b } else { a }
            }
            _ => group_of(2)?,
        };
        self.member(group, rank, of)
    }

    /// Returns the location of a rank in a group.
    pub(crate) fn member(&self, group: &Definition, rank: u64, of: u64) -> Option<u64> {
        let member = || group.list.get(usize::try_from(rank).ok()?).map(|it| it.value);
        let world = |rank: u64| {
            let world = self.worlds.get(&group.fields[5])?;
            world.get(usize::try_from(rank).ok()?).copied().filter(|id| *id != UNDEFINED)
        };
        match group.fields[4] {
            group::COMM_SELF => Some(of).filter(|_| rank == 0),
            group::COMM_LOCATIONS => member(),
            // A flag says that ranks are ranks of the world.
            group::COMM_GROUP if group.fields[6] & 1 != 0 => world(rank),
            group::COMM_GROUP => world(member()?),
            _ => None,
        }
    }

    /// Returns whether a location is a member of a group.
    fn has(&self, group: &Definition, location: u64) -> bool {
        (0..group.list.len() as u64)
            .any(|rank| self.member(group, rank, location) == Some(location))
    }
}

//! Identifiers of tracks. They are hashes of names, so runs with the same containers have the same
//! identifiers.

use std::collections::{HashMap, HashSet};

use paje_sim::{ContainerId, TypeId};

/// Number of bits of an identifier. Each event contains an identifier, encoded with seven bits per
/// byte.
const BITS: u32 = 28;

#[derive(Debug, Default)]
pub(super) struct Uuids {
    used: HashSet<u64>,
    containers: Vec<u64>,
    tracks: HashMap<(ContainerId, TypeId), u64>,
}

impl Uuids {
    pub(super) fn container(&self, id: ContainerId) -> Option<u64> {
        self.containers.get(id.index()).copied().filter(|uuid| *uuid != 0)
    }

    pub(super) fn track(&self, container: ContainerId, type_: TypeId) -> Option<u64> {
        self.tracks.get(&(container, type_)).copied()
    }

    pub(super) fn add_container(
        &mut self,
        id: ContainerId,
        parent: u64,
        type_: &[u8],
        identifier: &[u8],
    ) -> u64 {
        let uuid = self.unused(&[b"container", type_, identifier], parent);
        if self.containers.len() <= id.index() {
            self.containers.resize(id.index() + 1, 0);
        }
        self.containers[id.index()] = uuid;
        uuid
    }

    pub(super) fn add_track(
        &mut self,
        container: ContainerId,
        type_: TypeId,
        parent: u64,
        identifier: &[u8],
    ) -> u64 {
        let uuid = self.unused(&[b"track", identifier], parent);
        self.tracks.insert((container, type_), uuid);
        uuid
    }

    /// Returns an unused identifier that depends only on the names and the parent.
    fn unused(&mut self, names: &[&[u8]], parent: u64) -> u64 {
        let mut hash = hash(names, parent);
        loop {
            let uuid = (hash ^ hash >> BITS) & ((1 << BITS) - 1);
            if uuid != 0 && self.used.insert(uuid) {
                return uuid;
            }
            hash = hash.wrapping_mul(PRIME).wrapping_add(1);
        }
    }
}

const PRIME: u64 = 0x100_0000_01b3;

/// Returns the FNV-1a hash of names, which must stay the same in all releases.
fn hash(names: &[&[u8]], parent: u64) -> u64 {
    let parent = parent.to_le_bytes();
    // The byte 0xff separates names, because it does not occur in UTF-8.
    let bytes = names.iter().flat_map(|name| name.iter().chain(&[0xff]));
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    parent.iter().chain(bytes).fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_depend_only_on_names() {
        let make = || {
            let mut uuids = Uuids::default();
            let first = uuids.add_container(ContainerId(1), 0, b"Host", b"a");
            let inner = uuids.add_container(ContainerId(2), first, b"Host", b"a");
            let track = uuids.add_track(ContainerId(2), TypeId(3), inner, b"State");
            assert_eq!(uuids.container(ContainerId(2)), Some(inner));
            assert_eq!(uuids.track(ContainerId(2), TypeId(3)), Some(track));
            assert_eq!(uuids.container(ContainerId(0)), None);
            [first, inner, track]
        };
        let numbers = make();
        assert_eq!(numbers, make());
        assert!(numbers.iter().all(|number| *number > 0 && *number < 1 << BITS));
    }

    #[test]
    fn containers_with_the_same_name_have_different_identifiers() {
        let mut uuids = Uuids::default();
        let all: HashSet<u64> = (1..1000)
            .map(|id| uuids.add_container(ContainerId(id), 0, b"Host", b"again"))
            .collect();
        assert_eq!(all.len(), 999);
    }
}

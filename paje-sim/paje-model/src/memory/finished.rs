//! Rows of a completely replayed trace.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::memory::{Arena, Extras, KeyPlace, Overflow, Rows, Store};
use crate::names::ids::LaneId;
use crate::names::options::Keeps;

#[derive(Debug, Default)]
pub struct FinishedRows {
    pub lanes: Vec<FinishedLane>,
    pub stores: Vec<Store>,
    pub links: Vec<Arena>,
    /// Start of each variable's current value. Only filled if the trace continues after these rows.
    pub open_variables: FxHashMap<LaneId, f64>,
    pub overflow: Option<Arc<Overflow>>,
}

/// Rows of a lane. It is small, because there may be millions of lanes.
#[derive(Debug, Default)]
pub struct FinishedLane {
    /// The rows, or none if the lane was not selected.
    pub rows: Rows,
    pub memory: Memory,
}

#[derive(Clone, Copy, Debug)]
pub enum Memory {
    /// Index in [`FinishedRows::stores`].
    Store(u16),
    /// Index in [`FinishedRows::links`].
    Links(u16),
}

impl Default for Memory {
    fn default() -> Self {
        Memory::Store(0)
    }
}

impl FinishedRows {
    pub fn rows(&self, lane: LaneId) -> &Rows {
        &self.lanes[lane.index()].rows
    }

    pub fn arena(&self, lane: LaneId) -> &Arena {
        match self.lanes[lane.index()].memory {
            Memory::Store(store) => &self.stores[usize::from(store)].arena,
            Memory::Links(links) => &self.links[usize::from(links)],
        }
    }

    /// Returns the user-defined fields of a lane's rows, if such fields are kept. For links, see
    /// [`extras_of_link`](Self::extras_of_link).
    pub fn extras(&self, lane: LaneId) -> Option<&Extras> {
        let store = match self.lanes[lane.index()].memory {
            Memory::Store(store) => store,
            Memory::Links(_) => 0,
        };
        self.stores[usize::from(store)].extras.as_ref()
    }

    /// Returns the user-defined fields of the link with this key, if such fields are kept.
    pub fn extras_of_link(&self, key: KeyPlace) -> Option<&Extras> {
        self.stores[key.shard()].extras.as_ref()
    }

    #[inline(always)]
    pub fn key(&self, key: KeyPlace) -> &[u8] {
        self.stores[key.shard()].keys.get(key.place())
    }

    pub fn keeps(&self) -> Keeps {
        let extras = self.stores.first().and_then(|store| store.extras.as_ref());
        extras.map_or(Keeps::default(), Extras::keeps)
    }

    /// Drops file-backed rows from memory if the limit is exceeded.
    pub fn relieve(&self) {
        let Some(overflow) = &self.overflow else { return };
        let stores = self.stores.iter().flat_map(Store::arenas);
        overflow.relieve(|| stores.clone().chain(&self.links));
    }

    /// Returns the size in bytes of the file for rows beyond the memory limit.
    pub fn spilled(&self) -> u64 {
        self.overflow.as_ref().map_or(0, |overflow| overflow.spilled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_small() {
        assert!(size_of::<FinishedLane>() <= 24, "{} bytes", size_of::<FinishedLane>());
    }
}

//! The rows of a trace as its replay left them.
//!
//! Nothing here knows how rows come about: a lane has its rows in one of several memories, and the keys of links and
//! what users defined hang on them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::memory::{Arena, Extras, KeyPlace, Overflow, Rows, Store};
use crate::names::ids::LaneId;
use crate::names::options::Keeps;

/// All rows, lane by lane.
#[derive(Debug, Default)]
pub struct FinishedRows {
    pub lanes: Vec<FinishedLane>,
    /// The memory of all lanes but those of links, and the texts of all.
    pub stores: Vec<Store>,
    /// The memory of lanes of links.
    pub links: Vec<Arena>,
    /// The values that variables still have, where a trace goes on: since when.
    pub open_variables: FxHashMap<LaneId, f64>,
    /// Where rows went that memory had no room for.
    pub overflow: Option<Arc<Overflow>>,
}

/// The rows of a lane. There may be millions: see `lanes_are_small`.
#[derive(Debug, Default)]
pub struct FinishedLane {
    /// None if nobody wanted them.
    pub rows: Rows,
    pub memory: Memory,
}

/// Which memory a lane's rows lie in.
#[derive(Clone, Copy, Debug)]
pub enum Memory {
    /// One of [`FinishedRows::stores`].
    Store(u16),
    /// One of [`FinishedRows::links`].
    Links(u16),
}

impl Default for Memory {
    fn default() -> Self {
        Memory::Store(0)
    }
}

impl FinishedRows {
    /// The rows of a lane.
    pub fn rows(&self, lane: LaneId) -> &Rows {
        &self.lanes[lane.index()].rows
    }

    /// The memory that the rows of a lane lie in.
    pub fn arena(&self, lane: LaneId) -> &Arena {
        match self.lanes[lane.index()].memory {
            Memory::Store(store) => &self.stores[usize::from(store)].arena,
            Memory::Links(links) => &self.links[usize::from(links)],
        }
    }

    /// User-defined fields of a lane's rows, if they are kept; those of links is [elsewhere](Self::extras_of_link).
    pub fn extras(&self, lane: LaneId) -> Option<&Extras> {
        let store = match self.lanes[lane.index()].memory {
            Memory::Store(store) => store,
            Memory::Links(_) => 0,
        };
        self.stores[usize::from(store)].extras.as_ref()
    }

    /// User-defined fields of the link that has this key, if they are kept.
    pub fn extras_of_link(&self, key: KeyPlace) -> Option<&Extras> {
        self.stores[key.shard()].extras.as_ref()
    }

    /// The key of a link, as it was written.
    #[inline(always)]
    pub fn key(&self, key: KeyPlace) -> &[u8] {
        self.stores[key.shard()].keys.get(key.place())
    }

    /// The parts of events that are kept beside their objects.
    pub fn keeps(&self) -> Keeps {
        let extras = self.stores.first().and_then(|store| store.extras.as_ref());
        extras.map_or(Keeps::default(), Extras::keeps)
    }

    /// Lets go of what memory has of rows that lie in a file, if it is too much.
    pub fn relieve(&self) {
        let Some(overflow) = &self.overflow else { return };
        let stores = self.stores.iter().flat_map(Store::arenas);
        overflow.relieve(|| stores.clone().chain(&self.links));
    }

    /// Bytes of the file that holds rows which memory had no room for.
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

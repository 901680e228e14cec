use paje_parser::TypeNature;

use crate::model::Model;
use crate::names::ids::{ContainerId, LaneId, TypeId};
use crate::names::prefetch::prefetch;

#[derive(Clone, Copy, Debug)]
pub struct Lane {
    pub container: ContainerId,
    pub type_: TypeId,
    /// Previous lane of the same container. The first lane refers to itself.
    before: LaneId,
}

/// Number of containers from which prefetching pays off. Fewer containers stay in a second-level cache.
const MANY_CONTAINERS: usize = 10_000;

/// A container with at most this number of lanes is searched lane by lane.
const FEW_LANES: usize = 8;

impl Model {
    pub(super) fn open_lane(&mut self, container: ContainerId, type_: TypeId) -> LaneId {
        let id = LaneId(self.lanes.len() as u32);
        let before = self.containers.last_lane(container).unwrap_or(id);
        self.lanes.push(Lane { container, type_, before });
        self.containers.set_last_lane(container, id);
        match self.lanes_of(container).take(FEW_LANES + 2).count() {
            ..=FEW_LANES => {}
            count if count == FEW_LANES + 1 => {
                let all: Vec<LaneId> = self.lanes_of(container).collect();
                let owner = |lane: &LaneId| (container, self.lanes[lane.index()].type_);
                self.by_owner.extend(all.iter().map(|lane| (owner(lane), *lane)));
            }
            _ => {
                self.by_owner.insert((container, type_), id);
            }
        }
        id
    }

    fn type_of(&self, lane: LaneId) -> TypeId {
        self.lanes[lane.index()].type_
    }

    pub fn nature(&self, lane: LaneId) -> TypeNature {
        self.types.nature(self.type_of(lane))
    }

    /// Returns the byte offset of the event that ended a lane's container, or `u64::MAX` while the container lives.
    pub fn ended_at(&self, lane: LaneId) -> u64 {
        self.containers.ended_at(self.lanes[lane.index()].container)
    }

    /// Returns the lane of a container and a type, if the lane has any event.
    pub fn find_lane(&self, container: ContainerId, type_: TypeId) -> Option<LaneId> {
        let mut lanes = self.lanes_of(container);
        let found = lanes.by_ref().take(FEW_LANES).find(|lane| self.type_of(*lane) == type_);
        found.or_else(|| {
            lanes.next()?;
            self.by_owner.get(&(container, type_)).copied()
        })
    }

    /// Prefetches memory that a search for the lanes of containers reads. The hashes are those of the containers'
    /// identifiers.
    pub fn prefetch_containers(&self, hashes: impl Iterator<Item = u64>) {
        if self.containers.len() <= MANY_CONTAINERS {
            return;
        }
        let found = self.containers.prefetch(hashes);
        let last = found.into_iter().filter_map(|id| self.containers.last_lane(id));
        prefetch(last.map(|lane| self.lanes[lane.index()].before.0));
    }

    /// Returns all lanes, in the order of their first events.
    pub fn lane_ids(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..self.lanes.len() as u32).map(LaneId)
    }

    /// Returns the lanes of a container, the latest lane first.
    pub fn lanes_of(&self, container: ContainerId) -> impl Iterator<Item = LaneId> + '_ {
        let last = self.containers.last_lane(container);
        std::iter::successors(last, |lane| {
            let before = self.lanes[lane.index()].before;
            (before != *lane).then_some(before)
        })
    }
}

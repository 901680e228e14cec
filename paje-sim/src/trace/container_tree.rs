//! Lanes by their containers.

use crate::trace::Trace;
use crate::trace::lane::Lane;
use paje_model::names::ids::{ContainerId, LaneId};

impl Trace {
    /// Returns the lanes of a container, in the order of their first events. Lanes of its children are not included.
    pub fn lanes_of(&self, container: ContainerId) -> impl Iterator<Item = Lane<'_>> {
        let mut lanes: Vec<LaneId> = self.model.lanes_of(container).collect();
        lanes.reverse();
        lanes.into_iter().map(|lane| Lane::new(self, lane))
    }

    /// Returns the lanes of a container and its descendants, one container after another, in the order of
    /// [`Containers::within`](crate::Containers::within).
    pub fn lanes_within(&self, container: ContainerId) -> impl Iterator<Item = Lane<'_>> {
        self.containers().within(container).flat_map(|inner| self.lanes_of(inner))
    }
}

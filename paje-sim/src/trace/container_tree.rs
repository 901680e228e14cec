//! The tree of containers, gone through from any of them, and the lanes in it.

use crate::model::containers::Containers;
use crate::names::ids::{ContainerId, LaneId};
use crate::trace::Trace;
use crate::trace::lane::LaneView;

impl Containers {
    /// A container and all that is in it, at any depth: each before what is in it, and the
    /// [children](Containers::children) of one in the order of their creation.
    pub fn within(&self, id: ContainerId) -> impl Iterator<Item = ContainerId> + '_ {
        let mut stack = vec![id];
        std::iter::from_fn(move || {
            let next = stack.pop()?;
            let first = stack.len();
            stack.extend(self.children(next));
            stack[first..].reverse();
            Some(next)
        })
    }
}

impl Trace {
    /// The lanes of a container, in the order of their first events; those of the containers in it are not
    /// among them.
    pub fn lanes_of(&self, container: ContainerId) -> impl Iterator<Item = LaneView<'_>> {
        let mut lanes: Vec<LaneId> = self.model.lanes_of(container).collect();
        lanes.reverse();
        lanes.into_iter().map(|lane| LaneView::new(self, lane))
    }

    /// The lanes of a container and of all that is in it, container after container in the order of
    /// [`Containers::within`].
    pub fn lanes_within(&self, container: ContainerId) -> impl Iterator<Item = LaneView<'_>> {
        self.containers().within(container).flat_map(|inner| self.lanes_of(inner))
    }
}

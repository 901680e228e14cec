use std::fmt;

use paje_parser::TypeNature;

use super::Trace;
use paje_model::memory::{Arena, Chunk};
use paje_model::names::ids::{ContainerId, LaneId, TypeId, ValueId};
use paje_model::names::text::Name;

/// One lane of a trace.
#[derive(Clone, Copy)]
pub struct Lane<'t> {
    pub(super) trace: &'t Trace,
    pub(super) id: LaneId,
}

impl fmt::Debug for Lane<'_> {
    /// Does not format the trace, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lane").field(&self.id.0).finish()
    }
}

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

impl<'t> Lane<'t> {
    pub(crate) const fn new(trace: &'t Trace, id: LaneId) -> Self {
        Lane { trace, id }
    }

    /// Returns the lane's number.
    #[must_use]
    pub const fn id(self) -> LaneId {
        self.id
    }

    /// Returns the trace.
    #[must_use]
    pub const fn trace(self) -> &'t Trace {
        self.trace
    }

    /// Returns the container of the objects.
    #[must_use]
    pub fn container(self) -> ContainerId {
        self.trace.model.lanes[self.id.index()].container
    }

    /// Returns the type of the objects.
    #[must_use]
    pub fn type_id(self) -> TypeId {
        self.trace.model.lanes[self.id.index()].type_
    }

    /// Returns the nature of the type.
    #[must_use]
    pub fn nature(self) -> TypeNature {
        self.trace.nature(self.id)
    }

    /// Returns the name of the container.
    #[must_use]
    pub fn container_name(self) -> Name<'t> {
        self.trace.containers().name(self.container())
    }

    /// Returns the name of the type.
    #[must_use]
    pub fn type_name(self) -> Name<'t> {
        self.trace.types().name(self.type_id())
    }

    /// Returns the number of objects.
    #[must_use]
    pub fn len(self) -> u64 {
        self.trace.rows.rows(self.id).len(self.arena())
    }

    /// Returns the number of complete objects. In a portion (see [`Trace::read_in_portions`]), open
    /// states are not complete.
    #[must_use]
    #[doc(hidden)]
    pub fn completed(self) -> u64 {
        if self.nature() != TypeNature::State {
            return self.len();
        }
        let complete = |end: &&u64| !f64::from_bits(**end).is_nan();
        let chunks = self.trace.rows.rows(self.id).chunks_from(self.arena(), 0);
        let ends = chunks.map(|chunk| self.arena().words(chunk.place, chunk.size(), chunk.count()));
        ends.map(|ends| ends.iter().filter(complete).count() as u64).sum()
    }

    /// Returns whether the lane has no objects because all its events were ignored.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.trace.rows.rows(self.id).is_empty()
    }

    /// Returns the start of an object, in the [unit of the trace](Trace::time_scale).
    ///
    /// # Panics
    /// The lane has no object `row`, counted from 0.
    #[must_use]
    pub fn start(self, row: u64) -> f64 {
        assert!(row < self.len(), "the lane has {} objects", self.len());
        // The row exists, and the first column of every chunk holds the start or the time.
        let found = self.trace.rows.rows(self.id).find(self.arena(), row);
        found.map_or(0.0, |(chunk, index)| {
            f64::from_bits(self.arena().get(chunk.place.after(index)))
        })
    }

    pub(crate) fn arena(self) -> &'t Arena {
        self.trace.rows.arena(self.id)
    }

    /// Returns the end of a variable's last value in a chunk. `next` is the next chunk.
    pub(crate) fn last_end(self, next: Option<&Chunk>) -> f64 {
        let current = || self.trace.rows.open_variables.get(&self.id).copied();
        let next = next.map(|next| f64::from_bits(self.arena().get(next.place)));
        let end = next.or_else(current);
        end.unwrap_or_else(|| self.trace.containers().end(self.container()))
    }

    /// Returns the name of one of the type's values.
    #[must_use]
    pub fn value_name(self, value: ValueId) -> Name<'t> {
        self.trace.types().value_name(self.type_id(), value)
    }
}

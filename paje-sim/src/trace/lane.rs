//! One lane of a trace.

use std::fmt;

use paje_parser::TypeNature;

use super::Trace;
use crate::memory::{Arena, Chunk};
use crate::names::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::names::text::Name;

/// One lane of a trace.
#[derive(Clone, Copy)]
pub struct LaneView<'t> {
    pub(super) trace: &'t Trace,
    pub(super) id: LaneId,
}

impl fmt::Debug for LaneView<'_> {
    /// Without the trace, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LaneView").field(&self.id.0).finish()
    }
}

impl<'t> LaneView<'t> {
    pub(crate) const fn new(trace: &'t Trace, id: LaneId) -> Self {
        LaneView { trace, id }
    }

    /// The lane's number.
    #[must_use]
    pub const fn id(self) -> LaneId {
        self.id
    }

    /// The trace that it belongs to.
    #[must_use]
    pub const fn trace(self) -> &'t Trace {
        self.trace
    }

    /// The container that the objects are in.
    #[must_use]
    pub fn container(self) -> ContainerId {
        self.trace.model.lanes[self.id.index()].container
    }

    /// The type that the objects are of.
    #[must_use]
    pub fn type_id(self) -> TypeId {
        self.trace.model.lanes[self.id.index()].type_
    }

    /// The nature of that type.
    #[must_use]
    pub fn nature(self) -> TypeNature {
        self.trace.nature(self.id)
    }

    /// The name of the container that the objects are in.
    #[must_use]
    pub fn container_name(self) -> Name<'t> {
        self.trace.containers().name(self.container())
    }

    /// The name of the type that the objects are of.
    #[must_use]
    pub fn type_name(self) -> Name<'t> {
        self.trace.types().name(self.type_id())
    }

    /// Number of objects of the lane.
    #[must_use]
    pub fn len(self) -> u64 {
        self.trace.rows.rows(self.id).len(self.arena())
    }

    /// Number of objects of the lane that are complete: in a portion (see [`Trace::read_in_portions`]), states that
    /// are still open are not.
    #[must_use]
    pub fn completed(self) -> u64 {
        if self.nature() != TypeNature::State {
            return self.len();
        }
        let complete = |end: &&u64| !f64::from_bits(**end).is_nan();
        let chunks = self.trace.rows.rows(self.id).chunks_from(self.arena(), 0);
        let ends = chunks.map(|chunk| self.arena().words(chunk.place, chunk.size(), chunk.count()));
        ends.map(|ends| ends.iter().filter(complete).count() as u64).sum()
    }

    /// Tells whether the lane has no objects: its events were all ignored.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.trace.rows.rows(self.id).is_empty()
    }

    /// The start of an object, in seconds.
    ///
    /// # Panics
    /// The lane has no object `row`, counted from 0.
    #[must_use]
    pub fn start(self, row: u64) -> f64 {
        assert!(row < self.len(), "the lane has {} objects", self.len());
        // There is such a row, and start or time is every chunk's first column.
        let found = self.trace.rows.rows(self.id).find(self.arena(), row);
        found.map_or(0.0, |(chunk, index)| {
            f64::from_bits(self.arena().get(chunk.place.behind(index)))
        })
    }

    /// Where the lane's objects are.
    pub(crate) fn arena(self) -> &'t Arena {
        self.trace.rows.arena(self.id)
    }

    /// Until when a variable has the last value of a chunk; `next` is the chunk behind it.
    pub(crate) fn last_end(self, next: Option<&Chunk>) -> f64 {
        let current = || self.trace.rows.open_variables.get(&self.id).copied();
        let next = next.map(|next| f64::from_bits(self.arena().get(next.place)));
        let end = next.or_else(current);
        end.unwrap_or_else(|| self.trace.containers().end(self.container()))
    }

    /// The name of one of the type's values.
    #[must_use]
    pub fn value_name(self, value: ValueId) -> Name<'t> {
        self.trace.types().value_name(self.type_id(), value)
    }
}

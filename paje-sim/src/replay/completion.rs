//! Links that have both their ends, on their way to the home of their lane.

use crate::memory::NewLink;
use crate::names::ids::LaneId;

/// A link that has both its ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    /// The byte and the time of the event that completed it.
    pub(crate) at: u64,
    pub(crate) time: f64,
    pub(crate) lane: LaneId,
    pub(crate) link: NewLink,
}

/// The home of a link lane's rows.
pub(crate) fn home_of(lane: LaneId, homes: usize) -> usize {
    lane.index() % homes
}

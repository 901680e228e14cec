//! Links that have both their ends, on their way to the home of their lane.

use crate::lanes::refusal::{Refusal, Refused};
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

impl Completion {
    /// Time up to which the lane's last link, of this start and end, lasts, if this one is completed earlier.
    pub(crate) fn is_before(&self, last: Option<(f64, f64)>) -> Option<f64> {
        let (start, end) = last?;
        (self.time < start || self.time < end).then_some(start.max(end))
    }

    /// The refusal of a link that is completed before this time.
    pub(crate) const fn refused(&self, last: f64) -> Refusal {
        let Completion { at, lane, time, .. } = *self;
        Refusal { at, lane, time, why: Refused::Earlier(last) }
    }
}

/// The home of a link lane's rows.
pub(crate) fn home_of(lane: LaneId, homes: usize) -> usize {
    lane.index() % homes
}

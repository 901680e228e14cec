//! Completed links on their way to the merger of their lane.

use crate::lanes::refusal::{Refusal, Refused};
use crate::memory::NewLink;
use crate::names::ids::LaneId;

/// A completed link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    /// Byte and time of the event that completed it.
    pub(crate) at: u64,
    pub(crate) time: f64,
    pub(crate) lane: LaneId,
    pub(crate) link: NewLink,
}

impl Completion {
    /// Returns the end of the lane's last link, given by its two times, if this link completes earlier.
    pub(crate) fn is_before(&self, last: Option<(f64, f64)>) -> Option<f64> {
        let (start, end) = last?;
        (self.time < start || self.time < end).then_some(start.max(end))
    }

    /// Makes the refusal of a link that completes before this time.
    pub(crate) const fn refused(&self, last: f64) -> Refusal {
        let Completion { at, lane, time, .. } = *self;
        Refusal { at, lane, time, why: Refused::Earlier(last) }
    }
}

/// Returns the merger of a link lane.
pub(crate) fn merger_of(lane: LaneId, homes: usize) -> usize {
    lane.index() % homes
}

use crate::lanes::refusal::{Refusal, Refused};
use paje_model::memory::NewLink;
use paje_model::names::ids::LaneId;

#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Byte offset and time of the event that completed the link.
    pub at: u64,
    pub time: f64,
    pub lane: LaneId,
    pub link: NewLink,
}

impl Completion {
    /// If this link completes earlier than the lane's last link, returns the end of the last link. `last` are the times
    /// of the last link.
    pub(crate) fn is_before(&self, last: Option<(f64, f64)>) -> Option<f64> {
        let (start, end) = last?;
        (self.time < start || self.time < end).then_some(start.max(end))
    }

    pub(crate) const fn refused(&self, last: f64) -> Refusal {
        let Completion { at, lane, time, .. } = *self;
        Refusal { at, lane, time, why: Refused::Earlier(last) }
    }
}

pub(crate) fn merger_of(lane: LaneId, homes: usize) -> usize {
    lane.index() % homes
}

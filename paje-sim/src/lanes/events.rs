//! Events of one container and type: points in time.

use crate::lanes::refusal::Refused;
use crate::memory::Written;
use crate::names::ids::ValueId;

/// Replay of an event lane.
#[derive(Debug)]
pub(crate) struct EventLane {
    last: f64,
}

impl Default for EventLane {
    fn default() -> Self {
        EventLane { last: f64::NEG_INFINITY }
    }
}

impl EventLane {
    #[inline]
    pub(crate) fn add(
        &mut self,
        lane: &mut Written<'_>,
        time: f64,
        value: ValueId,
    ) -> Result<(), Refused> {
        if time < self.last {
            return Err(Refused::Earlier(self.last));
        }
        self.last = time;
        lane.store.event(lane.rows, time, value);
        Ok(())
    }
}

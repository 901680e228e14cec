use crate::lanes::refusal::Refused;
use paje_model::memory::Written;
use paje_model::names::ids::ValueId;

#[derive(Debug)]
pub struct EventLane {
    last: f64,
}

impl Default for EventLane {
    fn default() -> Self {
        EventLane { last: f64::NEG_INFINITY }
    }
}

impl EventLane {
    #[inline]
    pub fn add(
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

//! Events of one container and type: points in time.

use crate::columns::Rows;
use crate::engine::strand::Refused;
use crate::ids::ValueId;
use crate::store::Store;

/// The replay of one event lane.
#[derive(Debug)]
pub(crate) struct EventLane {
    pub(crate) rows: Rows,
    last: f64,
}

impl Default for EventLane {
    fn default() -> Self {
        EventLane { rows: Rows::default(), last: f64::NEG_INFINITY }
    }
}

impl EventLane {
    #[inline]
    pub(crate) fn add(
        &mut self,
        store: &mut Store,
        time: f64,
        value: ValueId,
        extra: u32,
    ) -> Result<(), Refused> {
        if time < self.last {
            return Err(Refused::Earlier(self.last));
        }
        self.last = time;
        store.event(&mut self.rows, time, value, extra);
        Ok(())
    }
}

//! When things happen in the trace that is written.

use paje_sim::{ContainerId, LaneId, LaneView, Trace};

/// When things happen in the trace that is written, where that is not as recorded. Rows are counted from 0.
pub trait Times {
    /// The times when a state begins and ends, of what was recorded; `None` if there is none any more.
    fn state(&self, _lane: LaneView<'_>, _row: u64, recorded: (f64, f64)) -> Option<(f64, f64)> {
        Some(recorded)
    }

    /// The times when a link starts and ends; `None` if there is none any more.
    fn link(
        &self,
        _lane: LaneId,
        _row: u64,
        _ends: (ContainerId, ContainerId),
        recorded: (f64, f64),
    ) -> Option<(f64, f64)> {
        Some(recorded)
    }

    /// Tells whether links stay in the order of their rows; else they come in the order of their times.
    fn keeps_order(&self) -> bool {
        true
    }

    /// The time when something else happens in a container.
    fn within(&self, _container: ContainerId, recorded: f64) -> f64 {
        recorded
    }

    /// The times when a container is created and when it ends.
    fn container(&self, trace: &Trace, container: ContainerId) -> (f64, f64) {
        (trace.containers().start(container), trace.containers().end(container))
    }

    /// The time when the trace ends.
    fn end(&self, trace: &Trace) -> f64 {
        trace.end()
    }
}

/// The recorded times.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsRecorded;

impl Times for AsRecorded {}

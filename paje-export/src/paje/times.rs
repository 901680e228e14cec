use paje_sim::{ContainerId, LaneId, LaneView, Trace};

/// Times in the written trace, by default the recorded ones. Rows are counted from 0.
pub trait Times {
    /// Returns the start and end of a state, or `None` to leave the state out.
    fn state(&self, _lane: LaneView<'_>, _row: u64, recorded: (f64, f64)) -> Option<(f64, f64)> {
        Some(recorded)
    }

    /// Returns the start and end of a link, or `None` to leave the link out.
    fn link(
        &self,
        _lane: LaneId,
        _row: u64,
        _ends: (ContainerId, ContainerId),
        recorded: (f64, f64),
    ) -> Option<(f64, f64)> {
        Some(recorded)
    }

    /// Returns whether links keep the order of their rows. Otherwise, the links are sorted by time.
    fn keeps_order(&self) -> bool {
        true
    }

    /// Returns the time of a variable or an event in a container.
    fn within(&self, _container: ContainerId, recorded: f64) -> f64 {
        recorded
    }

    /// Returns the start and end of a container.
    fn container(&self, trace: &Trace, container: ContainerId) -> (f64, f64) {
        (trace.containers().start(container), trace.containers().end(container))
    }

    /// Returns the end of the trace.
    fn end(&self, trace: &Trace) -> f64 {
        trace.end()
    }
}

/// Leaves all times as recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsRecorded;

impl Times for AsRecorded {}

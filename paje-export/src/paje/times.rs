use paje_sim::{ContainerId, LaneId, LaneView, Selected, Trace};

use super::needed_containers;

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

    /// Returns whether types, values and containers keep their aliases, which determine the order
    /// of rows.
    /// Otherwise, they get short ones.
    fn keeps_aliases(&self) -> bool {
        false
    }

    /// For each container, returns whether it is written. `lanes` are the selected lanes with rows.
    fn needed(&self, trace: &Trace, selected: &Selected, lanes: &[LaneView<'_>]) -> Vec<bool> {
        needed_containers(trace, selected, lanes.iter().copied())
    }

    /// Returns the end of the trace.
    fn end(&self, trace: &Trace) -> f64 {
        trace.end()
    }

    /// Returns the name of an unused event type whose definition marks the end of the trace. By
    /// default, a PajeTraceFile without a name marks it, which some programs do not know.
    fn end_type(&self) -> Option<&str> {
        None
    }
}

/// Leaves all times as recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsRecorded;

impl Times for AsRecorded {}

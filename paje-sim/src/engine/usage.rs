//! Facts about the usage of definitions that only the engine knows.

use super::Engine;

impl Engine<'_> {
    /// Records what the lanes found doubtful in the replay, if usage is kept. The `last` call
    /// checks everything.
    pub(super) fn settle_usage(&mut self, last: bool) {
        if let Some(usage) = &mut self.read.usage {
            let has_warnings = !self.findings.warnings.is_empty();
            usage.is_doubtful |= has_warnings || self.lanes.may_reuse_keys(last);
        }
    }

    /// Counts the states that are open at the end of the trace, if usage is kept.
    pub(super) fn count_open_states(&mut self) {
        if self.read.usage.is_none() {
            return;
        }
        let mut open = 0;
        for container in self.model.containers.ids() {
            if !self.model.containers.is_destroyed(container) {
                let lanes = self.model.lanes_of(container);
                open += lanes.map(|lane| self.lanes.open_values(lane).len() as u64).sum::<u64>();
            }
        }
        if let Some(usage) = &mut self.read.usage {
            usage.open_states = open;
        }
    }
}

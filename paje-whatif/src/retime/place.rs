//! The place of a container in a run that is timed again.

use crate::walk::Walk;

/// A container on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) walk: Walk,
    /// The recorded time of the last step.
    pub(super) last: f64,
    /// Delay of that in the changed run, in seconds.
    pub(super) shift: f64,
    /// True if it waits.
    pub(super) is_blocked: bool,
}

impl Place {
    /// The shift of the next step: it does not come before this one, unless it was recorded so.
    pub(super) fn not_before(&self, time: f64, shift: f64) -> f64 {
        let is_before = time >= self.last && time + shift < self.last + self.shift;
        if is_before { self.last + self.shift - time } else { shift }
    }
}

//! Position of a container during re-timing.

use paje_analysis::tracks::Track;

use crate::steps::{Kind, Step};

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// Number of the next step, and number of acts before it.
    pub(super) next: u32,
    pub(super) acts: u32,
    /// Innermost open state, or [`NONE`].
    open: u32,
    /// Recorded time of the last step.
    pub(super) last: f64,
    /// Delay of the last step in the changed run, in seconds.
    pub(super) shift: f64,
    pub(super) is_blocked: bool,
}

impl Cursor {
    pub(super) fn at(time: f64) -> Self {
        Cursor { next: 0, acts: 0, open: NONE, last: time, shift: 0.0, is_blocked: false }
    }

    pub(super) fn innermost(&self) -> Option<u32> {
        (self.open != NONE).then_some(self.open)
    }

    pub(super) fn take(&mut self, step: &Step<'_>, track: &Track, shift: f64) {
        match step.kind {
            Kind::Open => self.open = step.state,
            Kind::Within => {}
            Kind::Close => {
                let parent = track.parent(step.state as usize);
                self.open = parent.map_or(NONE, |parent| parent as u32);
            }
        }
        self.next += 1;
        self.acts += step.acts.len() as u32;
        (self.last, self.shift) = (step.time, shift);
    }

    /// Returns the shift of the next step. The step does not come before the last one, unless it
    /// did so in the recorded run.
    pub(super) fn not_before(&self, time: f64, shift: f64) -> f64 {
        let is_before = time >= self.last && time + shift < self.last + self.shift;
        if is_before { self.last + self.shift - time } else { shift }
    }
}

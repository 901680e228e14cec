//! The states of tasks, by job id.

use paje_sim::{LaneView, States, Trace, Visitor};
use rustc_hash::FxHashMap;

use super::Job;
use crate::classes::Class;
use crate::tracks::{Track, Tracks};

/// States with job ids.
pub(super) struct Found<'r> {
    pub(super) indices: &'r FxHashMap<Job, u32>,
    /// Worker and state of each task.
    pub(super) states: Vec<Option<(u32, u32)>>,
    /// Number of the first state of the current slice.
    pub(super) first: u32,
}

impl Found<'_> {
    /// Finds the states of a worker.
    pub(super) fn worker(&mut self, tracks: &Tracks<'_>, track: usize, worker: u32, trace: &Trace) {
        let Track { container, type_, .. } = &tracks.list()[track];
        let Some(lane) = trace.lane(*container, *type_) else { return };
        self.first = 0;
        let is_task = |state: u32| tracks.class(track, state as usize) == Class::Compute;
        let mut visitor = JobStates { found: self, worker, is_task };
        let Ok(()) = lane.visit(&mut visitor);
    }
}

struct JobStates<'f, 'r, F> {
    found: &'f mut Found<'r>,
    worker: u32,
    is_task: F,
}

impl<F: Fn(u32) -> bool> Visitor for JobStates<'_, '_, F> {
    type Error = std::convert::Infallible;

    fn states(&mut self, _: LaneView<'_>, states: States<'_>) -> Result<(), Self::Error> {
        for at in 0..states.start.len() {
            let state = self.found.first + at as u32;
            let mut fields = states.user_defined.of(at);
            let job = fields.find(|(name, _)| *name == "JobId").map(|(_, text)| text);
            let job = job.and_then(|text| Job::parse(text.trim_ascii()));
            if let Some(index) = job.and_then(|job| self.found.indices.get(&job))
                && (self.is_task)(state)
            {
                // The other workers of a parallel task have states with the same id.
                self.found.states[*index as usize].get_or_insert((self.worker, state));
            }
        }
        self.found.first += states.start.len() as u32;
        Ok(())
    }
}

//! The states of tasks, by job id.

use rustc_hash::FxHashMap;

use super::Job;
use crate::classes::Class;
use crate::tracks::{Track, Tracks};

/// States with job ids.
pub(super) struct Found<'r> {
    pub(super) indices: &'r FxHashMap<Job, u32>,
    /// Worker and state of each task.
    pub(super) states: Vec<Option<(u32, u32)>>,
}

impl Found<'_> {
    /// Finds the states of a worker.
    pub(super) fn worker(&mut self, tracks: &Tracks<'_>, track: usize, worker: u32) {
        let Track { container, type_, .. } = &tracks.list()[track];
        let Some(lane) = tracks.trace().lane(*container, *type_) else { return };
        for (state, number) in lane.states().zip(0..) {
            let job = state.field("JobId").and_then(|text| Job::parse(text.trim_ascii()));
            if let Some(index) = job.and_then(|job| self.indices.get(&job))
                && tracks.class(track, number as usize) == Class::Compute
            {
                // The other workers of a parallel task have states with the same id.
                self.states[*index as usize].get_or_insert((worker, number));
            }
        }
    }
}

//! Which lines of which file come too late for a container that was destroyed.
//!
//! A destruction makes later lines for its container be ignored, in its own file. Files are read one
//! after the other, but nothing says that what stands in one happened before what stands in the next:
//! so lines of other files count, unless the destruction came before any file was named. A file may
//! repeat the destruction, and then its own later lines are ignored too.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::model::Model;
use crate::names::ids::{ContainerId, LaneId};

/// The destructions that files repeated, as far as the lines at hand can be of those files.
///
/// An event that ended containers, its *ending*, is known by the byte where its line begins.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    /// The byte where a file was first named; `None` if none was.
    pub(crate) named_from: Option<u64>,
    /// The bytes of repetitions of an ending, which hold for all that it ended.
    endings: FxHashMap<u64, Vec<u64>>,
    /// Repetitions that ended something themselves, which their files had created: what they repeat.
    joined: FxHashMap<u64, u64>,
    /// The bytes of repetitions that hold only for some of what an ending ended.
    containers: FxHashMap<ContainerId, Vec<u64>>,
    lanes: FxHashMap<LaneId, Vec<u64>>,
}

impl Cuts {
    /// True if an ending is for all lines after it, whatever file they are in.
    pub(crate) fn is_final(&self, ended_at: u64) -> bool {
        self.named_from.is_none_or(|named| ended_at < named)
    }

    /// Of the lines of a file that begin at these bytes, those after which nothing counts for a lane
    /// whose container was ended at `ended_at`; `None` if all count. What begins at `at` is `lines.end`
    /// at most.
    #[inline(never)]
    pub(crate) fn first(&self, lane: LaneId, ended_at: u64, lines: Range<u64>) -> Option<u64> {
        if lines.contains(&ended_at) || self.is_final(ended_at) {
            return Some(ended_at);
        }
        let within = |cuts: Option<&Vec<u64>>| {
            let mut cuts = cuts.into_iter().flatten().copied();
            cuts.find(|cut| lines.contains(cut))
        };
        let all = within(self.endings.get(&self.first_of(ended_at)));
        let own = within(self.lanes.get(&lane));
        all.into_iter().chain(own).min()
    }

    /// The ending that this one repeats; itself if it repeats none.
    fn first_of(&self, ending: u64) -> u64 {
        self.joined.get(&ending).copied().unwrap_or(ending)
    }

    /// A repetition ended what its file had created, as the ending at `ended_at` would have.
    pub(crate) fn join(&mut self, repetition: u64, ended_at: u64) {
        self.joined.insert(repetition, self.first_of(ended_at));
    }

    /// A file that begins at `start` repeats, at `at`, the destruction of a container. Returns whether
    /// it does so for the first time.
    pub(crate) fn repeat(
        &mut self,
        model: &Model,
        container: ContainerId,
        start: u64,
        at: u64,
    ) -> bool {
        let containers = &model.containers;
        let ended_at = self.first_of(containers.ended_at(container));
        let said = |cuts: Option<&Vec<u64>>| {
            cuts.is_some_and(|cuts| cuts.last().is_some_and(|last| *last >= start))
        };
        if said(self.containers.get(&container)) || said(self.endings.get(&ended_at)) {
            return false;
        }
        if containers.is_ended_by_name(container) {
            self.endings.entry(ended_at).or_default().push(at);
            return true;
        }
        // It ended with one that it is in, and this file may say that of it alone.
        let mut pending = vec![container];
        while let Some(next) = pending.pop() {
            if said(self.containers.get(&next)) {
                continue;
            }
            if self.first_of(containers.ended_at(next)) == ended_at {
                self.containers.entry(next).or_default().push(at);
                for lane in model.lanes_of(next) {
                    self.lanes.entry(lane).or_default().push(at);
                }
            }
            pending.extend(containers.children(next));
        }
        true
    }

    /// There is a new lane.
    pub(crate) fn learn(&mut self, lane: LaneId, container: ContainerId) {
        if let Some(cuts) = self.containers.get(&container) {
            self.lanes.insert(lane, cuts.clone());
        }
    }

    /// Forgets what is only about files that end before byte `start`.
    pub(crate) fn forget(&mut self, start: u64) {
        let recent = |cuts: &mut Vec<u64>| {
            cuts.retain(|cut| *cut >= start);
            !cuts.is_empty()
        };
        self.endings.retain(|_, cuts| recent(cuts));
        self.containers.retain(|_, cuts| recent(cuts));
        self.lanes.retain(|_, cuts| recent(cuts));
    }
}

//! Destructions that several files repeat, and lines that come too late because of them.
//!
//! After a destruction, later lines of the same file for that container are ignored. Lines of other
//! files still count, unless the destruction came before the first reference to a file: the events
//! of files that are read one after the other may have happened at the same time. If another file
//! repeats the destruction, its later
//! lines are ignored as well.

use std::ops::Range;

use rustc_hash::FxHashMap;

use paje_model::model::Model;
use paje_model::names::ids::{ContainerId, LaneId};

/// An *ending* is an event that ended containers. The byte offset of its line identifies it.
#[derive(Debug, Default)]
pub struct RepeatedDestructions {
    /// Byte offset of the first line that refers to another file.
    pub named_from: Option<u64>,
    /// For each ending, the byte offsets of repetitions that apply to all containers of the ending.
    endings: FxHashMap<u64, Vec<u64>>,
    /// For each repetition that ended new containers of the repeating file, the ending that it repeats.
    joined: FxHashMap<u64, u64>,
    /// For single containers, the byte offsets of repetitions that apply to them.
    containers: FxHashMap<ContainerId, Vec<u64>>,
    lanes: FxHashMap<LaneId, Vec<u64>>,
}

impl RepeatedDestructions {
    /// Returns whether an ending applies to all later lines, in any file.
    pub fn is_final(&self, ended_at: u64) -> bool {
        self.named_from.is_none_or(|named| ended_at < named)
    }

    /// Returns the byte offset after which a file's `lines` are ignored for a lane whose container ended at `ended_at`.
    /// Returns `None` if all lines count.
    #[inline(never)]
    pub fn first(&self, lane: LaneId, ended_at: u64, lines: Range<u64>) -> Option<u64> {
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

    /// Returns the ending that this ending repeats, or the ending itself if it is no repetition.
    fn first_of(&self, ending: u64) -> u64 {
        self.joined.get(&ending).copied().unwrap_or(ending)
    }

    /// Records that a repetition of the ending at `ended_at` ended new containers of the repeating file.
    pub fn join(&mut self, repetition: u64, ended_at: u64) {
        self.joined.insert(repetition, self.first_of(ended_at));
    }

    /// Records that the file that begins at `start` repeats the destruction of a container at `at`. Returns whether
    /// this is the file's first destruction of the container.
    pub fn repeat(&mut self, model: &Model, container: ContainerId, start: u64, at: u64) -> bool {
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
        // The container ended with its parent, but this file may destroy only the container.
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

    pub fn learn(&mut self, lane: LaneId, container: ContainerId) {
        if let Some(cuts) = self.containers.get(&container) {
            self.lanes.insert(lane, cuts.clone());
        }
    }

    /// Forgets repetitions in files that end before byte `start`.
    pub fn forget(&mut self, start: u64) {
        let recent = |cuts: &mut Vec<u64>| {
            cuts.retain(|cut| *cut >= start);
            !cuts.is_empty()
        };
        self.endings.retain(|_, cuts| recent(cuts));
        self.containers.retain(|_, cuts| recent(cuts));
        self.lanes.retain(|_, cuts| recent(cuts));
    }
}

//! Containers that a file creates in containers that other files have destroyed.
//!
//! Files that are read one after the other may have happened at the same time. A file may create a container inside a
//! container that another file has already destroyed. If the first file later destroys the outer container, too, this
//! repeated destruction must also end the new container. This table finds it without a search through the whole
//! container.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::containers::Containers;
use crate::names::ids::ContainerId;

/// Containers that the current file has created in containers that had ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newborn {
    /// By parent.
    inside: FxHashMap<ContainerId, Vec<ContainerId>>,
    listed: FxHashSet<ContainerId>,
}

impl Newborn {
    /// Adds a new container if its parent had ended.
    pub(crate) fn add(&mut self, containers: &Containers, new: ContainerId) {
        let mut child = new;
        while child != ContainerId::ROOT && self.listed.insert(child) {
            let parent = containers.parent(child);
            self.inside.entry(parent).or_default().push(child);
            child = parent;
        }
    }

    /// Removes the new containers inside a container, and returns them with their parents.
    pub(crate) fn take(&mut self, container: ContainerId) -> Vec<ContainerId> {
        let mut all = Vec::new();
        let mut pending = vec![container];
        while let Some(next) = pending.pop() {
            for child in self.inside.remove(&next).unwrap_or_default() {
                self.listed.remove(&child);
                all.push(child);
                pending.push(child);
            }
        }
        all
    }

    pub(crate) fn clear(&mut self) {
        self.inside.clear();
        self.listed.clear();
    }
}

//! Containers that a file creates inside containers that other files have destroyed.
//!
//! The events of files that are read one after the other may have happened at the same time. A file may create a
//! container inside a container that another file has already destroyed. If the first file later destroys the outer
//! container again, this must also end the new container. This table finds the new container without a search through
//! the outer container.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::containers::Containers;
use crate::names::ids::ContainerId;

#[derive(Clone, Debug, Default)]
pub(crate) struct Newborn {
    /// By parent: new containers, and the containers between a new container and a destroyed one.
    inside: FxHashMap<ContainerId, Vec<ContainerId>>,
    listed: FxHashSet<ContainerId>,
}

impl Newborn {
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

//! Containers that a file creates in ones that other files have destroyed.
//!
//! Files may come one after the other that happened at the same time: a piece of a trace creates a
//! container, another one in it, and destroys the first, as another piece has done before. That ends the
//! second container, too. Here it is found without a look at all that is in the first.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::containers::Containers;
use crate::names::ids::ContainerId;

/// Containers that the file at hand has created in others that had ended by then, and what these are in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newborn {
    /// By what they are in.
    inside: FxHashMap<ContainerId, Vec<ContainerId>>,
    listed: FxHashSet<ContainerId>,
}

impl Newborn {
    /// There is a new container in one that had ended.
    pub(crate) fn add(&mut self, containers: &Containers, new: ContainerId) {
        let mut child = new;
        while child != ContainerId::ROOT && self.listed.insert(child) {
            let parent = containers.parent(child);
            self.inside.entry(parent).or_default().push(child);
            child = parent;
        }
    }

    /// Those in a container, and what they are in; they are not listed any more.
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

    /// Another file begins.
    pub(crate) fn clear(&mut self) {
        self.inside.clear();
        self.listed.clear();
    }
}

//! Containers of damaged traces. Some of them are created by no event. Others have events after their destruction.

use super::{Container, Containers, Ended, NONE, NewContainer};
use crate::model::types::Names;
use crate::names::hash::hash_bytes;
use crate::names::ids::{ContainerId, TypeId};
use crate::names::text::Name;

impl Containers {
    /// Removes a container from its parent. `before` is its previous sibling.
    fn detach(&mut self, id: ContainerId, before: u32) {
        let Container { parent, next_sibling: next, .. } = self.list[id.index()];
        match self.list.get_mut(before as usize) {
            Some(sibling) => sibling.next_sibling = next,
            None => self.list[parent.index()].first_child = next,
        }
        if next == NONE {
            self.list[parent.index()].last_child = before;
        } else if let Some(of_next) = self.made_up.get_mut(&ContainerId(next)) {
            *of_next = before;
        }
        self.list[id.index()].next_sibling = NONE;
    }

    /// Creates a container directly below the root, without an event.
    #[doc(hidden)]
    pub fn make_up(&mut self, name: &[u8], type_: TypeId, time: f64, defined_in: u32) {
        let (name, parent) = (Name::bare(name), ContainerId::ROOT);
        let hash = hash_bytes(name.text);
        let new = NewContainer { name, alias: None, type_, parent, time, defined_in };
        let id = self.add(new, hash);
        let before = self.attach(id, parent);
        self.made_up.insert(id, before);
    }

    /// Returns whether the container was made up, and no event has created it so far.
    #[doc(hidden)]
    pub fn is_made_up(&self, id: ContainerId) -> bool {
        self.made_up.contains_key(&id)
    }

    /// Returns whether any container exists that no event has created so far.
    #[doc(hidden)]
    pub fn any_made_up(&self) -> bool {
        !self.made_up.is_empty()
    }

    /// Completes a container that was made up: takes its name and its parent from its creation, but keeps its start.
    /// Returns `false` and does nothing if the container would then be inside itself.
    #[doc(hidden)]
    pub fn adopt(&mut self, id: ContainerId, new: &NewContainer<'_>) -> bool {
        let mut ancestor = new.parent;
        while self.list[id.index()].first_child != NONE && ancestor != ContainerId::ROOT {
            if ancestor == id {
                return false;
            }
            ancestor = self.parent(ancestor);
        }
        if new.parent == id {
            return false;
        }
        if let Some(before) = self.made_up.remove(&id) {
            self.detach(id, before);
        }
        self.adopted.insert(id);
        let names = Names::new(&mut self.texts, new.name, new.alias);
        let container = &mut self.list[id.index()];
        (container.names, container.parent) = (names, new.parent);
        container.set_defined_in(new.defined_in);
        self.attach(id, new.parent);
        true
    }

    /// Returns the time in seconds at which an event destroyed the container. In a damaged trace, the container may
    /// have lived longer.
    pub(in crate::model) fn said_end(&self, id: ContainerId) -> f64 {
        self.said_ends.get(&id).copied().unwrap_or_else(|| self.end(id))
    }

    /// Extends a container's life to `time`, although an event has already ended the container.
    #[doc(hidden)]
    pub fn prolong(&mut self, id: ContainerId, time: f64) {
        let Ended { time: said, at } = self.ending(id);
        self.said_ends.insert(id, said);
        self.set_end(id, time, Some(at));
    }
}

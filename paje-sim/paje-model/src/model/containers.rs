//! The tree of containers.

mod made_up;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::memory::{CreationExtras, LineNumber};
use crate::model::types::Names;
use crate::names::error::Named;
use crate::names::hash::hash_bytes;
use crate::names::ids::{ContainerId, LaneId, TypeId};
use crate::names::prefetch::prefetch;
use crate::names::text::{Name, TextArena};

/// All containers of a trace, numbered from 0. Container 0 is the root, named `0`.
#[derive(Clone, Debug)]
pub struct Containers {
    list: Vec<Container>,
    by_identifier: HashTable<ContainerId>,
    texts: TextArena,
    /// Ends of containers. Containers that end together share an entry.
    endings: Vec<Ended>,
    /// User-defined fields of creations, and their containers, in the order of creation.
    extras: CreationExtras,
    extra_owners: Vec<ContainerId>,
    /// Maps each container that no event has created to its previous sibling or [`NONE`]. Such a container was made up
    /// for the first event that named it. Only these containers can move to another parent.
    made_up: FxHashMap<ContainerId, u32>,
    /// Containers that were made up, and that an event has created later.
    adopted: FxHashSet<ContainerId>,
    /// Times at which events destroyed containers, for containers that had later events.
    said_ends: FxHashMap<ContainerId, f64>,
}

const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

#[derive(Clone, Debug)]
struct Container {
    names: Names,
    type_: TypeId,
    parent: ContainerId,
    start: f64,
    /// Index of the container's end in `endings`, or `NONE` while the container is alive.
    ending: u32,
    first_child: u32,
    last_child: u32,
    next_sibling: u32,
    last_lane: u32,
    /// The last file that created the container, and the flags [`SETTLED`] and [`ENDED_BY_NAME`].
    defined_in: u32,
}

/// Flag: the container and everything inside it have ended. With this flag, nested destructions take linear time. A
/// settled container is skipped unless a new container is created somewhere inside it.
const SETTLED: u32 = 1;
/// Flag: the event that ended the container named the container itself and not an ancestor.
const ENDED_BY_NAME: u32 = 2;
const FLAGS: u32 = SETTLED | ENDED_BY_NAME;

impl Container {
    const fn is(&self, flag: u32) -> bool {
        self.defined_in & flag != 0
    }

    /// Sets or clears a flag. Returns whether it was set.
    const fn mark(&mut self, flag: u32, set: bool) -> bool {
        let was = self.is(flag);
        self.defined_in = if set { self.defined_in | flag } else { self.defined_in & !flag };
        was
    }

    const fn set_defined_in(&mut self, file: u32) {
        self.defined_in = (file * (FLAGS + 1)) | (self.defined_in & FLAGS);
    }
}

/// Time at which containers ended, and the byte offset of the event that ended them. The offset is `NEVER` if they
/// ended at the end of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ended {
    time: f64,
    at: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct NewContainer<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) alias: Option<Name<'a>>,
    pub(crate) type_: TypeId,
    pub(crate) parent: ContainerId,
    pub(crate) time: f64,
    pub(crate) defined_in: u32,
}

impl Containers {
    pub(crate) fn new() -> Self {
        let mut containers = Containers {
            list: Vec::new(),
            by_identifier: HashTable::new(),
            texts: TextArena::default(),
            endings: Vec::new(),
            extras: CreationExtras::default(),
            extra_owners: Vec::new(),
            made_up: FxHashMap::default(),
            adopted: FxHashSet::default(),
            said_ends: FxHashMap::default(),
        };
        let root = NewContainer {
            name: Name::bare(b"0"),
            alias: None,
            type_: TypeId::ROOT,
            parent: ContainerId::ROOT,
            time: 0.0,
            defined_in: 0,
        };
        containers.add(root, hash_bytes(b"0"));
        containers
    }

    /// Returns the number of containers, including the root.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns `false`: the root always exists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns all containers in the order of their creation, the root first.
    pub fn ids(&self) -> impl Iterator<Item = ContainerId> + use<> {
        (0..self.list.len() as u32).map(ContainerId)
    }

    /// Returns the container to which events refer by this text.
    #[must_use]
    pub fn find(&self, identifier: &[u8]) -> Option<ContainerId> {
        self.find_hashed(identifier, hash_bytes(identifier))
    }

    pub(crate) fn find_hashed(&self, identifier: &[u8], hash: u64) -> Option<ContainerId> {
        let same = |id: &ContainerId| self.identifier(*id).text == identifier;
        self.by_identifier.find(hash, same).copied()
    }

    /// Prefetches the memory that [`Containers::find_hashed`] reads for these hashes. Returns the containers that it
    /// will probably find.
    pub(crate) fn prefetch(&self, hashes: impl Iterator<Item = u64>) -> Vec<ContainerId> {
        let found = hashes.filter_map(|hash| self.by_identifier.find(hash, |_| true).copied());
        let found: Vec<ContainerId> = found.collect();
        let names: Vec<Names> = found.iter().map(|id| self.list[id.index()].names).collect();
        prefetch(names.iter().filter_map(|names| names.name(&self.texts).text.first().copied()));
        found
    }

    /// Returns the name that rows print.
    #[must_use]
    pub fn name(&self, id: ContainerId) -> Name<'_> {
        self.list[id.index()].names.name(&self.texts)
    }

    /// Returns the alias, if the creation gave one.
    #[must_use]
    pub fn alias(&self, id: ContainerId) -> Option<Name<'_>> {
        self.list[id.index()].names.alias(&self.texts)
    }

    /// Returns the text by which events refer to the container. This is the alias if the container has one, else the
    /// name.
    #[must_use]
    #[inline]
    pub fn identifier(&self, id: ContainerId) -> Name<'_> {
        self.list[id.index()].names.identifier(&self.texts)
    }

    /// Returns the container's name for messages. For a container that was made up, this is only the name, even if a
    /// later event gives it an alias, so that the result does not depend on whether that event has been read already.
    #[doc(hidden)]
    pub fn named(&self, id: ContainerId) -> Named {
        if self.is_made_up(id) || self.adopted.contains(&id) {
            return self.identifier(id).named(None);
        }
        self.name(id).named(self.alias(id))
    }

    /// Returns the container's type.
    #[must_use]
    pub fn type_of(&self, id: ContainerId) -> TypeId {
        self.list[id.index()].type_
    }

    /// Returns the parent container. The root is its own parent.
    #[must_use]
    pub fn parent(&self, id: ContainerId) -> ContainerId {
        self.list[id.index()].parent
    }

    /// Returns the time of the container's creation, in the unit of the trace, or 0 for the root.
    #[must_use]
    pub fn start(&self, id: ContainerId) -> f64 {
        self.list[id.index()].start
    }

    /// Returns the time of the container's end, in the unit of the trace: the time of its destruction, of an ancestor's destruction,
    /// or of the end of the trace.
    #[must_use]
    pub fn end(&self, id: ContainerId) -> f64 {
        self.ending(id).time
    }

    fn ending(&self, id: ContainerId) -> Ended {
        let ending = self.endings.get(self.list[id.index()].ending as usize);
        ending.copied().unwrap_or(Ended { time: 0.0, at: NEVER })
    }

    /// Returns whether a destruction ended the container, either its own or an ancestor's.
    #[must_use]
    pub fn is_destroyed(&self, id: ContainerId) -> bool {
        self.ending(id).at != NEVER
    }

    /// Returns the containers created in the container, in the order of their creation.
    pub fn children(&self, id: ContainerId) -> impl Iterator<Item = ContainerId> + '_ {
        let link = |id: u32| (id != NONE).then_some(ContainerId(id));
        let first = link(self.list[id.index()].first_child);
        std::iter::successors(first, move |child| link(self.list[child.index()].next_sibling))
    }

    /// Returns a container and its descendants. A parent comes before its
    /// [children](Containers::children), which are in the order of their creation.
    pub fn within(&self, id: ContainerId) -> impl Iterator<Item = ContainerId> + '_ {
        let mut stack = vec![id];
        std::iter::from_fn(move || {
            let next = stack.pop()?;
            let first = stack.len();
            stack.extend(self.children(next));
            stack[first..].reverse();
            Some(next)
        })
    }

    /// Returns the definition and the user-defined fields of the creation if they were kept. Each field is returned as
    /// written, and followed by a newline.
    #[doc(hidden)]
    pub fn extras(&self, id: ContainerId) -> Option<(u32, &[u8])> {
        let index = self.extra_owners.binary_search(&id).ok()?;
        self.extras.fields(index as u32 + 1)
    }

    /// Returns the line of the event that created a container. The result is meaningful only if lines are kept.
    #[doc(hidden)]
    pub fn line(&self, id: ContainerId) -> Option<LineNumber> {
        let index = self.extra_owners.binary_search(&id).ok()?;
        self.extras.line(index as u32 + 1)
    }

    /// Stores the line of the last container's creation, and the definition and user-defined fields if the creation has
    /// any.
    #[doc(hidden)]
    pub fn keep_extras(&mut self, fields: Option<(u32, &[u8])>, line: LineNumber) {
        self.extras.push(fields, line);
        self.extra_owners.push(ContainerId(self.list.len() as u32 - 1));
    }

    /// Returns the byte offset of the event that ended the container, or `u64::MAX` while it lives.
    #[doc(hidden)]
    pub fn ended_at(&self, id: ContainerId) -> u64 {
        self.ending(id).at
    }

    #[doc(hidden)]
    pub fn set_end(&mut self, id: ContainerId, time: f64, at: Option<u64>) {
        let ended = Ended { time, at: at.unwrap_or(NEVER) };
        if self.endings.last() != Some(&ended) {
            self.endings.push(ended);
        }
        self.list[id.index()].ending = self.endings.len() as u32 - 1;
    }

    /// Returns whether the event that ended the container named the container itself, and not an ancestor.
    #[doc(hidden)]
    pub fn is_ended_by_name(&self, id: ContainerId) -> bool {
        self.list[id.index()].is(ENDED_BY_NAME)
    }

    #[doc(hidden)]
    pub fn end_by_name(&mut self, id: ContainerId) {
        self.list[id.index()].mark(ENDED_BY_NAME, true);
    }

    /// Returns the last file that created the container.
    #[doc(hidden)]
    pub fn defined_in(&self, id: ContainerId) -> u32 {
        self.list[id.index()].defined_in / (FLAGS + 1)
    }

    /// Records that another file of the trace also creates the container.
    #[doc(hidden)]
    pub fn define_again(&mut self, id: ContainerId, file: u32) {
        self.list[id.index()].set_defined_in(file);
    }

    /// Marks the container as settled. Returns whether the container was already settled.
    #[doc(hidden)]
    pub fn settle(&mut self, id: ContainerId) -> bool {
        self.list[id.index()].mark(SETTLED, true)
    }

    /// Returns the lane that was last opened in the container. Each lane stores the number of the lane before it.
    #[doc(hidden)]
    pub fn last_lane(&self, id: ContainerId) -> Option<LaneId> {
        let lane = self.list[id.index()].last_lane;
        (lane != NONE).then_some(LaneId(lane))
    }

    #[doc(hidden)]
    pub fn set_last_lane(&mut self, id: ContainerId, lane: LaneId) {
        self.list[id.index()].last_lane = lane.0;
    }

    /// Inserts a container. Its identifier must be free and have this hash.
    #[doc(hidden)]
    pub fn insert(&mut self, new: NewContainer<'_>, hash: u64) -> ContainerId {
        let id = self.add(new, hash);
        self.attach(id, new.parent);
        id
    }

    /// Appends a container to its parent's children. Returns the previous sibling.
    fn attach(&mut self, id: ContainerId, parent: ContainerId) -> u32 {
        let mut ancestor = parent;
        while self.list[ancestor.index()].mark(SETTLED, false) {
            ancestor = self.parent(ancestor);
        }
        let before = std::mem::replace(&mut self.list[parent.index()].last_child, id.0);
        match self.list.get_mut(before as usize) {
            Some(sibling) => sibling.next_sibling = id.0,
            None => self.list[parent.index()].first_child = id.0,
        }
        before
    }

    fn add(&mut self, new: NewContainer<'_>, hash: u64) -> ContainerId {
        let id = ContainerId(self.list.len() as u32);
        let names = Names::new(&mut self.texts, new.name, new.alias);
        let (texts, list) = (&self.texts, &mut self.list);
        list.push(Container {
            names,
            type_: new.type_,
            parent: new.parent,
            start: new.time,
            ending: NONE,
            first_child: NONE,
            last_child: NONE,
            next_sibling: NONE,
            last_lane: NONE,
            defined_in: new.defined_in * (FLAGS + 1),
        });
        let known = &mut self.by_identifier;
        if known.len() == known.capacity() {
            // Inserts in the order of the texts in memory. If the table grew by itself, it would read the texts in the
            // order of their hashes.
            *known = HashTable::with_capacity(2 * known.len().max(8));
            let identifier = |id: ContainerId| list[id.index()].names.identifier(texts).text;
            let all = (0..id.0).map(ContainerId);
            all.for_each(|id| insert(known, hash_bytes(identifier(id)), id));
        }
        insert(known, hash, id);
        id
    }
}

fn insert(known: &mut HashTable<ContainerId>, hash: u64, id: ContainerId) {
    known.insert_unique(hash, id, |_| hash);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace may have a million containers.
    #[test]
    fn containers_are_small() {
        assert!(size_of::<Container>() <= 48, "{} bytes", size_of::<Container>());
    }
}

//! Creations and destructions of containers.

use paje_parser::{FieldName, TypeNature};

use super::containers::NewContainer;
use super::{Effects, Ending, Failed, Model};
use crate::names::error::Problem;
use crate::names::hash::hash_bytes;
use crate::names::ids::{ContainerId, TypeId};
use crate::names::recovered::Remedy;
use crate::names::text::Name;

#[derive(Clone, Copy, Debug)]
pub struct PlainCreation<'a> {
    pub name: Name<'a>,
    pub alias: Option<Name<'a>>,
    pub hash: u64,
    pub type_: TypeId,
    pub parent: (&'a [u8], u64),
    pub time: f64,
}

impl Model {
    pub(super) fn create_container(
        &mut self,
        time: f64,
        name: Name<'_>,
        alias: Option<Name<'_>>,
        type_name: &[u8],
        parent_name: &[u8],
        mended: &mut Vec<(Failed, Remedy)>,
    ) -> Result<(), Failed> {
        let (type_, parent) = match self.made_up {
            None => self.place_of(type_name, parent_name)?,
            Some(_) => self.mended_place(type_name, parent_name, mended)?,
        };
        let identifier = alias.unwrap_or(name).text;
        let field = if alias.is_some() { FieldName::Alias } else { FieldName::Name };
        if identifier == b"0" {
            return Err((field, Problem::ReservedContainer));
        }
        if let Some(known) = self.containers.find(identifier) {
            if self.made_up.is_some() && self.adopts(known, name, alias, type_, parent) {
                return Ok(());
            }
            let all = &self.containers;
            let said = (all.name(known).text, all.type_of(known), all.parent(known));
            let same = said == (name.text, type_, parent) && all.start(known) == time;
            if !same || !self.may_repeat(all.defined_in(known)) {
                return Err((field, Problem::ContainerExists { known: all.named(known) }));
            }
            self.containers.define_again(known, self.file.number);
            return Ok(());
        }
        let defined_in = self.file.number;
        let hash = hash_bytes(identifier);
        self.add_container(NewContainer { name, alias, type_, parent, time, defined_in }, hash);
        Ok(())
    }

    /// Creates a container whose identifier has this hash. Checks nothing.
    fn add_container(&mut self, new: NewContainer<'_>, hash: u64) {
        let (parent, defined_in) = (new.parent, new.defined_in);
        let new = self.containers.insert(new, hash);
        if defined_in > 0 && self.containers.is_destroyed(parent) {
            self.newborn.add(&self.containers, new);
        }
    }

    /// Creates a container, unless the line is invalid or unusual. Returns whether a container was
    /// created.
    pub fn create_plainly(&mut self, new: PlainCreation<'_>) -> bool {
        let PlainCreation { name, alias, hash, type_, parent: (parent, parent_hash), time } = new;
        let identifier = alias.unwrap_or(name).text;
        let Some(parent) = self.containers.find_hashed(parent, parent_hash) else { return false };
        let types = &self.types;
        let is_plain = types.nature(type_) == TypeNature::Container
            && type_ != TypeId::ROOT
            && types.parent(type_) == self.containers.type_of(parent)
            && self.containers.find_hashed(identifier, hash).is_none();
        if is_plain {
            let defined_in = self.file.number;
            let new = NewContainer { name, alias, type_, parent, time, defined_in };
            self.add_container(new, hash);
        }
        is_plain
    }

    /// Destroys a container whose name has this hash, and its descendants. The line of the
    /// destruction begins at byte `at`. Returns `false` if the line is invalid or a repetition.
    pub fn destroy_plainly(
        &mut self,
        type_: TypeId,
        name: &[u8],
        hash: u64,
        time: f64,
        at: u64,
        effects: &mut Effects,
    ) -> bool {
        let known = self.containers.find_hashed(name, hash);
        let is_plain = |container: &ContainerId| {
            self.containers.type_of(*container) == type_
                && !self.containers.is_destroyed(*container)
        };
        let Some(container) = known.filter(is_plain) else { return false };
        self.destroy(container, time, at, effects);
        true
    }

    fn destroy(&mut self, container: ContainerId, time: f64, at: u64, effects: &mut Effects) {
        let first = effects.endings.len();
        self.end_all(container, Some(container), time, at, effects);
        // The containers are sorted by their creation, so that the first problem is always the
        // same.
        effects.endings[first..].sort_unstable_by_key(|ending| ending.container);
    }

    pub(super) fn place_of(
        &self,
        type_name: &[u8],
        parent_name: &[u8],
    ) -> Result<(TypeId, ContainerId), Failed> {
        let type_ = self.container_type(type_name, FieldName::Type)?;
        let parent = self.container(parent_name, FieldName::Container)?;
        let parent_type = self.containers.type_of(parent);
        if type_ == TypeId::ROOT || self.types.parent(type_) != parent_type {
            return Err((FieldName::Type, self.not_child(type_, parent)));
        }
        Ok((type_, parent))
    }

    pub(super) fn destroy_container(
        &mut self,
        time: f64,
        type_name: &[u8],
        name: &[u8],
        at: u64,
        effects: &mut Effects,
    ) -> Result<(), Failed> {
        let container = self.container_of(type_name, name, FieldName::Name)?;
        if self.containers.is_destroyed(container) {
            let last = self.containers.said_end(container);
            if time < last {
                let container = self.containers.named(container);
                return Err((
                    FieldName::Time,
                    Problem::DestroyedTooEarly { container, time, last },
                ));
            }
            if time == last && self.containers.ended_at(container) < self.file.start {
                effects.repeated = Some(container);
            } else {
                effects.ignored = true;
            }
            return Ok(());
        }
        self.destroy(container, time, at, effects);
        Ok(())
    }

    /// Ends the containers that the current file has created inside a destroyed container. The line
    /// at byte `at` repeats the destruction.
    pub fn end_newborn(&mut self, container: ContainerId, at: u64, effects: &mut Effects) {
        let first = effects.endings.len();
        let time = self.containers.said_end(container);
        for inside in self.newborn.take(container) {
            let all = &self.containers;
            if all.defined_in(inside) == self.file.number && !all.is_destroyed(inside) {
                self.end_all(inside, None, time, at, effects);
            }
        }
        effects.endings[first..].sort_unstable_by_key(|ending| ending.container);
    }

    fn end_all(
        &mut self,
        container: ContainerId,
        named: Option<ContainerId>,
        time: f64,
        at: u64,
        effects: &mut Effects,
    ) {
        // Most containers are empty, and then this allocates nothing.
        let mut pending = Vec::new();
        let mut next = Some(container);
        while let Some(ended) = next {
            if !self.containers.settle(ended) {
                if !self.containers.is_destroyed(ended) {
                    let named = named == Some(ended);
                    self.containers.set_end(ended, time, Some(at));
                    if named {
                        self.containers.end_by_name(ended);
                    }
                    effects.endings.push(Ending { container: ended, time, at, named });
                }
                pending.extend(self.containers.children(ended));
            }
            next = pending.pop();
        }
    }
}

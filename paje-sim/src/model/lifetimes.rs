//! Beginnings and ends of containers.

use paje_parser::FieldName;

use super::containers::NewContainer;
use super::{Effects, Ending, Failed, Model};
use crate::names::error::Problem;
use crate::names::ids::{ContainerId, TypeId};
use crate::names::recovered::Remedy;
use crate::names::text::Name;

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
            if !same || !self.may_repeat(all.said_in(known)) {
                return Err((field, Problem::ContainerExists { known: all.named(known) }));
            }
            self.containers.say_again(known, self.file.number);
            return Ok(());
        }
        let said_in = self.file.number;
        let new =
            self.containers.insert(NewContainer { name, alias, type_, parent, time, said_in });
        if said_in > 0 && self.containers.is_destroyed(parent) {
            self.newborn.add(&self.containers, new);
        }
        Ok(())
    }

    /// The type and the parent of a container.
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
        let first = effects.endings.len();
        self.end_all(container, Some(container), (time, at), effects);
        // In order of creation: a rule, so that which problem comes first is one too.
        effects.endings[first..].sort_unstable_by_key(|ending| ending.container);
        Ok(())
    }

    /// The file at hand repeats, in the line that begins at byte `at`, the destruction of a container:
    /// what it has created in it ends, too.
    pub(crate) fn end_newborn(&mut self, container: ContainerId, at: u64, effects: &mut Effects) {
        let first = effects.endings.len();
        let time = self.containers.said_end(container);
        for inside in self.newborn.take(container) {
            let all = &self.containers;
            if all.said_in(inside) == self.file.number && !all.is_destroyed(inside) {
                self.end_all(inside, None, (time, at), effects);
            }
        }
        effects.endings[first..].sort_unstable_by_key(|ending| ending.container);
    }

    /// Ends a container and all that live in it, at a time, by the line that begins at byte `at`.
    fn end_all(
        &mut self,
        container: ContainerId,
        named: Option<ContainerId>,
        (time, at): (f64, u64),
        effects: &mut Effects,
    ) {
        // Most containers have nothing in them, and then it takes no memory.
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

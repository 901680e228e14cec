//! Types and containers together: creation and lookup.

use paje_parser::{Event, Field, FieldName, TypeNature};
use paje_sim::error::Problem;

use super::containers::{Containers, ROOT};
use super::findings::Group;
use super::source::{Source, quoted};
use super::stop::{Checked, Spoils, Stop};
use super::types::{self, Types, identifier_field};

#[derive(Debug)]
pub(crate) struct Things {
    pub(crate) types: Types,
    pub(crate) containers: Containers,
}

impl Things {
    pub(crate) fn create_container(
        &mut self,
        event: &Event<'_>,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let Event::CreateContainer { time, name, alias, type_, parent, .. } = event else {
            return Ok(());
        };
        let identifier = alias.unwrap_or(*name);
        let spoiling =
            |stop: Box<Stop>| stop.spoiling(Spoils::Container(identifier.bare().to_vec()));
        let id = self.types.container_type(*type_, FieldName::Type, source).map_err(spoiling)?;
        self.types.get_mut(id).used = true;
        // A container with the wrong parent is created, so that its events can be checked.
        let mut misplaced = None;
        let parent = match self.containers.named_by(*parent, FieldName::Container, source) {
            Ok(parent) => {
                let parent_type = self.containers.type_of(parent);
                if id == types::ROOT || self.types.get(id).parent != parent_type {
                    misplaced = Some(self.not_child(id, parent));
                }
                parent
            }
            Err(stop) => {
                misplaced = Some(stop);
                ROOT
            }
        };
        let made = self.make_container(*name, *alias, id, parent, *time, source.here.file);
        match (misplaced, made) {
            (Some(stop), _) => Err(stop),
            (None, made) => made,
        }
    }

    fn make_container(
        &mut self,
        name: Field<'_>,
        alias: Option<Field<'_>>,
        type_: u32,
        parent: u32,
        start: f64,
        file: u32,
    ) -> Checked<()> {
        let identifier = alias.unwrap_or(name);
        let field = identifier_field(alias);
        if identifier.bare() == b"0" {
            return Err(Stop::at(field, Problem::ReservedContainer));
        }
        if let Some(id) = self.containers.find(identifier.bare()) {
            let known = self.containers.get_mut(id);
            let same = *known.name == *name.bare()
                && (known.type_, known.parent, known.start) == (type_, parent, start);
            // Files may repeat creations of other files.
            if std::mem::replace(&mut known.said_in, file) != file && same {
                return Ok(());
            }
            let group = Group::ids("container-exists", id, 0);
            let known = self.containers.named(id);
            return Err(Stop::at(field, Problem::ContainerExists { known }).once(group));
        }
        let (name, alias) = (name.bare(), alias.map(Field::bare));
        let id = self.containers.insert(name, alias, quoted(identifier), type_, parent);
        let container = self.containers.get_mut(id);
        (container.start, container.said_in) = (start, file);
        self.types.get_mut(type_).objects += 1;
        Ok(())
    }

    /// Returns the container that one field names. It must be of the type that another field names.
    pub(crate) fn container_of_type(
        &mut self,
        type_: Field<'_>,
        name: Field<'_>,
        field: FieldName,
        source: &mut Source<'_>,
    ) -> Checked<u32> {
        let expected = self.types.named_by(type_, FieldName::Type, source)?;
        let id = self.containers.named_by(name, field, source)?;
        let found = self.containers.type_of(id);
        if expected == found {
            return Ok(id);
        }
        let problem = Problem::WrongContainerType {
            container: self.containers.named(id),
            expected: self.types.named(expected),
            found: self.types.named(found),
        };
        Err(Stop::at(FieldName::Type, problem))
    }

    /// Returns the type and container of an event that needs a type of this nature.
    #[inline]
    pub(crate) fn owner(
        &mut self,
        type_: Field<'_>,
        container: Field<'_>,
        expected: TypeNature,
        source: &mut Source<'_>,
    ) -> Checked<(u32, u32)> {
        let id = self.types.named_by(type_, FieldName::Type, source)?;
        let found = self.types.get(id).nature;
        if found != expected {
            let type_ = self.types.named(id);
            let problem = Problem::WrongNature { type_, expected, found, event: None };
            let group = Group::ids("wrong-nature", id, expected as u32);
            return Err(Stop::at(FieldName::Type, problem).once(group));
        }
        self.types.get_mut(id).used = true;
        let container = self.containers.named_by(container, FieldName::Container, source)?;
        if self.types.get(id).parent != self.containers.type_of(container) {
            return Err(self.not_child(id, container));
        }
        (self.types.last, self.containers.last) = (id, container);
        Ok((id, container))
    }

    #[cold]
    pub(crate) fn not_child(&self, type_: u32, container: u32) -> Box<Stop> {
        let container_type = self.containers.type_of(container);
        let problem = Problem::NotChildType {
            type_: self.types.named(type_),
            container: self.containers.named(container),
            container_type: self.types.named(container_type),
        };
        let group = Group::ids("not-child-type", type_, container_type);
        Stop::at(FieldName::Type, problem).once(group)
    }
}

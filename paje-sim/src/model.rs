//! What the structural events of a trace build: types, values, containers, lanes.
//!
//! Only these depend on the order of the whole file. Their maps grow and never change, so an event
//! is right if what it names was there at its place: first uses are all that need checking.

use paje_parser::color::Color;
use paje_parser::{Event, FieldName, LinkEnd, TypeNature};
use rustc_hash::FxHashMap;

use crate::containers::{Containers, NewContainer};
use crate::error::Problem;
use crate::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::options::ValueNames;
use crate::text::Name;
use crate::types::{NewType, Types};

/// A problem, and the field of the line that it is about.
pub(crate) type Failed = (FieldName, Problem);

/// Types, containers and lanes met so far.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) types: Types,
    pub(crate) containers: Containers,
    pub(crate) lanes: Vec<Lane>,
    by_owner: FxHashMap<(ContainerId, TypeId), LaneId>,
    value_names: ValueNames,
}

/// The objects of one type in one container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    pub(crate) container: ContainerId,
    pub(crate) type_: TypeId,
    pub(crate) nature: TypeNature,
    /// The lane opened before this one in the same container.
    before: Option<LaneId>,
}

/// A container that ends with a structural event, or a second time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) container: ContainerId,
    /// In seconds.
    pub(crate) time: f64,
    /// The byte of the event's line.
    pub(crate) at: u64,
    /// Named by the event, not a child of the one named.
    pub(crate) named: bool,
}

/// What a structural event asks of the rest of the engine.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) endings: Vec<Ending>,
    /// The event was for a container that had been destroyed.
    pub(crate) ignored: bool,
    /// The event names a file that holds more events.
    pub(crate) names_file: bool,
}

impl Model {
    pub(crate) fn new(value_names: ValueNames) -> Self {
        Model {
            types: Types::new(),
            containers: Containers::new(),
            lanes: Vec::new(),
            by_owner: FxHashMap::default(),
            value_names,
        }
    }

    /// Applies a structural event whose line begins at byte `at`.
    pub(crate) fn apply(
        &mut self,
        event: &Event<'_>,
        at: u64,
        effects: &mut Effects,
    ) -> Result<(), Failed> {
        match *event {
            Event::DefineType { nature, name, alias, parent } => {
                let parent = self.container_type(parent.bare(), FieldName::Type)?;
                self.define_type(name.into(), alias.map(Into::into), nature, parent, None)
            }
            Event::DefineLinkType { name, alias, parent, start, end } => {
                let parent = self.container_type(parent.bare(), FieldName::Type)?;
                let start = self.container_type(start.bare(), FieldName::StartContainerType)?;
                let end = self.container_type(end.bare(), FieldName::EndContainerType)?;
                let ends = Some((start, end));
                self.define_type(name.into(), alias.map(Into::into), TypeNature::Link, parent, ends)
            }
            Event::DefineValue { name, alias, type_, color } => {
                let id = self.type_(type_.bare(), FieldName::Type)?;
                self.define_value(id, name.into(), alias.map(Into::into), color)
            }
            Event::CreateContainer { time, name, alias, type_, parent, file } => {
                effects.names_file = file.is_some_and(|file| !file.bare().is_empty());
                self.create_container(
                    time,
                    name.into(),
                    alias.map(Into::into),
                    type_.bare(),
                    parent.bare(),
                )
            }
            Event::DestroyContainer { time, type_, name } => {
                self.destroy_container(time, type_.bare(), name.bare(), at, effects)
            }
            Event::TraceFile { .. } => {
                effects.names_file = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Defines a value of a type that is known.
    pub(crate) fn define_value(
        &mut self,
        id: TypeId,
        name: Name<'_>,
        alias: Option<Name<'_>>,
        color: Option<Color>,
    ) -> Result<(), Failed> {
        let nature = self.types.nature(id);
        if !has_values(nature) {
            let name = self.types.identifier(id).text.to_vec();
            return Err((FieldName::Type, Problem::ValueOfType { name, nature }));
        }
        if !self.types.define_value(id, name, alias, color, self.value_names) {
            let field = if alias.is_some() { FieldName::Alias } else { FieldName::Name };
            let name = alias.unwrap_or(name).text.to_vec();
            let type_ = self.types.identifier(id).text.to_vec();
            return Err((field, Problem::ValueExists { name, type_ }));
        }
        Ok(())
    }

    fn define_type(
        &mut self,
        name: Name<'_>,
        alias: Option<Name<'_>>,
        nature: TypeNature,
        parent: TypeId,
        ends: Option<(TypeId, TypeId)>,
    ) -> Result<(), Failed> {
        let identifier = alias.unwrap_or(name).text;
        let field = if alias.is_some() { FieldName::Alias } else { FieldName::Name };
        if identifier == b"0" {
            return Err((field, Problem::ReservedType));
        }
        if self.types.find(identifier).is_some() {
            return Err((field, Problem::TypeExists { name: identifier.to_vec() }));
        }
        self.types.insert(NewType { name, alias, nature, parent, ends });
        Ok(())
    }

    fn create_container(
        &mut self,
        time: f64,
        name: Name<'_>,
        alias: Option<Name<'_>>,
        type_name: &[u8],
        parent_name: &[u8],
    ) -> Result<(), Failed> {
        let type_ = self.container_type(type_name, FieldName::Type)?;
        let parent = self.container(parent_name, FieldName::Container)?;
        let parent_type = self.containers.type_of(parent);
        if type_ == TypeId::ROOT || self.types.parent(type_) != parent_type {
            return Err((FieldName::Type, self.not_child(type_name, parent)));
        }
        let identifier = alias.unwrap_or(name).text;
        let field = if alias.is_some() { FieldName::Alias } else { FieldName::Name };
        if identifier == b"0" {
            return Err((field, Problem::ReservedContainer));
        }
        if self.containers.find(identifier).is_some() {
            let name = identifier.to_vec();
            return Err((field, Problem::ContainerExists { name }));
        }
        self.containers.insert(NewContainer { name, alias, type_, parent, time });
        Ok(())
    }

    fn destroy_container(
        &mut self,
        time: f64,
        type_name: &[u8],
        name: &[u8],
        at: u64,
        effects: &mut Effects,
    ) -> Result<(), Failed> {
        let type_ = self.type_(type_name, FieldName::Type)?;
        let container = self.container(name, FieldName::Name)?;
        let found = self.containers.type_of(container);
        if found != type_ {
            return Err((
                FieldName::Type,
                Problem::WrongContainerType {
                    container: name.to_vec(),
                    expected: type_name.to_vec(),
                    found: self.types.identifier(found).text.to_vec(),
                },
            ));
        }
        if self.containers.is_destroyed(container) {
            let last = self.containers.end(container);
            if time < last {
                let container = name.to_vec();
                return Err((
                    FieldName::Time,
                    Problem::DestroyedTooEarly { container, time, last },
                ));
            }
            effects.ignored = true;
            return Ok(());
        }
        let first = effects.endings.len();
        let mut pending = vec![container];
        while let Some(ended) = pending.pop() {
            if self.containers.settle(ended) {
                continue;
            }
            if !self.containers.is_destroyed(ended) {
                self.containers.set_end(ended, time, Some(at));
                let named = ended == container;
                effects.endings.push(Ending { container: ended, time, at, named });
            }
            pending.extend(self.containers.children(ended));
        }
        // In order of creation: a rule, so that which problem comes first is one too.
        effects.endings[first..].sort_unstable_by_key(|ending| ending.container);
        Ok(())
    }

    /// The lane of an event whose type must be of this nature.
    pub(crate) fn lane(
        &mut self,
        container_name: &[u8],
        type_name: &[u8],
        expected: TypeNature,
    ) -> Result<LaneId, Failed> {
        let type_ = self.type_(type_name, FieldName::Type)?;
        let nature = self.types.nature(type_);
        if nature != expected {
            let name = type_name.to_vec();
            return Err((FieldName::Type, Problem::WrongNature { name, expected, found: nature }));
        }
        let container = self.container(container_name, FieldName::Container)?;
        if self.types.parent(type_) != self.containers.type_of(container) {
            return Err((FieldName::Type, self.not_child(type_name, container)));
        }
        let id = LaneId(self.lanes.len() as u32);
        let lane = *self.by_owner.entry((container, type_)).or_insert(id);
        if lane != id {
            return Ok(lane);
        }
        let before = self.containers.last_lane(container);
        self.lanes.push(Lane { container, type_, nature, before });
        self.containers.set_last_lane(container, id);
        Ok(id)
    }

    /// The container at an end of a link of this (known) type.
    pub(crate) fn link_end(
        &self,
        type_name: &[u8],
        name: &[u8],
        end: LinkEnd,
    ) -> Result<ContainerId, Failed> {
        let field = match end {
            LinkEnd::Start => FieldName::StartContainer,
            LinkEnd::End => FieldName::EndContainer,
        };
        let type_ = self.type_(type_name, FieldName::Type)?;
        let container = self.container(name, field)?;
        let expected = self.types.link_ends(type_).map(|(start, last)| match end {
            LinkEnd::Start => start,
            LinkEnd::End => last,
        });
        let found = self.containers.type_of(container);
        match expected {
            Some(expected) if expected != found => Err((
                field,
                Problem::WrongLinkEnd {
                    end,
                    container: name.to_vec(),
                    expected: self.types.identifier(expected).text.to_vec(),
                    found: self.types.identifier(found).text.to_vec(),
                },
            )),
            _ => Ok(container),
        }
    }

    /// The value of this name, whose text has this hash, created if this is its first use.
    pub(crate) fn value(&mut self, type_: TypeId, name: Name<'_>, hash: u64) -> ValueId {
        self.types.value(type_, name, hash, self.value_names)
    }

    /// The lane of a container and a type, if any event was for it.
    pub(crate) fn find_lane(&self, container: ContainerId, type_: TypeId) -> Option<LaneId> {
        self.by_owner.get(&(container, type_)).copied()
    }

    /// All lanes, in the order of their first events.
    pub(crate) fn lane_ids(&self) -> impl Iterator<Item = LaneId> + use<> {
        (0..self.lanes.len() as u32).map(LaneId)
    }

    /// The lanes of a container, last opened first.
    pub(crate) fn lanes_of(&self, container: ContainerId) -> impl Iterator<Item = LaneId> + '_ {
        let last = self.containers.last_lane(container);
        std::iter::successors(last, |lane| self.lanes[lane.index()].before)
    }

    pub(crate) fn type_(&self, name: &[u8], field: FieldName) -> Result<TypeId, Failed> {
        let unknown = || (field, Problem::UnknownType { name: name.to_vec() });
        self.types.find(name).ok_or_else(unknown)
    }

    fn container_type(&self, name: &[u8], field: FieldName) -> Result<TypeId, Failed> {
        let id = self.type_(name, field)?;
        match self.types.nature(id) {
            TypeNature::Container => Ok(id),
            nature => {
                let name = name.to_vec();
                Err((field, Problem::NotAContainerType { name, nature }))
            }
        }
    }

    fn container(&self, name: &[u8], field: FieldName) -> Result<ContainerId, Failed> {
        let unknown = || (field, Problem::UnknownContainer { name: name.to_vec() });
        self.containers.find(name).ok_or_else(unknown)
    }

    fn not_child(&self, type_name: &[u8], container: ContainerId) -> Problem {
        let type_ = self.containers.type_of(container);
        Problem::NotChildType {
            name: type_name.to_vec(),
            container: self.containers.identifier(container).text.to_vec(),
            container_type: self.types.identifier(type_).text.to_vec(),
        }
    }
}

/// Whether types of this nature have named values.
pub(crate) const fn has_values(nature: TypeNature) -> bool {
    matches!(nature, TypeNature::State | TypeNature::Event | TypeNature::Link)
}

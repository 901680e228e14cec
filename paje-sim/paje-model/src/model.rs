//! Types, values, containers and lanes, which the structural events of a trace define.
//!
//! Only these events depend on the order of the whole file. Objects are added but never changed. An event is therefore
//! valid if each name that it uses existed when the name was first used.

pub mod containers;
mod lanes;
pub mod lifetimes;
mod made_up;
mod newborn;
pub mod types;
pub mod value_names;

use paje_parser::color::Color;
use paje_parser::{Event, FieldName, LinkEnd, TypeNature};
use rustc_hash::FxHashMap;

use crate::model::containers::Containers;
pub use crate::model::lanes::Lane;
pub use crate::model::made_up::{AwaitedValue, MadeUp, UNKNOWN};
use crate::model::newborn::Newborn;
use crate::model::types::{NewType, Types};
use crate::model::value_names::NamedValue;
use crate::names::error::Problem;
use crate::names::hash::{TextSet, hash_bytes};
use crate::names::ids::{ContainerId, LaneId, TypeId, ValueId};
use crate::names::options::ValueNames;
use crate::names::recovered::Remedy;
use crate::names::text::Name;

pub type Failed = (FieldName, Problem);

#[derive(Clone, Debug)]
pub struct Model {
    pub types: Types,
    pub containers: Containers,
    pub lanes: Vec<Lane>,
    /// Lanes by container and type. Used for containers with many lanes.
    by_owner: FxHashMap<(ContainerId, TypeId), LaneId>,
    value_names: ValueNames,
    file: CurrentFile,
    /// For each value that was defined outside of the trace's main file or defined again, the only other file that has
    /// defined or used the value so far.
    value_files: FxHashMap<(TypeId, ValueId), u32>,
    /// Containers that the current file has created inside a container that another file may have ended.
    newborn: Newborn,
    /// Containers that are not created because they are later than
    /// [`Options::stop_at`](crate::names::options::Options::stop_at).
    not_created: TextSet<Vec<u8>>,
    /// Objects made up after problems, during recovery.
    pub made_up: Option<Box<MadeUp>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CurrentFile {
    /// Number of the file. The trace's main file has number 0.
    number: u32,
    /// Total size in bytes of the previous files.
    start: u64,
}

/// The end of a container, or a repeated destruction.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    pub container: ContainerId,
    /// Time in seconds.
    pub time: f64,
    /// Byte offset of the line of the event.
    pub at: u64,
    /// Whether the event names the container itself, and not an ancestor.
    pub named: bool,
}

/// Effects of structural events that the engine must handle.
#[derive(Debug, Default)]
pub struct Effects {
    pub endings: Vec<Ending>,
    /// Whether the event was ignored because its container had been destroyed.
    pub ignored: bool,
    /// Container that an event of another file destroys at the same time.
    pub repeated: Option<ContainerId>,
    /// Problems of the event that did not prevent it from being applied.
    pub mended: Vec<(Failed, Remedy)>,
}

impl Model {
    pub fn new(value_names: ValueNames) -> Self {
        Model {
            types: Types::new(),
            containers: Containers::new(),
            lanes: Vec::new(),
            by_owner: FxHashMap::default(),
            value_names,
            file: CurrentFile::default(),
            value_files: FxHashMap::default(),
            newborn: Newborn::default(),
            not_created: TextSet::default(),
            made_up: None,
        }
    }

    /// Switches to the file with this number. `start` is the total size in bytes of the previous files.
    pub fn turn_to(&mut self, number: u32, start: u64) {
        self.file = CurrentFile { number, start };
        self.newborn.clear();
    }

    /// Returns whether the current file may repeat a definition that was last made in the file `defined_in`.
    const fn may_repeat(&self, defined_in: u32) -> bool {
        self.file.number > 0 && defined_in != self.file.number
    }

    pub fn apply(
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
                let value = NamedValue { name: name.into(), alias: alias.map(Into::into) };
                let hash = hash_bytes(alias.unwrap_or(name).bare());
                self.define_value(id, value, hash, color)
            }
            Event::CreateContainer { time, name, alias, type_, parent, .. } => self
                .create_container(
                    time,
                    name.into(),
                    alias.map(Into::into),
                    type_.bare(),
                    parent.bare(),
                    &mut effects.mended,
                ),
            Event::DestroyContainer { time, type_, name } => {
                self.destroy_container(time, type_.bare(), name.bare(), at, effects)
            }
            _ => Ok(()),
        }
    }

    /// Defines a value of a known type. `hash` is the hash of the value's identifier.
    pub fn define_value(
        &mut self,
        id: TypeId,
        value: NamedValue<'_>,
        hash: u64,
        color: Option<Color>,
    ) -> Result<(), Failed> {
        let nature = self.types.nature(id);
        if !has_values(nature) {
            let type_ = self.types.named(id);
            return Err((FieldName::Type, Problem::ValueOfType { type_, nature }));
        }
        let count = self.types.value_count(id);
        let NamedValue { name, alias } = value;
        if self.types.define_value(id, value, hash, color, self.value_names) {
            self.note_value(id, ValueId(count as u32));
        } else if !self.repeats_value(id, name, alias) {
            let field = if alias.is_some() { FieldName::Alias } else { FieldName::Name };
            let known = self.types.find_value(id, alias.unwrap_or(name), self.value_names);
            let known =
                known.map_or_else(|| name.named(alias), |value| self.types.named_value(id, value));
            let type_ = self.types.named(id);
            return Err((field, Problem::ValueExists { known, type_ }));
        }
        Ok(())
    }

    fn note_value(&mut self, type_: TypeId, value: ValueId) {
        if self.file.number > 0 {
            self.value_files.insert((type_, value), self.file.number);
        }
    }

    /// Returns whether another file has defined a value in the same way, or used it first.
    fn repeats_value(&mut self, type_: TypeId, name: Name<'_>, alias: Option<Name<'_>>) -> bool {
        let identifier = alias.unwrap_or(name);
        let known = self.types.find_value(type_, identifier, self.value_names);
        let Some(value) = known.filter(|_| self.file.number > 0) else { return false };
        let defined_in = self.value_files.get(&(type_, value)).copied().unwrap_or(0);
        let same = self.types.value_name(type_, value).text == name.text;
        if same && self.may_repeat(defined_in) {
            self.note_value(type_, value);
            return true;
        }
        false
    }

    pub fn define_type(
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
        if let Some(known) = self.types.find(identifier) {
            let types = &self.types;
            let said = (types.name(known).text, types.nature(known), types.parent(known));
            let same = said == (name.text, nature, parent) && types.link_ends(known) == ends;
            if !same || !self.may_repeat(types.defined_in(known)) {
                return Err((field, Problem::TypeExists { known: types.named(known) }));
            }
            self.types.define_again(known, self.file.number);
            return Ok(());
        }
        let defined_in = self.file.number;
        self.types.insert(NewType { name, alias, nature, parent, ends, defined_in });
        Ok(())
    }

    /// Checks the container and the type of a creation that names a file.
    ///
    /// # Errors
    /// The container does not exist or has another type.
    pub fn check_named(&self, container: &[u8], type_name: &[u8]) -> Result<(), Failed> {
        if self.not_created.contains(container) && self.containers.find(container).is_none() {
            return Ok(());
        }
        self.container_of(type_name, container, FieldName::Container).map(drop)
    }

    /// Records a container that is not created because it is later than the replay's last time.
    pub fn leave_out(&mut self, identifier: &[u8]) {
        self.not_created.insert(identifier.to_vec());
    }

    fn container_of(
        &self,
        type_name: &[u8],
        name: &[u8],
        field: FieldName,
    ) -> Result<ContainerId, Failed> {
        let type_ = self.type_(type_name, FieldName::Type)?;
        let container = self.container(name, field)?;
        let found = self.containers.type_of(container);
        if found == type_ {
            return Ok(container);
        }
        let problem = Problem::WrongContainerType {
            container: self.containers.named(container),
            expected: self.types.named(type_),
            found: self.types.named(found),
        };
        Err((FieldName::Type, problem))
    }

    /// Returns the lane of an event. The event's type must have this nature.
    pub fn lane(
        &mut self,
        container_name: &[u8],
        type_name: &[u8],
        expected: TypeNature,
    ) -> Result<LaneId, Failed> {
        let type_ = self.type_(type_name, FieldName::Type)?;
        self.lane_of(container_name, hash_bytes(container_name), type_, expected)
    }

    /// Returns the lane of a known type in the container whose name has this hash.
    pub fn lane_of(
        &mut self,
        container_name: &[u8],
        hash: u64,
        type_: TypeId,
        expected: TypeNature,
    ) -> Result<LaneId, Failed> {
        let nature = self.types.nature(type_);
        if nature != expected {
            let (type_, found) = (self.types.named(type_), nature);
            let problem = Problem::WrongNature { type_, expected, found, event: None };
            return Err((FieldName::Type, problem));
        }
        let unknown = || Problem::UnknownContainer { name: container_name.to_vec() };
        let known = self.containers.find_hashed(container_name, hash);
        let container = known.ok_or_else(|| (FieldName::Container, unknown()))?;
        if self.types.parent(type_) != self.containers.type_of(container) {
            return Err((FieldName::Type, self.not_child(type_, container)));
        }
        Ok(self.find_lane(container, type_).unwrap_or_else(|| self.open_lane(container, type_)))
    }

    pub fn link_end(
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
                    container: self.containers.named(container),
                    expected: self.types.named(expected),
                    found: self.types.named(found),
                },
            )),
            _ => Ok(container),
        }
    }

    /// Returns the value with this name, which has this hash. Creates the value at its first use.
    #[inline]
    pub fn value(&mut self, type_: TypeId, name: Name<'_>, hash: u64) -> ValueId {
        let (value, is_new) = self.types.value(type_, name, hash, self.value_names);
        if is_new {
            self.note_value(type_, value);
        }
        value
    }

    pub fn type_(&self, name: &[u8], field: FieldName) -> Result<TypeId, Failed> {
        let unknown = || (field, Problem::UnknownType { name: name.to_vec() });
        self.types.find(name).ok_or_else(unknown)
    }

    pub fn container_type(&self, name: &[u8], field: FieldName) -> Result<TypeId, Failed> {
        let id = self.type_(name, field)?;
        match self.types.nature(id) {
            TypeNature::Container => Ok(id),
            nature => {
                let type_ = self.types.named(id);
                Err((field, Problem::NotAContainerType { type_, nature }))
            }
        }
    }

    pub fn container(&self, name: &[u8], field: FieldName) -> Result<ContainerId, Failed> {
        let unknown = || (field, Problem::UnknownContainer { name: name.to_vec() });
        self.containers.find(name).ok_or_else(unknown)
    }

    pub fn not_child(&self, type_: TypeId, container: ContainerId) -> Problem {
        Problem::NotChildType {
            type_: self.types.named(type_),
            container: self.containers.named(container),
            container_type: self.types.named(self.containers.type_of(container)),
        }
    }
}

/// Returns whether types of this nature have named values.
pub const fn has_values(nature: TypeNature) -> bool {
    matches!(nature, TypeNature::State | TypeNature::Event | TypeNature::Link)
}

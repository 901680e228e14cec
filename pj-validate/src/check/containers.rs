//! Containers and their creation.

use paje_parser::{Event, Field, FieldName};
use paje_problems::{Named, Problem};

use super::findings::{Findings, Group};
use super::model::{Checked, Map, Model, Spoils, Stop, map};
use super::source::{Source, quoted};
use super::types::{self, identifier_field, other_quoting};
use crate::finding::Thing;

/// The root container.
pub(crate) const ROOT: u32 = 0;

/// All containers by their numbers.
#[derive(Debug)]
pub(crate) struct Containers {
    pub(crate) list: Vec<Container>,
    by_identifier: Map<Box<[u8]>, u32>,
    /// For each destruction, the last file that told or repeated it.
    pub(crate) ended_in: Vec<u32>,
}

/// No file, or no container.
pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) name: Box<[u8]>,
    pub(crate) alias: Option<Box<[u8]>>,
    quoted: bool,
    pub(crate) type_: u32,
    pub(crate) parent: u32,
    /// When it was created, in seconds.
    pub(crate) start: f64,
    /// The last file that created it, or repeated its creation.
    pub(crate) said_in: u32,
    /// In seconds, once it was destroyed.
    pub(crate) end: Option<f64>,
    /// The number of the destruction, and whether this container is the one that it names.
    pub(crate) ending: u32,
    pub(crate) named: bool,
    /// It was destroyed before any file was named: lines of all files for it are ignored.
    pub(crate) ignored: bool,
    /// The file whose lines for it are ignored from here on, beside those that repeat the destruction.
    pub(crate) ignored_in: u32,
    pub(crate) first_child: u32,
    pub(crate) next_sibling: u32,
    /// The time of the last event of its lanes, in file order.
    pub(crate) last_event: Option<f64>,
    /// Those created in it since it was last settled.
    pub(crate) children: Vec<u32>,
    /// Its link lanes.
    pub(crate) links: Vec<u32>,
    /// It and everything in it was destroyed, and it is not among its parent's children.
    pub(crate) settled: bool,
}

impl Containers {
    pub(crate) fn new() -> Self {
        let mut containers =
            Containers { list: Vec::new(), by_identifier: map(), ended_in: Vec::new() };
        containers.insert(b"0", None, false, types::ROOT, ROOT);
        containers
    }

    pub(crate) fn find(&self, identifier: &[u8]) -> Option<u32> {
        self.by_identifier.get(identifier).copied()
    }

    /// Whether this is the container's identifier.
    #[inline]
    pub(crate) fn is(&self, id: u32, identifier: &[u8]) -> bool {
        self.identifier(id) == identifier
    }

    pub(crate) fn identifier(&self, id: u32) -> &[u8] {
        let container = self.get(id);
        container.alias.as_deref().unwrap_or(&container.name)
    }

    /// What messages call the container.
    pub(crate) fn named(&self, id: u32) -> Named {
        let container = self.get(id);
        Named::new(&container.name, container.alias.as_deref())
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &Container {
        &self.list[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Container {
        &mut self.list[id as usize]
    }

    #[inline]
    pub(crate) fn type_of(&self, id: u32) -> u32 {
        self.get(id).type_
    }

    /// A field names the container: its quotes should be those of its creation.
    #[inline]
    pub(crate) fn referred(
        &self,
        id: u32,
        name: Field<'_>,
        field: FieldName,
        source: &Source<'_>,
        findings: &mut Findings,
    ) {
        let container = self.get(id);
        if quoted(name) != container.quoted {
            let group = Group::ids("container-quoting", container.type_, 0);
            let thing = (Thing::Container, self.named(id));
            other_quoting(thing, name, field, group, source, findings);
        }
    }

    /// The identifier must be free.
    fn insert(
        &mut self,
        name: &[u8],
        alias: Option<&[u8]>,
        quoted: bool,
        type_: u32,
        parent: u32,
    ) -> u32 {
        let id = self.list.len() as u32;
        self.by_identifier.insert(alias.unwrap_or(name).into(), id);
        self.list.push(Container {
            name: name.into(),
            alias: alias.map(Into::into),
            quoted,
            type_,
            parent,
            start: 0.0,
            said_in: 0,
            end: None,
            ending: NONE,
            named: false,
            ignored: false,
            ignored_in: NONE,
            first_child: NONE,
            next_sibling: NONE,
            last_event: None,
            children: Vec::new(),
            links: Vec::new(),
            settled: false,
        });
        if id != ROOT {
            let before = std::mem::replace(&mut self.get_mut(parent).first_child, id);
            self.get_mut(id).next_sibling = before;
        }
        // What was settled lives again, and must be found from above.
        let (mut child, mut above) = (id, parent);
        while child != ROOT {
            self.get_mut(above).children.push(child);
            if !std::mem::take(&mut self.get_mut(above).settled) {
                break;
            }
            (child, above) = (above, self.get(above).parent);
        }
        id
    }
}

impl Model {
    /// PajeCreateContainer.
    pub(crate) fn create_container(
        &mut self,
        event: &Event<'_>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        let Event::CreateContainer { time, name, alias, type_, parent, .. } = event else {
            return Ok(());
        };
        let identifier = alias.unwrap_or(*name);
        let spoiling =
            |stop: Box<Stop>| stop.spoiling(Spoils::Container(identifier.bare().to_vec()));
        let id =
            self.container_type(*type_, FieldName::Type, source, findings).map_err(spoiling)?;
        self.types.get_mut(id).used = true;
        // A container in the wrong place is made all the same, so that its events can be checked.
        let mut misplaced = None;
        let parent = match self.find_container(*parent, FieldName::Container, source, findings) {
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
        let made = self.make_container((*name, *alias), id, parent, *time, source.here.file);
        match (misplaced, made) {
            (Some(stop), _) => Err(stop),
            (None, made) => made,
        }
    }

    fn make_container(
        &mut self,
        (name, alias): (Field<'_>, Option<Field<'_>>),
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
            // Files may repeat what others say.
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

    /// A container that a field names, which must be of the type that another names.
    pub(crate) fn container_of_type(
        &mut self,
        type_: Field<'_>,
        name: Field<'_>,
        field: FieldName,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<u32> {
        let expected = self.find_type(type_, FieldName::Type, source, findings)?;
        let id = self.find_container(name, field, source, findings)?;
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
}

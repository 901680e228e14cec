//! Containers: creation, destruction, and what dies with them.

use paje_parser::{Event, Field, FieldName};
use paje_sim::error::{Problem, WarningKind};

use super::findings::{Findings, Group};
use super::model::{Checked, Map, Model, Spoils, Stop, map};
use super::source::{Source, quoted};
use super::types::{self, identifier_field, other_quoting};
use crate::finding::{Cause, Severity, Thing};

/// The root container.
pub(crate) const ROOT: u32 = 0;

/// All containers by their numbers.
#[derive(Debug)]
pub(crate) struct Containers {
    pub(crate) list: Vec<Container>,
    by_identifier: Map<Box<[u8]>, u32>,
}

#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) name: Box<[u8]>,
    pub(crate) alias: Option<Box<[u8]>>,
    quoted: bool,
    pub(crate) type_: u32,
    pub(crate) parent: u32,
    /// In seconds, once it was destroyed.
    pub(crate) end: Option<f64>,
    /// The time of the last event of its lanes, in file order.
    pub(crate) last_event: Option<f64>,
    /// Those created in it since it was last settled.
    children: Vec<u32>,
    /// Its link lanes.
    pub(crate) links: Vec<u32>,
    /// It and everything in it was destroyed, and it is not among its parent's children.
    settled: bool,
}

impl Containers {
    pub(crate) fn new() -> Self {
        let mut containers = Containers { list: Vec::new(), by_identifier: map() };
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
            other_quoting(Thing::Container, name, field, group, source, findings);
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
            end: None,
            last_event: None,
            children: Vec::new(),
            links: Vec::new(),
            settled: false,
        });
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

    /// Destroys a container and all that live in it; returns those in the order of their creation.
    fn destroy(&mut self, id: u32, time: f64) -> Vec<u32> {
        let mut ended = Vec::new();
        let mut pending = vec![id];
        while let Some(next) = pending.pop() {
            let container = self.get_mut(next);
            if container.end.is_none() {
                container.end = Some(time);
                ended.push(next);
            }
            // The one named stays among its parent's children.
            container.settled = next != id;
            pending.append(&mut container.children);
        }
        ended.sort_unstable();
        ended
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
        let Event::CreateContainer { name, alias, type_, parent, .. } = event else {
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
        let made = self.make_container(*name, *alias, id, parent);
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
    ) -> Checked<()> {
        let identifier = alias.unwrap_or(name);
        let field = identifier_field(alias);
        if identifier.bare() == b"0" {
            return Err(Stop::at(field, Problem::ReservedContainer));
        }
        if self.containers.find(identifier.bare()).is_some() {
            let name = identifier.bare().to_vec();
            let group = Group::named("container-exists", 0, &name);
            return Err(Stop::at(field, Problem::ContainerExists { name }).once(group));
        }
        self.containers.insert(
            name.bare(),
            alias.map(Field::bare),
            quoted(identifier),
            type_,
            parent,
        );
        self.types.get_mut(type_).objects += 1;
        Ok(())
    }

    /// PajeDestroyContainer.
    pub(crate) fn destroy_container(
        &mut self,
        time: f64,
        type_: Field<'_>,
        name: Field<'_>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        let expected = self.find_type(type_, FieldName::Type, source, findings)?;
        let id = self.find_container(name, FieldName::Name, source, findings)?;
        let found = self.containers.type_of(id);
        if expected != found {
            return Err(Stop::at(
                FieldName::Type,
                Problem::WrongContainerType {
                    container: name.bare().to_vec(),
                    expected: type_.bare().to_vec(),
                    found: self.types.identifier(found).to_vec(),
                },
            ));
        }
        let container = self.containers.get(id);
        let too_early = |last| {
            let container = name.bare().to_vec();
            let problem = Problem::DestroyedTooEarly { container, time, last };
            Stop::at(FieldName::Time, problem)
        };
        if let Some(end) = container.end {
            if time < end {
                return Err(too_early(end));
            }
            source.warn_as_replay(FieldName::Name, WarningKind::AfterDestroy, findings);
            return Ok(());
        }
        let last = container.last_event.filter(|last| time < *last);
        let ended = self.containers.destroy(id, last.unwrap_or(time));
        if let Some(last) = last {
            // Incomplete links would be a second error of the same line.
            for id in ended {
                self.open_links(id);
            }
            return Err(too_early(last));
        }
        for id in ended {
            for (problem, note) in self.open_links(id) {
                let span = source.event.span(FieldName::Name).unwrap_or_default();
                let cause = Cause::Problem(problem);
                let mut finding = source.here.finding(Severity::Error, cause, span);
                finding.note = Some(note);
                findings.add(finding, None);
            }
        }
        Ok(())
    }
}

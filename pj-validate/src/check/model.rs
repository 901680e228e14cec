//! What the trace describes so far, and what an event does to it.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;

use foldhash::fast::RandomState;
use paje_parser::{Event, FaultKind, Field, FieldName, TypeNature, number};
use paje_problems::Problem;

use super::containers::Containers;
use super::endings::Ending;
use super::files::Files;
use super::findings::{Findings, Group, Told};
use super::lanes::Lanes;
use super::source::Source;
use super::types::Types;
use super::{Options, Rules};
use crate::finding::{Cause, Severity};

pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

/// An empty map.
pub(crate) fn map<K: Eq + Hash, V>() -> Map<K, V> {
    Map::default()
}

/// Why an event was skipped. Boxed, so that what is rare costs little where all is well.
#[derive(Debug)]
pub(crate) enum Stop {
    Problem(Trouble),
    /// Something that the event names could not be made; `of` tells why.
    Consequence {
        of: Told,
        spoils: Option<Spoils>,
    },
}

/// A problem with an event.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) problem: Problem,
    /// The field that it is about.
    pub(crate) field: FieldName,
    pub(crate) group: Option<Group>,
    /// What could not be made because of it.
    pub(crate) spoils: Option<Spoils>,
}

/// What an event was to make, by its identifier.
#[derive(Clone, Debug)]
pub(crate) enum Spoils {
    Type(Vec<u8>),
    Container(Vec<u8>),
}

pub(crate) type Checked<T> = Result<T, Box<Stop>>;

impl Stop {
    pub(crate) fn at(field: FieldName, problem: Problem) -> Box<Self> {
        Box::new(Stop::Problem(Trouble { problem, field, group: None, spoils: None }))
    }

    /// The same, told once for the group.
    pub(crate) fn once(mut self: Box<Self>, group: Group) -> Box<Self> {
        if let Stop::Problem(trouble) = &mut *self {
            trouble.group = Some(group);
        }
        self
    }

    /// The same, and something could not be made because of it.
    pub(crate) fn spoiling(mut self: Box<Self>, what: Spoils) -> Box<Self> {
        match &mut *self {
            Stop::Problem(trouble) => trouble.spoils = Some(what),
            Stop::Consequence { spoils, .. } => *spoils = Some(what),
        }
        self
    }
}

/// Names that could not be made, and the finding that says why.
#[derive(Debug, Default)]
pub(crate) struct Spoiled {
    types: Map<Vec<u8>, Told>,
    containers: Map<Vec<u8>, Told>,
}

/// Types, containers and lanes met so far.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) types: Types,
    pub(crate) containers: Containers,
    pub(crate) lanes: Lanes,
    pub(crate) spoiled: Spoiled,
    pub(crate) files: Files,
    /// Destructions that end lanes only when everything has been read.
    pub(crate) endings: Vec<Ending>,
    pub(crate) rules: Rules,
    pub(crate) ignore_incomplete_links: bool,
    pub(crate) times: Option<(f64, f64)>,
    /// The type and the container that the last event named: the next one often names them again.
    last: Option<(u32, u32)>,
}

impl Model {
    pub(crate) fn new(options: &Options) -> Self {
        Model {
            types: Types::new(),
            containers: Containers::new(),
            lanes: Lanes::default(),
            spoiled: Spoiled::default(),
            files: Files::of(Path::new("-"), false, None),
            endings: Vec::new(),
            rules: options.rules,
            ignore_incomplete_links: options.ignore_incomplete_links,
            times: None,
            last: None,
        }
    }

    /// Checks an event, and does what it says.
    pub(crate) fn event(
        &mut self,
        event: &Event<'_>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        match event {
            Event::Entity { op, time, type_, container, value } => {
                if op.nature() == TypeNature::Variable {
                    variable_value(*value, source)?;
                }
                self.entity(*op, *time, *type_, *container, *value, source, findings)
            }
            Event::Link { .. } => self.link(event, source, findings),
            Event::CreateContainer { file, .. } => {
                let created = self.create_container(event, source, findings);
                // Its lines are checked also where something is wrong with the container.
                let named = file.map_or(Ok(()), |file| self.name_file(file, source, findings));
                created.and(named)
            }
            Event::DestroyContainer { time, type_, name } => {
                self.destroy_container(*time, *type_, *name, source, findings)
            }
            Event::DefineType { .. } | Event::DefineLinkType { .. } => {
                self.define_type(event, source, findings)
            }
            Event::DefineValue { name, alias, type_, .. } => {
                self.define_value(*name, *alias, *type_, source, findings)
            }
            Event::TraceFile { .. } => self.trace_file(event, source, findings),
            // A kind of event that this checker does not know yet has nothing to check.
            _ => Ok(()),
        }
    }

    /// Remembers that something could not be made.
    fn spoil(&mut self, spoils: Option<Spoils>, told: Told) {
        match spoils {
            Some(Spoils::Type(name)) => {
                self.spoiled.types.entry(name).or_insert(told);
            }
            Some(Spoils::Container(name)) => {
                self.spoiled.containers.entry(name).or_insert(told);
            }
            None => {}
        }
    }

    /// Tells why an event was skipped, and remembers what could not be made because of it.
    #[cold]
    pub(crate) fn refuse(&mut self, stop: Stop, source: &Source<'_>, findings: &mut Findings) {
        match stop {
            Stop::Consequence { of, spoils } => {
                findings.consequence(of);
                self.spoil(spoils, of);
            }
            Stop::Problem(Trouble { problem, field, group, spoils }) => {
                let span = source.event.span(field).unwrap_or_default();
                let problem = problem.of_event(|| Some(source.event_name()));
                let finding = source.finding(Severity::Error, Cause::Problem(problem), span);
                let told = findings.add(finding, group);
                self.spoil(spoils, told);
            }
        }
    }

    /// A time of the trace, which ends at its latest one.
    pub(crate) fn see(&mut self, time: f64) {
        self.times = Some(match self.times {
            Some((first, last)) => (first.min(time), last.max(time)),
            None => (time, time),
        });
    }

    /// The type that a field names.
    #[inline]
    pub(crate) fn find_type(
        &mut self,
        name: Field<'_>,
        field: FieldName,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<u32> {
        let last = self.last.map_or(0, |(type_, _)| type_);
        let id = if self.types.is(last, name.bare()) {
            last
        } else {
            match self.types.find(name.bare()) {
                Some(id) => id,
                None => return Err(self.unknown_type(name.bare(), field)),
            }
        };
        self.types.referred(id, name, field, source, findings);
        Ok(id)
    }

    /// The container that a field names.
    #[inline]
    pub(crate) fn find_container(
        &mut self,
        name: Field<'_>,
        field: FieldName,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<u32> {
        let last = self.last.map_or(0, |(_, container)| container);
        let id = if self.containers.is(last, name.bare()) {
            last
        } else {
            match self.containers.find(name.bare()) {
                Some(id) => id,
                None => return Err(self.unknown_container(name.bare(), field)),
            }
        };
        self.containers.referred(id, name, field, source, findings);
        Ok(id)
    }

    /// Notes what the next event is likely to name again.
    pub(crate) const fn remember(&mut self, type_: u32, container: u32) {
        self.last = Some((type_, container));
    }

    #[cold]
    fn unknown_type(&self, name: &[u8], field: FieldName) -> Box<Stop> {
        if let Some(of) = self.spoiled.types.get(name) {
            return Box::new(Stop::Consequence { of: *of, spoils: None });
        }
        let problem = Problem::UnknownType { name: name.to_vec() };
        Stop::at(field, problem).once(Group::named("unknown-type", 0, name))
    }

    #[cold]
    fn unknown_container(&self, name: &[u8], field: FieldName) -> Box<Stop> {
        if let Some(of) = self.spoiled.containers.get(name) {
            return Box::new(Stop::Consequence { of: *of, spoils: None });
        }
        let problem = Problem::UnknownContainer { name: name.to_vec() };
        Stop::at(field, problem).once(Group::named("unknown-container", 0, name))
    }

    /// A type that is used in a container of another type than it belongs to.
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

/// A variable's value must be a number; any number is.
fn variable_value(value: Option<Field<'_>>, source: &Source<'_>) -> Checked<()> {
    let word = value.map_or(&b""[..], Field::bare);
    if number::parse_f64(word).is_some() {
        return Ok(());
    }
    let fault = FaultKind::BadNumber;
    let problem = Problem::Line { fault, word: word.to_vec(), event: None };
    let group = Group::named(fault.code(), source.def, word);
    Err(Stop::at(FieldName::Value, problem).once(group))
}

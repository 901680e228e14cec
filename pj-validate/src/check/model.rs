//! State of the replay, and the effects of events on it.

use paje_parser::{Event, FaultKind, Field, FieldName, TypeNature, number};
use paje_sim::error::Problem;

use super::endings::Endings;
use super::findings::{FindingIndex, Group};
use super::options::Options;
use super::source::Source;
use super::stop::{Checked, Spoils, Stop, Trouble};
use super::world::World;
use crate::finding::{Cause, Severity};

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) world: World,
    pub(crate) endings: Endings,
    pub(crate) times: Option<(f64, f64)>,
}

impl Model {
    pub(crate) fn new(options: &Options) -> Self {
        Model {
            world: World::new(options.ignore_incomplete_links),
            endings: Endings::default(),
            times: None,
        }
    }

    pub(crate) fn event(&mut self, event: &Event<'_>, source: &mut Source<'_>) -> Checked<()> {
        let World { things, lanes, .. } = &mut self.world;
        match event {
            Event::Entity { op, value, .. } => {
                if op.nature() == TypeNature::Variable {
                    variable_value(*value, source)?;
                }
                lanes.entity(event, things, source)
            }
            Event::Link { .. } => lanes.link(event, things, source),
            Event::CreateContainer { .. } => self.world.create_container(event, source),
            Event::DestroyContainer { time, type_, name } => {
                let world = &mut self.world;
                self.endings.destroy_container(*time, *type_, *name, world, source)
            }
            Event::DefineType { .. } | Event::DefineLinkType { .. } => {
                things.types.define_type(event, source)
            }
            Event::DefineValue { name, alias, type_, .. } => {
                things.types.define_value(*name, *alias, *type_, source)
            }
            Event::TraceFile { .. } => self.world.trace_file(event, source),
            _ => Ok(()),
        }
    }

    fn spoil(&mut self, spoils: Option<Spoils>, told: FindingIndex) {
        match spoils {
            Some(Spoils::Type(name)) => self.world.things.types.spoil(name, told),
            Some(Spoils::Container(name)) => self.world.things.containers.spoil(name, told),
            None => {}
        }
    }

    /// Reports why an event was skipped, and remembers the object that it should have created.
    #[cold]
    pub(crate) fn refuse(&mut self, stop: Stop, source: &mut Source<'_>) {
        match stop {
            Stop::Consequence { of, spoils } => {
                source.findings.consequence(of);
                self.spoil(spoils, of);
            }
            Stop::Problem(Trouble { problem, field, group, spoils }) => {
                let span = source.event.span(field).unwrap_or_default();
                let problem = problem.of_event(|| Some(source.event_name()));
                let finding = source.finding(Severity::Error, Cause::Problem(problem), span);
                let told = source.findings.add(finding, group);
                self.spoil(spoils, told);
            }
        }
    }

    /// Extends the trace to a time. The trace ends at its latest time.
    pub(crate) fn see(&mut self, time: f64) {
        self.times = Some(match self.times {
            Some((first, last)) => (first.min(time), last.max(time)),
            None => (time, time),
        });
    }
}

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

//! Model of the trace so far, and the effect of an event on it.

use paje_parser::{Event, FaultKind, Field, FieldName, TypeNature, number};
use paje_sim::error::Problem;

use super::endings::Endings;
use super::findings::{Findings, Group, Told};
use super::options::Options;
use super::source::Source;
use super::stop::{Checked, Spoils, Stop, Trouble};
use super::world::World;
use crate::finding::{Cause, Severity};

/// The replay of a trace.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) world: World,
    pub(crate) endings: Endings,
    pub(crate) times: Option<(f64, f64)>,
}

impl Model {
    pub(crate) fn new(options: &Options) -> Self {
        Model { world: World::new(options), endings: Endings::default(), times: None }
    }

    /// Checks an event, and does what it says.
    pub(crate) fn event(
        &mut self,
        event: &Event<'_>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        let World { things, lanes, .. } = &mut self.world;
        match event {
            Event::Entity { op, value, .. } => {
                if op.nature() == TypeNature::Variable {
                    variable_value(*value, source)?;
                }
                lanes.entity(event, things, source, findings)
            }
            Event::Link { .. } => lanes.link(event, things, source, findings),
            Event::CreateContainer { .. } => self.world.create_container(event, source, findings),
            Event::DestroyContainer { time, type_, name } => {
                let said = (*time, *type_, *name);
                self.endings.destroy_container(said, &mut self.world, source, findings)
            }
            Event::DefineType { .. } | Event::DefineLinkType { .. } => {
                things.types.define_type(event, source, findings)
            }
            Event::DefineValue { name, alias, type_, .. } => {
                things.types.define_value(*name, *alias, *type_, source, findings)
            }
            Event::TraceFile { .. } => self.world.trace_file(event, source, findings),
            // A kind of event that this checker does not know yet has nothing to check.
            _ => Ok(()),
        }
    }

    /// Remembers that something could not be made.
    fn spoil(&mut self, spoils: Option<Spoils>, told: Told) {
        match spoils {
            Some(Spoils::Type(name)) => self.world.things.types.spoil(name, told),
            Some(Spoils::Container(name)) => self.world.things.containers.spoil(name, told),
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

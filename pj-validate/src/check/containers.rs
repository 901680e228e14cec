//! Containers: creation, destruction, and what dies with them.

use paje_parser::{Event, Field, FieldName, Span};
use paje_sim::error::{Problem, WarningKind};

use super::findings::{self, Findings, Group};
use super::model::{Checked, Map, Model, Spoils, Stop, map};
use super::source::{Place, Source, quoted};
use super::types::{self, identifier_field, other_quoting};
use crate::finding::{Cause, Thing};
use crate::finding::{Finding, Severity};

/// The root container.
pub(crate) const ROOT: u32 = 0;

/// All containers by their numbers.
#[derive(Debug)]
pub(crate) struct Containers {
    pub(crate) list: Vec<Container>,
    by_identifier: Map<Box<[u8]>, u32>,
    /// For each destruction, the last file that told or repeated it.
    ended_in: Vec<u32>,
}

/// A destruction after a file was named. Other files may hold events of what it ends, and these count.
#[derive(Debug)]
pub(crate) struct Ending {
    container: u32,
    /// All that it ends, in the order of their creation.
    ended: Vec<u32>,
    /// In seconds.
    time: f64,
    /// The fields for the time and for the container, each with its length.
    at: [(Place, u64); 2],
}

/// No file, or no container.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) name: Box<[u8]>,
    pub(crate) alias: Option<Box<[u8]>>,
    quoted: bool,
    pub(crate) type_: u32,
    pub(crate) parent: u32,
    /// When it was created, in seconds.
    start: f64,
    /// The last file that created it, or repeated its creation.
    said_in: u32,
    /// In seconds, once it was destroyed.
    pub(crate) end: Option<f64>,
    /// The number of the destruction, and whether this container is the one that it names.
    ending: u32,
    named: bool,
    /// It was destroyed before any file was named: lines of all files for it are ignored.
    ignored: bool,
    /// The file whose lines for it are ignored from here on, beside those that repeat the destruction.
    ignored_in: u32,
    first_child: u32,
    next_sibling: u32,
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

    /// Whether lines of this file for the container are ignored from here on.
    #[inline]
    pub(crate) fn is_ignored(&self, id: u32, file: u32) -> bool {
        let container = self.get(id);
        container.end.is_some() && (container.ignored || self.is_ended_in(container, file))
    }

    /// Whether this file has told that the container ends.
    fn is_ended_in(&self, container: &Container, file: u32) -> bool {
        let told = self.ended_in.get(container.ending as usize);
        container.ignored_in == file || told == Some(&file)
    }

    /// A file repeats the destruction of another: its later lines for all that ended then are
    /// ignored too. Returns whether it does so for the first time.
    fn destroy_again(&mut self, id: u32, file: u32) -> bool {
        let container = self.get(id);
        let (ending, named) = (container.ending, container.named);
        if self.is_ended_in(container, file) {
            return false;
        }
        if named {
            self.ended_in[ending as usize] = file;
            return true;
        }
        // It ended with one that it is in, and this file may say that of it alone.
        let mut pending = vec![id];
        while let Some(next) = pending.pop() {
            let container = self.get(next);
            if self.is_ended_in(container, file) {
                continue;
            }
            let mut child = container.first_child;
            while child != NONE {
                pending.push(child);
                child = self.get(child).next_sibling;
            }
            let container = self.get_mut(next);
            if container.ending == ending {
                container.ignored_in = file;
            }
        }
        true
    }

    /// Destroys a container and all that live in it; returns those in the order of their creation.
    /// Later lines of the file `told_in` for them are ignored; those of all files if `ignored`.
    fn destroy(&mut self, id: u32, time: f64, told_in: u32, ignored: bool) -> Vec<u32> {
        let ending = self.ended_in.len() as u32;
        self.ended_in.push(told_in);
        let mut ended = Vec::new();
        let mut pending = vec![id];
        while let Some(next) = pending.pop() {
            let container = self.get_mut(next);
            if container.end.is_none() {
                container.end = Some(time);
                container.ignored = ignored;
                (container.ending, container.named) = (ending, next == id);
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
        if let Some(known) = self.containers.find(identifier.bare()) {
            let known = self.containers.get_mut(known);
            let same = *known.name == *name.bare()
                && (known.type_, known.parent, known.start) == (type_, parent, start);
            // Files may repeat what others say.
            if std::mem::replace(&mut known.said_in, file) != file && same {
                return Ok(());
            }
            let name = identifier.bare().to_vec();
            let group = Group::named("container-exists", 0, &name);
            return Err(Stop::at(field, Problem::ContainerExists { name }).once(group));
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
            container: name.bare().to_vec(),
            expected: type_.bare().to_vec(),
            found: self.types.identifier(found).to_vec(),
        };
        Err(Stop::at(FieldName::Type, problem))
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
        let id = self.container_of_type(type_, name, FieldName::Name, source, findings)?;
        let file = source.here.file;
        let container = self.containers.get(id);
        if let Some(end) = container.end {
            if time < end {
                return Err(Stop::at(FieldName::Time, self.too_early(id, time, end)));
            }
            if time == end && self.containers.destroy_again(id, file) {
                return Ok(());
            }
            source.warn_as_replay(FieldName::Name, WarningKind::AfterDestroy, findings);
            return Ok(());
        }
        let later = self.files.any_named();
        let last = container.last_event.filter(|last| time < *last && !later);
        let ended = self.containers.destroy(id, last.unwrap_or(time), file, !later);
        let width =
            |field| source.event.span(field).map_or(0, |span| u64::from(span.end - span.start));
        let at =
            [FieldName::Time, FieldName::Name].map(|field| (source.place(field), width(field)));
        let ending = Ending { container: id, ended, time, at };
        if later {
            self.endings.push(ending);
            return Ok(());
        }
        for mut finding in self.end(&ending, last) {
            let start = finding.position.map_or(0, |position| position.column as u32 - 1);
            let end = start + finding.width as u32;
            let shown =
                source.here.finding(finding.severity, finding.cause.clone(), Span { start, end });
            finding.excerpt = shown.excerpt;
            findings.add(finding, None);
        }
        Ok(())
    }

    /// Applies the destructions that had to wait until every file was read.
    pub(crate) fn end_what_was_destroyed(&mut self, findings: &mut Findings) {
        for ending in std::mem::take(&mut self.endings) {
            let last = self.containers.get(ending.container).last_event;
            let last = last.filter(|last| ending.time < *last);
            for finding in self.end(&ending, last) {
                findings.add(finding, None);
            }
        }
    }

    /// Ends the lanes of containers; returns what is wrong with that. If it came too early, `last` is
    /// the time of the container's last event.
    fn end(&mut self, ending: &Ending, last: Option<f64>) -> Vec<Finding> {
        let [time, name] = ending.at;
        let told = |problem, (place, width)| {
            findings::earlier(Severity::Error, Cause::Problem(problem), Some(place), width)
        };
        let file = name.0.file;
        let open = ending.ended.iter().flat_map(|id| self.open_links(*id, file));
        let open: Vec<_> = open.collect();
        if let Some(last) = last {
            // Incomplete links would be a second error of the same line.
            return vec![told(self.too_early(ending.container, ending.time, last), time)];
        }
        let noted = open
            .into_iter()
            .map(|(problem, note)| Finding { note: Some(note), ..told(problem, name) });
        noted.collect()
    }

    fn too_early(&self, id: u32, time: f64, last: f64) -> Problem {
        let container = self.containers.identifier(id).to_vec();
        Problem::DestroyedTooEarly { container, time, last }
    }
}

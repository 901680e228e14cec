//! Destruction of containers.
//!
//! After a destruction, later lines of its file for the container are ignored. The events of files
//! that are read one after the other may have happened at the same time. So lines of other files
//! count, and lanes end when everything has been read. If no file was named before the destruction,
//! lanes end at once.

use paje_parser::{Field, FieldName, Span};
use paje_sim::error::{Problem, WarningKind};

use super::containers::{Container, Containers, NONE};
use super::findings::{self, Findings};
use super::place::Place;
use super::source::Source;
use super::stop::{Checked, Stop};
use super::world::World;
use crate::finding::{Cause, Finding, Severity};

/// Destructions whose lanes end only when everything has been read.
#[derive(Debug, Default)]
pub(crate) struct Endings(Vec<Ending>);

/// A destruction after a file was named. It is applied at the end, because other files may have
/// events of its containers.
#[derive(Debug)]
struct Ending {
    container: u32,
    ended: Vec<u32>,
    time: f64,
    /// Whether the destruction repeats one of another file. If so, it ends only containers that its
    /// own file has created.
    again: bool,
    /// Positions of the time and of the container's name, each with its length.
    at: [(Place, u64); 2],
}

impl Containers {
    /// Returns whether later lines of this file for the container are ignored.
    #[inline]
    pub(crate) fn is_ignored(&self, id: u32, file: u32) -> bool {
        let container = self.get(id);
        container.end.is_some() && (container.ignored || self.is_ended_in(container, file))
    }

    fn is_ended_in(&self, container: &Container, file: u32) -> bool {
        let destroyed = self.list.get(container.destroyed as usize);
        container.ignored_in == file || destroyed.is_some_and(|it| it.ignored_in == file)
    }

    /// Repeats another file's destruction, so that later lines of `file` are ignored too. Returns
    /// whether `file` repeats it for the first time.
    fn destroy_again(&mut self, id: u32, file: u32) -> bool {
        let container = self.get(id);
        let destroyed = container.destroyed;
        if self.is_ended_in(container, file) {
            return false;
        }
        if destroyed == id {
            self.get_mut(id).ignored_in = file;
            return true;
        }
        // An ancestor's destruction ended the container, but this file may repeat the destruction
        // for this container alone.
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
            if container.destroyed == destroyed {
                container.ignored_in = file;
            }
        }
        true
    }

    /// Ends the containers that `file` has created in a container whose destruction it repeats.
    /// Returns them in the order of creation.
    fn end_newborn(&mut self, id: u32, file: u32) -> Vec<u32> {
        let (time, destroyed) = (self.get(id).end, self.get(id).destroyed);
        let mut ended = Vec::new();
        let mut pending = vec![id];
        while let Some(next) = pending.pop() {
            for index in 0..self.get(next).children.len() {
                let child = self.get(next).children[index];
                let container = self.get_mut(child);
                if container.end.is_none() && container.said_in == file {
                    container.end = time;
                    (container.destroyed, container.ignored_in) = (destroyed, file);
                    ended.push(child);
                }
                pending.push(child);
            }
        }
        ended.sort_unstable();
        ended
    }

    /// Destroys a container and its living descendants. Returns them in the order of creation.
    /// Their later lines in file `told_in` are ignored. If `ignored` is true, their later lines in
    /// all files are.
    fn destroy(&mut self, id: u32, time: f64, told_in: u32, ignored: bool) -> Vec<u32> {
        self.get_mut(id).ignored_in = told_in;
        let mut ended = Vec::new();
        let mut pending = vec![id];
        while let Some(next) = pending.pop() {
            let container = self.get_mut(next);
            if container.end.is_none() {
                container.end = Some(time);
                container.ignored = ignored;
                container.destroyed = id;
                ended.push(next);
            }
            // The named container stays among its parent's children.
            container.settled = next != id;
            pending.append(&mut container.children);
        }
        ended.sort_unstable();
        ended
    }
}

fn destroyed_at(source: &Source<'_>) -> [(Place, u64); 2] {
    let width = |field| source.event.span(field).map_or(0, |span| u64::from(span.end - span.start));
    [FieldName::Time, FieldName::Name].map(|field| (source.place(field), width(field)))
}

impl Endings {
    pub(crate) fn destroy_container(
        &mut self,
        time: f64,
        type_: Field<'_>,
        name: Field<'_>,
        world: &mut World,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let id = world.things.container_of_type(type_, name, FieldName::Name, source)?;
        let file = source.here.file;
        let container = world.things.containers.get(id);
        if let Some(end) = container.end {
            if time < end {
                return Err(Stop::at(FieldName::Time, ends_too_early(world, id, time, end)));
            }
            if time == end && world.things.containers.destroy_again(id, file) {
                let ended = world.things.containers.end_newborn(id, file);
                if !ended.is_empty() {
                    let at = destroyed_at(source);
                    self.0.push(Ending { container: id, ended, time, again: true, at });
                }
                return Ok(());
            }
            source.warn_as_replay(FieldName::Name, WarningKind::AfterDestroy);
            return Ok(());
        }
        let later = world.files.any_named();
        let last = container.last_event.filter(|last| time < *last && !later);
        let ended = world.things.containers.destroy(id, last.unwrap_or(time), file, !later);
        let at = destroyed_at(source);
        let ending = Ending { container: id, ended, time, again: false, at };
        if later {
            self.0.push(ending);
            return Ok(());
        }
        for mut finding in ending.apply(last, world) {
            let start = finding.position.map_or(0, |position| position.column as u32 - 1);
            let end = start + finding.width as u32;
            let shown =
                source.here.finding(finding.severity, finding.cause.clone(), Span { start, end });
            finding.excerpt = shown.excerpt;
            source.findings.add(finding, None);
        }
        Ok(())
    }

    pub(crate) fn apply(&mut self, world: &mut World, findings: &mut Findings) {
        for ending in std::mem::take(&mut self.0) {
            let last = world.things.containers.get(ending.container).last_event;
            let last = last.filter(|last| ending.time < *last && !ending.again);
            for finding in ending.apply(last, world) {
                findings.known_at_end(finding);
            }
        }
    }
}

impl Ending {
    /// Ends the lanes of the destroyed containers. Returns the problems. If the destruction came
    /// too early, `last` is the time of the container's last event.
    fn apply(&self, last: Option<f64>, world: &mut World) -> Vec<Finding> {
        let [time, name] = self.at;
        let told = |problem, (place, width)| {
            findings::finding(Severity::Error, Cause::Problem(problem), Some(place), width)
        };
        let file = name.0.file;
        let open = self.ended.iter().flat_map(|id| world.open_links(*id, file));
        let open: Vec<_> = open.collect();
        if let Some(last) = last {
            // A report of incomplete links would be a second error on this line.
            return vec![told(ends_too_early(world, self.container, self.time, last), time)];
        }
        let noted = open
            .into_iter()
            .map(|(problem, note)| Finding { note: Some(note), ..told(problem, name) });
        noted.collect()
    }
}

fn ends_too_early(world: &World, id: u32, time: f64, last: f64) -> Problem {
    let container = world.things.containers.named(id);
    Problem::DestroyedTooEarly { container, time, last }
}

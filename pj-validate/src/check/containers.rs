//! Containers.

use paje_parser::{Field, FieldName};
use paje_problems::{Named, Problem};

use super::findings::{Findings, Group, Told};
use super::source::{Source, quoted};
use super::stop::{Checked, Map, Stop, map};
use super::types::{self, other_quoting};
use crate::finding::Thing;

/// The root container.
pub(crate) const ROOT: u32 = 0;

/// All containers by their numbers.
#[derive(Debug)]
pub(crate) struct Containers {
    pub(crate) list: Vec<Container>,
    by_identifier: Map<Box<[u8]>, u32>,
    /// Identifiers of containers that could not be made, and the finding that says why.
    spoiled: Map<Vec<u8>, Told>,
    /// The one that the last event of a lane named: the next one often names it again.
    pub(crate) last: u32,
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
    /// The time when it was created, in seconds.
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
        let mut containers = Containers {
            list: Vec::new(),
            by_identifier: map(),
            spoiled: map(),
            last: ROOT,
            ended_in: Vec::new(),
        };
        containers.insert(b"0", None, false, types::ROOT, ROOT);
        containers
    }

    /// Remembers that a container could not be made.
    pub(crate) fn spoil(&mut self, identifier: Vec<u8>, told: Told) {
        self.spoiled.entry(identifier).or_insert(told);
    }

    /// The container that a field names.
    #[inline]
    pub(crate) fn named_by(
        &self,
        name: Field<'_>,
        field: FieldName,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<u32> {
        let id = if self.is(self.last, name.bare()) {
            self.last
        } else {
            match self.find(name.bare()) {
                Some(id) => id,
                None => return Err(self.unknown(name.bare(), field)),
            }
        };
        self.referred(id, name, field, source, findings);
        Ok(id)
    }

    #[cold]
    fn unknown(&self, name: &[u8], field: FieldName) -> Box<Stop> {
        if let Some(of) = self.spoiled.get(name) {
            return Box::new(Stop::Consequence { of: *of, spoils: None });
        }
        let problem = Problem::UnknownContainer { name: name.to_vec() };
        Stop::at(field, problem).once(Group::named("unknown-container", 0, name))
    }

    pub(crate) fn find(&self, identifier: &[u8]) -> Option<u32> {
        self.by_identifier.get(identifier).copied()
    }

    /// Whether this is the container's identifier.
    #[inline]
    fn is(&self, id: u32, identifier: &[u8]) -> bool {
        self.identifier(id) == identifier
    }

    fn identifier(&self, id: u32) -> &[u8] {
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
    fn referred(
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
    pub(crate) fn insert(
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

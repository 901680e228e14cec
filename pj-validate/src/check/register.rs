//! Types or containers. They are numbered in order and found by identifier.

use paje_parser::{Field, FieldName};
use paje_sim::error::{Named, Problem};

use super::findings::{FindingIndex, Group};
use super::source::{Source, quoted};
use super::stop::{Checked, Map, Stop, map};
use crate::finding::{Caution, Thing};

pub(crate) trait Registered {
    const THING: Thing;

    fn name(&self) -> &[u8];

    fn alias(&self) -> Option<&[u8]>;

    fn is_quoted(&self) -> bool;

    fn quoting(&self, id: u32) -> Group;

    fn unknown(name: &[u8]) -> (Problem, Group);

    fn identifier(&self) -> &[u8] {
        self.alias().unwrap_or(self.name())
    }
}

/// All types or containers by number. The first one is the root.
#[derive(Debug)]
pub(crate) struct Register<T> {
    pub(crate) list: Vec<T>,
    by_identifier: Map<Box<[u8]>, u32>,
    /// Identifiers of objects that could not be created, each with the finding that explains why.
    spoiled: Map<Vec<u8>, FindingIndex>,
    /// Object that the last event named. The next event probably names it again.
    pub(crate) last: u32,
}

impl<T> Default for Register<T> {
    fn default() -> Self {
        Register { list: Vec::new(), by_identifier: map(), spoiled: map(), last: 0 }
    }
}

impl<T: Registered> Register<T> {
    /// Adds an object, whose identifier must be unused. Returns its number.
    pub(crate) fn add(&mut self, thing: T) -> u32 {
        let id = self.list.len() as u32;
        self.by_identifier.insert(thing.identifier().into(), id);
        self.list.push(thing);
        id
    }

    pub(crate) fn spoil(&mut self, identifier: Vec<u8>, told: FindingIndex) {
        self.spoiled.entry(identifier).or_insert(told);
    }

    /// Looks up the name in a field. Warns if its quotes differ from the quotes in the definition.
    #[inline(always)]
    pub(crate) fn named_by(
        &self,
        name: Field<'_>,
        field: FieldName,
        source: &mut Source<'_>,
    ) -> Checked<u32> {
        let id = if self.get(self.last).identifier() == name.bare() {
            self.last
        } else {
            match self.find(name.bare()) {
                Some(id) => id,
                None => return Err(self.unknown(name.bare(), field)),
            }
        };
        let thing = self.get(id);
        if quoted(name) != thing.is_quoted() {
            let (named, group) = (self.named(id), thing.quoting(id));
            other_quoting(T::THING, named, name, field, group, source);
        }
        Ok(id)
    }

    #[cold]
    fn unknown(&self, name: &[u8], field: FieldName) -> Box<Stop> {
        if let Some(of) = self.spoiled.get(name) {
            return Box::new(Stop::Consequence { of: *of, spoils: None });
        }
        let (problem, group) = T::unknown(name);
        Stop::at(field, problem).once(group)
    }

    #[inline]
    pub(crate) fn find(&self, identifier: &[u8]) -> Option<u32> {
        self.by_identifier.get(identifier).copied()
    }

    pub(crate) fn named(&self, id: u32) -> Named {
        let thing = self.get(id);
        Named::new(thing.name(), thing.alias())
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.list[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut T {
        &mut self.list[id as usize]
    }
}

#[cold]
pub(crate) fn other_quoting(
    thing: Thing,
    named: Named,
    name: Field<'_>,
    field: FieldName,
    group: Group,
    source: &mut Source<'_>,
) {
    let caution = Caution::OtherQuoting { thing, named, quoted: quoted(name) };
    source.warn(field, caution, group);
}

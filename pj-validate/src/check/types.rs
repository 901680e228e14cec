//! Types and their values.

mod define;

use std::sync::Arc;

use paje_parser::{Event, Field, FieldName, TypeNature};
use paje_sim::error::{Named, Problem};

use super::findings::Group;
use super::options::Rules;
use super::place::Place;
use super::register::{Register, Registered, other_quoting};
use super::source::{Source, quoted};
use super::stop::{Checked, Map, Spoils, Stop, map};
use crate::finding::Thing;

pub(crate) const ROOT: u32 = 0;

pub(crate) type Types = Register<Type>;

impl Registered for Type {
    const THING: Thing = Thing::Type;

    fn name(&self) -> &[u8] {
        &self.name
    }

    fn alias(&self) -> Option<&[u8]> {
        self.alias.as_deref()
    }

    fn is_quoted(&self) -> bool {
        self.quoted
    }

    fn quoting(&self, id: u32) -> Group {
        Group::ids("type-quoting", id, 0)
    }

    fn unknown(name: &[u8]) -> (Problem, Group) {
        let problem = Problem::UnknownType { name: name.to_vec() };
        (problem, Group::named("unknown-type", 0, name))
    }
}

#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: Box<[u8]>,
    pub(crate) alias: Option<Box<[u8]>>,
    quoted: bool,
    pub(crate) nature: TypeNature,
    pub(crate) parent: u32,
    depth: u32,
    /// An ancestor some levels up. It makes the search for an ancestor logarithmic in the depth.
    jump: u32,
    pub(crate) ends: (u32, u32),
    pub(crate) place: Option<(Place, u64)>,
    said_in: u32,
    pub(crate) used: bool,
    pub(crate) objects: u64,
    pub(crate) values: Vec<Value>,
    by_identifier: Map<Arc<[u8]>, u32>,
}

#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) identifier: Arc<[u8]>,
    /// Name of the value, if it differs from the value's identifier.
    name: Option<Box<[u8]>>,
    /// Last file that defines the value, or the file that used the value first.
    said_in: u32,
    quoted: bool,
    pub(crate) used: bool,
    /// Where the value is defined, or `None` if its first use created it.
    pub(crate) place: Option<Place>,
}

impl Types {
    pub(crate) fn new() -> Self {
        let mut types: Types = Register::default();
        types.insert(b"0", None, false, TypeNature::Container, ROOT);
        types
    }

    fn insert(
        &mut self,
        name: &[u8],
        alias: Option<&[u8]>,
        quoted: bool,
        nature: TypeNature,
        parent: u32,
    ) -> u32 {
        let (depth, jump) = match self.list.get(parent as usize) {
            Some(above) => {
                let jump = &self.list[above.jump as usize];
                let further = &self.list[jump.jump as usize];
                let same = above.depth - jump.depth == jump.depth - further.depth;
                (above.depth + 1, if same { jump.jump } else { parent })
            }
            None => (0, ROOT),
        };
        self.add(Type {
            name: name.into(),
            alias: alias.map(Into::into),
            quoted,
            nature,
            parent,
            depth,
            jump,
            ends: (ROOT, ROOT),
            place: None,
            said_in: 0,
            used: false,
            objects: 0,
            values: Vec::new(),
            by_identifier: map(),
        })
    }

    fn is_ancestor(&self, above: u32, below: u32) -> bool {
        let depth = self.get(above).depth;
        let mut at = below;
        while self.get(at).depth > depth {
            let jump = self.get(at).jump;
            at = if self.get(jump).depth >= depth { jump } else { self.get(at).parent };
        }
        at == above
    }

    /// Returns the value that an event names. Creates the value if it is new.
    #[inline]
    pub(crate) fn value(&mut self, id: u32, name: Field<'_>, source: &mut Source<'_>) -> u32 {
        let type_ = self.get_mut(id);
        if let Some(value) = type_.by_identifier.get(name.bare()) {
            let known = &mut type_.values[*value as usize];
            known.used = true;
            if known.quoted != quoted(name) {
                let group = Group::ids("value-quoting", id, 0);
                let (thing, named, field) = (Thing::Value, known.named(), FieldName::Value);
                other_quoting(thing, named, name, field, group, source);
            }
            return *value;
        }
        type_.add_value(Value::undefined(name.bare(), quoted(name), source.here.file))
    }

    /// Creates an undefined value whose first use was on a skipped line, with the opposite quotes.
    pub(crate) fn expect_value(&mut self, id: u32, name: Field<'_>) {
        let type_ = self.get_mut(id);
        if !type_.by_identifier.contains_key(name.bare()) {
            type_.add_value(Value::undefined(name.bare(), !quoted(name), 0));
        }
    }
}

impl Value {
    fn undefined(identifier: &[u8], quoted: bool, said_in: u32) -> Self {
        Value {
            identifier: identifier.into(),
            name: None,
            said_in,
            quoted,
            used: true,
            place: None,
        }
    }

    pub(crate) fn named(&self) -> Named {
        match &self.name {
            Some(name) => Named::new(name, Some(&self.identifier)),
            None => Named::new(&self.identifier, None),
        }
    }
}

impl Type {
    fn add_value(&mut self, value: Value) -> u32 {
        let id = self.values.len() as u32;
        self.by_identifier.insert(Arc::clone(&value.identifier), id);
        self.values.push(value);
        id
    }
}

pub(crate) const fn identifier_field(alias: Option<Field<'_>>) -> FieldName {
    match alias {
        Some(_) => FieldName::Alias,
        None => FieldName::Name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_are_found() {
        let mut types = Types::new();
        let mut above = ROOT;
        let mut chain = vec![ROOT];
        for i in 0..200u32 {
            let name = i.to_string();
            above = types.insert(name.as_bytes(), None, false, TypeNature::Container, above);
            chain.push(above);
        }
        let aside = types.insert(b"aside", None, false, TypeNature::Container, chain[50]);
        for (i, a) in chain.iter().enumerate() {
            for (j, b) in chain.iter().enumerate() {
                assert_eq!(types.is_ancestor(*a, *b), i <= j, "{i} {j}");
            }
            assert_eq!(types.is_ancestor(*a, aside), i <= 50);
            assert!(!types.is_ancestor(aside, *a));
        }
    }
}

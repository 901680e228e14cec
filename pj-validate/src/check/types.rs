//! Types and their values.

mod define;

use std::sync::Arc;

use paje_parser::{Event, Field, FieldName, TypeNature};
use paje_problems::{Named, Problem};

use super::findings::{Findings, Group, Told};
use super::options::Rules;
use super::place::Place;
use super::source::{Source, quoted};
use super::stop::{Checked, Map, Spoils, Stop, map};
use crate::finding::{Caution, Thing};

/// The type of the root container.
pub(crate) const ROOT: u32 = 0;

/// All types by their numbers.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) list: Vec<Type>,
    by_identifier: Map<Box<[u8]>, u32>,
    /// Identifiers of types that could not be made, and the finding that says why.
    spoiled: Map<Vec<u8>, Told>,
    /// The one that the last event of a lane named: the next one often names it again.
    pub(crate) last: u32,
    rules: Rules,
}

#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: Box<[u8]>,
    pub(crate) alias: Option<Box<[u8]>>,
    quoted: bool,
    pub(crate) nature: TypeNature,
    pub(crate) parent: u32,
    depth: u32,
    /// An ancestor some way up: makes searching upwards logarithmic in the depth.
    jump: u32,
    /// Of a link type: the container types at its start and at its end.
    pub(crate) ends: (u32, u32),
    pub(crate) place: Option<(Place, u64)>,
    /// The last file that defined it, or repeated its definition.
    said_in: u32,
    pub(crate) used: bool,
    pub(crate) objects: u64,
    pub(crate) values: Vec<Value>,
    by_identifier: Map<Arc<[u8]>, u32>,
}

#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) identifier: Arc<[u8]>,
    /// Its name, if that is another.
    name: Option<Box<[u8]>>,
    /// The last file that defined it or repeated its definition; or that used it first.
    said_in: u32,
    quoted: bool,
    pub(crate) used: bool,
    /// Where it was defined; `None` if it came into being with its first use.
    pub(crate) place: Option<Place>,
}

impl Types {
    pub(crate) fn new(rules: Rules) -> Self {
        let mut types =
            Types { list: Vec::new(), by_identifier: map(), spoiled: map(), last: ROOT, rules };
        types.insert(b"0", None, false, TypeNature::Container, ROOT);
        types
    }

    /// Remembers that a type could not be made.
    pub(crate) fn spoil(&mut self, identifier: Vec<u8>, told: Told) {
        self.spoiled.entry(identifier).or_insert(told);
    }

    /// The type that a field names.
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
        let problem = Problem::UnknownType { name: name.to_vec() };
        Stop::at(field, problem).once(Group::named("unknown-type", 0, name))
    }

    fn find(&self, identifier: &[u8]) -> Option<u32> {
        self.by_identifier.get(identifier).copied()
    }

    /// Whether this is the type's identifier.
    #[inline]
    fn is(&self, id: u32, identifier: &[u8]) -> bool {
        self.identifier(id) == identifier
    }

    fn identifier(&self, id: u32) -> &[u8] {
        let type_ = self.get(id);
        type_.alias.as_deref().unwrap_or(&type_.name)
    }

    /// What messages call the type.
    pub(crate) fn named(&self, id: u32) -> Named {
        let type_ = self.get(id);
        Named::new(&type_.name, type_.alias.as_deref())
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &Type {
        &self.list[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Type {
        &mut self.list[id as usize]
    }

    /// The identifier must be free.
    fn insert(
        &mut self,
        name: &[u8],
        alias: Option<&[u8]>,
        quoted: bool,
        nature: TypeNature,
        parent: u32,
    ) -> u32 {
        let id = self.list.len() as u32;
        let (depth, jump) = match self.list.get(parent as usize) {
            Some(above) => {
                let jump = &self.list[above.jump as usize];
                let further = &self.list[jump.jump as usize];
                let same = above.depth - jump.depth == jump.depth - further.depth;
                (above.depth + 1, if same { jump.jump } else { parent })
            }
            None => (0, ROOT),
        };
        self.by_identifier.insert(alias.unwrap_or(name).into(), id);
        self.list.push(Type {
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
        });
        id
    }

    /// Tells whether `above` is `below` or one of its ancestors.
    fn is_ancestor(&self, above: u32, below: u32) -> bool {
        let depth = self.get(above).depth;
        let mut at = below;
        while self.get(at).depth > depth {
            let jump = self.get(at).jump;
            at = if self.get(jump).depth >= depth { jump } else { self.get(at).parent };
        }
        at == above
    }

    /// A field names the type: its quotes should be those of the definition.
    #[inline]
    fn referred(
        &self,
        id: u32,
        name: Field<'_>,
        field: FieldName,
        source: &Source<'_>,
        findings: &mut Findings,
    ) {
        if quoted(name) != self.get(id).quoted {
            let group = Group::ids("type-quoting", id, 0);
            let thing = (Thing::Type, self.named(id));
            other_quoting(thing, name, field, group, source, findings);
        }
    }

    /// The value that an event names, which comes into being if it is new.
    #[inline]
    pub(crate) fn value(
        &mut self,
        id: u32,
        name: Field<'_>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> u32 {
        let type_ = self.get_mut(id);
        if let Some(value) = type_.by_identifier.get(name.bare()) {
            let known = &mut type_.values[*value as usize];
            known.used = true;
            if known.quoted != quoted(name) {
                let group = Group::ids("value-quoting", id, 0);
                let thing = (Thing::Value, known.named());
                other_quoting(thing, name, FieldName::Value, group, source, findings);
            }
            return *value;
        }
        type_.add_value(Value {
            identifier: name.bare().into(),
            name: None,
            said_in: source.here.file,
            quoted: quoted(name),
            used: true,
            place: None,
        })
    }
}

impl Value {
    /// What messages call the value.
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

/// Warns of a name whose quotes are not those of its definition.
#[cold]
pub(crate) fn other_quoting(
    (thing, named): (Thing, Named),
    name: Field<'_>,
    field: FieldName,
    group: Group,
    source: &Source<'_>,
    findings: &mut Findings,
) {
    let caution = Caution::OtherQuoting { thing, named, quoted: quoted(name) };
    source.warn(field, caution, group, findings);
}

/// The field that identifies what is defined.
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
    fn ancestors() {
        let mut types = Types::new(Rules::Format);
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

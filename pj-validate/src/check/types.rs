//! Types and their values.

use std::sync::Arc;

use paje_parser::{Event, Field, FieldName, TypeNature};
use paje_problems::{Named, Problem};

use super::Rules;
use super::findings::{Findings, Group};
use super::model::{Checked, Map, Model, Spoils, Stop, map};
use super::source::{Place, Source, quoted};
use crate::finding::{Caution, Thing};

/// The type of the root container.
pub(crate) const ROOT: u32 = 0;

/// All types by their numbers.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) list: Vec<Type>,
    by_identifier: Map<Box<[u8]>, u32>,
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
    pub(crate) fn new() -> Self {
        let mut types = Types { list: Vec::new(), by_identifier: map() };
        types.insert(b"0", None, false, TypeNature::Container, ROOT);
        types
    }

    pub(crate) fn find(&self, identifier: &[u8]) -> Option<u32> {
        self.by_identifier.get(identifier).copied()
    }

    /// Whether this is the type's identifier.
    #[inline]
    pub(crate) fn is(&self, id: u32, identifier: &[u8]) -> bool {
        self.identifier(id) == identifier
    }

    pub(crate) fn identifier(&self, id: u32) -> &[u8] {
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

    /// Whether `above` is `below` or one of its ancestors.
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
    pub(crate) fn referred(
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

impl Model {
    /// A type that a field names, which must be a container type.
    pub(crate) fn container_type(
        &mut self,
        name: Field<'_>,
        field: FieldName,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<u32> {
        let id = self.find_type(name, field, source, findings)?;
        let nature = self.types.get(id).nature;
        if nature == TypeNature::Container {
            return Ok(id);
        }
        let problem = Problem::NotAContainerType { type_: self.types.named(id), nature };
        let group = Group::ids("not-a-container-type", id, source.def);
        Err(Stop::at(field, problem).once(group))
    }

    /// PajeDefineContainerType and its like.
    pub(crate) fn define_type(
        &mut self,
        event: &Event<'_>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        let (name, alias) = match event {
            Event::DefineType { name, alias, .. } | Event::DefineLinkType { name, alias, .. } => {
                (*name, *alias)
            }
            _ => return Ok(()),
        };
        let identifier = alias.unwrap_or(name);
        self.try_define_type(event, name, alias, source, findings)
            .map_err(|stop| stop.spoiling(Spoils::Type(identifier.bare().to_vec())))
    }

    fn try_define_type(
        &mut self,
        event: &Event<'_>,
        name: Field<'_>,
        alias: Option<Field<'_>>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        let mut container_type =
            |name: Field<'_>, field| self.container_type(name, field, source, findings);
        let (nature, parent, ends) = match event {
            Event::DefineType { nature, parent, .. } => {
                (*nature, container_type(*parent, FieldName::Type)?, None)
            }
            Event::DefineLinkType { parent, start, end, .. } => {
                let parent = container_type(*parent, FieldName::Type)?;
                let start = container_type(*start, FieldName::StartContainerType)?;
                let end = container_type(*end, FieldName::EndContainerType)?;
                (TypeNature::Link, parent, Some((start, end)))
            }
            _ => return Ok(()),
        };
        let identifier = alias.unwrap_or(name);
        let field = identifier_field(alias);
        if identifier.bare() == b"0" {
            return Err(Stop::at(field, Problem::ReservedType));
        }
        if let Some(id) = self.types.find(identifier.bare()) {
            let known = self.types.get_mut(id);
            let ends = ends.unwrap_or((ROOT, ROOT));
            let same = known.nature == nature
                && (known.parent, known.ends) == (parent, ends)
                && *known.name == *name.bare();
            // Files may repeat what others say.
            if std::mem::replace(&mut known.said_in, source.here.file) != source.here.file && same {
                return Ok(());
            }
            let group = Group::ids("type-exists", id, 0);
            let known = self.types.named(id);
            return Err(Stop::at(field, Problem::TypeExists { known }).once(group));
        }
        let id = self.types.insert(
            name.bare(),
            alias.map(Field::bare),
            quoted(identifier),
            nature,
            parent,
        );
        let place = (source.place(field), identifier.raw().len() as u64);
        let type_ = self.types.get_mut(id);
        type_.said_in = source.here.file;
        type_.place = Some(place);
        let Some((start, end)) = ends else {
            return Ok(());
        };
        type_.ends = (start, end);
        let common = self.types.is_ancestor(parent, start) && self.types.is_ancestor(parent, end);
        if common || self.rules == Rules::Replay {
            return Ok(());
        }
        let type_ = self.types.named(id);
        Err(Stop::at(FieldName::Type, Problem::NoCommonAncestor { type_ }))
    }

    /// PajeDefineEntityValue.
    pub(crate) fn define_value(
        &mut self,
        name: Field<'_>,
        alias: Option<Field<'_>>,
        type_: Field<'_>,
        source: &Source<'_>,
        findings: &mut Findings,
    ) -> Checked<()> {
        let id = self.find_type(type_, FieldName::Type, source, findings)?;
        let nature = self.types.get(id).nature;
        if matches!(nature, TypeNature::Container | TypeNature::Variable) {
            let problem = Problem::ValueOfType { type_: self.types.named(id), nature };
            let group = Group::ids("value-of-type", id, 0);
            return Err(Stop::at(FieldName::Type, problem).once(group));
        }
        let identifier = alias.unwrap_or(name);
        let field = identifier_field(alias);
        let values = self.types.get_mut(id);
        if let Some(known) = values.by_identifier.get(identifier.bare()) {
            let known = &mut values.values[*known as usize];
            let same = known.name.as_deref().unwrap_or(&known.identifier) == name.bare();
            // Files may repeat what others say.
            if std::mem::replace(&mut known.said_in, source.here.file) != source.here.file && same {
                return Ok(());
            }
            let group = Group::named("value-exists", id, identifier.bare());
            let (known, type_) = (known.named(), self.types.named(id));
            return Err(Stop::at(field, Problem::ValueExists { known, type_ }).once(group));
        }
        self.types.get_mut(id).add_value(Value {
            identifier: identifier.bare().into(),
            name: alias.and(Some(name.bare().into())),
            said_in: source.here.file,
            quoted: quoted(identifier),
            used: false,
            place: Some(source.place(field)),
        });
        Ok(())
    }
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

//! Tree of types, and the values of each type.

use hashbrown::HashTable;
use paje_parser::TypeNature;
use paje_parser::color::Color;

use crate::model::value_names::{NamedValue, ValueEntryId, ValueNameTable};
use crate::names::error::Named;
use crate::names::hash::hash_bytes;
use crate::names::ids::{TypeId, ValueId};
use crate::names::options::ValueNames;
use crate::names::text::{Name, TextArena, TextRef};

/// All types of a trace, numbered from 0. Type 0 is the root's type, named `0`.
#[derive(Clone, Debug)]
pub struct Types {
    list: Vec<Type>,
    by_identifier: HashTable<TypeId>,
    texts: TextArena,
    value_names: ValueNameTable,
}

#[derive(Clone, Debug)]
struct Type {
    names: Names,
    nature: TypeNature,
    parent: TypeId,
    ends: Option<(TypeId, TypeId)>,
    /// The last file that defined the type.
    defined_in: u32,
    /// Boxed, because in a trace with many types, most types have no values.
    values: Option<Box<Values>>,
}

#[derive(Clone, Debug, Default)]
struct Values {
    names: Vec<ValueEntryId>,
    colors: Vec<(ValueId, Color)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Names(TextRef);

impl Names {
    pub(crate) fn new(texts: &mut TextArena, name: Name<'_>, alias: Option<Name<'_>>) -> Self {
        Names(texts.push_with(name, alias))
    }

    pub(crate) const fn place(self) -> (u32, u32) {
        self.0.halves()
    }

    pub(crate) const fn at(high: u32, low: u32) -> Self {
        Names(TextRef::of_halves(high, low))
    }

    #[inline]
    pub(crate) fn name<'a>(&self, texts: &'a TextArena) -> Name<'a> {
        texts.get(self.0)
    }

    pub(crate) fn alias<'a>(&self, texts: &'a TextArena) -> Option<Name<'a>> {
        texts.alias(self.0)
    }

    #[inline]
    pub(crate) fn identifier<'a>(&self, texts: &'a TextArena) -> Name<'a> {
        texts.last(self.0)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct NewType<'a> {
    pub(crate) name: Name<'a>,
    pub(crate) alias: Option<Name<'a>>,
    pub(crate) nature: TypeNature,
    pub(crate) parent: TypeId,
    pub(crate) ends: Option<(TypeId, TypeId)>,
    pub(crate) defined_in: u32,
}

impl Types {
    pub(crate) fn new() -> Self {
        let mut types = Types {
            list: Vec::new(),
            by_identifier: HashTable::new(),
            texts: TextArena::default(),
            value_names: ValueNameTable::default(),
        };
        types.insert(NewType {
            name: Name::bare(b"0"),
            alias: None,
            nature: TypeNature::Container,
            parent: TypeId::ROOT,
            ends: None,
            defined_in: 0,
        });
        types
    }

    /// Returns the number of types, including the root's.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns `false`: the root's type always exists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns all types in the order of their definitions, the root's first.
    pub fn ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.list.len() as u32).map(TypeId)
    }

    /// Returns the type to which events refer by this text.
    #[must_use]
    pub fn find(&self, identifier: &[u8]) -> Option<TypeId> {
        let same = |id: &TypeId| self.identifier(*id).text == identifier;
        self.by_identifier.find(hash_bytes(identifier), same).copied()
    }

    /// Returns the name that rows print.
    #[must_use]
    pub fn name(&self, id: TypeId) -> Name<'_> {
        self.list[id.index()].names.name(&self.texts)
    }

    /// Returns the alias, if the definition gave one.
    #[must_use]
    pub fn alias(&self, id: TypeId) -> Option<Name<'_>> {
        self.list[id.index()].names.alias(&self.texts)
    }

    /// Returns the text by which events refer to the type. This is the alias if the type has one, else the name.
    #[must_use]
    pub fn identifier(&self, id: TypeId) -> Name<'_> {
        self.list[id.index()].names.identifier(&self.texts)
    }

    /// Returns the type's name for messages.
    #[doc(hidden)]
    pub fn named(&self, id: TypeId) -> Named {
        self.name(id).named(self.alias(id))
    }

    /// Returns a value's name for messages.
    #[doc(hidden)]
    pub fn named_value(&self, id: TypeId, value: ValueId) -> Named {
        let (names, texts) = self.names_of(id, value);
        names.name(texts).named(names.alias(texts))
    }

    /// Returns the nature of the type's objects.
    #[must_use]
    pub fn nature(&self, id: TypeId) -> TypeNature {
        self.list[id.index()].nature
    }

    /// Returns the container type that the type belongs to. The root's type is its own parent.
    #[must_use]
    pub fn parent(&self, id: TypeId) -> TypeId {
        self.list[id.index()].parent
    }

    /// Returns the types of the containers at the start and end of a link type.
    #[must_use]
    pub fn link_ends(&self, id: TypeId) -> Option<(TypeId, TypeId)> {
        self.list[id.index()].ends
    }

    /// Returns the types that belong to a container type, in the order of their definitions.
    pub fn children(&self, id: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        self.ids().skip(1).filter(move |child| self.parent(*child) == id)
    }

    /// Returns the number of values of a type.
    #[must_use]
    pub fn value_count(&self, id: TypeId) -> usize {
        self.list[id.index()].values.as_ref().map_or(0, |values| values.names.len())
    }

    /// Returns all values of a type, in the order of their definitions and first uses.
    pub fn values(&self, id: TypeId) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.value_count(id) as u32).map(ValueId)
    }

    /// Returns the name of a value, which rows print.
    #[must_use]
    pub fn value_name(&self, id: TypeId, value: ValueId) -> Name<'_> {
        let (names, texts) = self.names_of(id, value);
        names.name(texts)
    }

    /// Returns the text by which events refer to a value. This is the alias if the value has one, else the name.
    #[must_use]
    pub fn value_identifier(&self, id: TypeId, value: ValueId) -> Name<'_> {
        let (names, texts) = self.names_of(id, value);
        names.identifier(texts)
    }

    fn names_of(&self, id: TypeId, value: ValueId) -> (Names, &TextArena) {
        let values = self.list[id.index()].values.as_ref();
        self.value_names.get(values.map_or(&[][..], |values| &values.names)[value.index()])
    }

    /// Returns the colour of a value, if its definition gave one.
    #[must_use]
    pub fn value_color(&self, id: TypeId, value: ValueId) -> Option<Color> {
        let colors = &self.list[id.index()].values.as_ref()?.colors;
        let found = colors.binary_search_by_key(&value, |(value, _)| *value).ok()?;
        Some(colors[found].1)
    }

    /// Returns the value to which events of this type refer by this text.
    #[must_use]
    #[doc(hidden)]
    pub fn find_value(
        &self,
        id: TypeId,
        identifier: Name<'_>,
        names: ValueNames,
    ) -> Option<ValueId> {
        self.value_names.find(id, identifier, hash_bytes(identifier.text), names)
    }

    /// Returns the last file that defined the type.
    #[doc(hidden)]
    pub fn defined_in(&self, id: TypeId) -> u32 {
        self.list[id.index()].defined_in
    }

    /// Records that another file of the trace also defines the type.
    #[doc(hidden)]
    pub fn define_again(&mut self, id: TypeId, file: u32) {
        self.list[id.index()].defined_in = file;
    }

    /// Adds a type. Its identifier must be free.
    #[doc(hidden)]
    pub fn insert(&mut self, new: NewType<'_>) -> TypeId {
        let id = TypeId(self.list.len() as u32);
        let names = Names::new(&mut self.texts, new.name, new.alias);
        let (texts, list) = (&self.texts, &mut self.list);
        list.push(Type {
            names,
            nature: new.nature,
            parent: new.parent,
            ends: new.ends,
            defined_in: new.defined_in,
            values: None,
        });
        let hash = |id: &TypeId| hash_bytes(list[id.index()].names.identifier(texts).text);
        self.by_identifier.insert_unique(hash(&id), id, hash);
        id
    }

    /// Defines a value unless its type already has a value with the same identifier. `hash` is the hash of the
    /// identifier. Returns whether the value was added.
    #[doc(hidden)]
    pub fn define_value(
        &mut self,
        id: TypeId,
        value: NamedValue<'_>,
        hash: u64,
        color: Option<Color>,
        names: ValueNames,
    ) -> bool {
        let (value, is_new) = self.intern_value(id, value, hash, names);
        if let (true, Some(color), Some(values)) =
            (is_new, color, &mut self.list[id.index()].values)
        {
            values.colors.push((value, color));
        }
        is_new
    }

    /// Returns the value with this name, which has this hash, and whether the value is new.
    #[inline]
    #[doc(hidden)]
    pub fn value(
        &mut self,
        id: TypeId,
        name: Name<'_>,
        hash: u64,
        names: ValueNames,
    ) -> (ValueId, bool) {
        self.intern_value(id, NamedValue { name, alias: None }, hash, names)
    }

    #[inline]
    fn intern_value(
        &mut self,
        id: TypeId,
        value: NamedValue<'_>,
        hash: u64,
        names: ValueNames,
    ) -> (ValueId, bool) {
        let next = ValueId(self.value_count(id) as u32);
        let (value, entry) = self.value_names.intern(id, hash, value, next, names);
        if let Some(entry) = entry {
            self.list[id.index()].values.get_or_insert_default().names.push(entry);
        }
        (value, entry.is_some())
    }
}

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::model::types::Names;
use crate::names::ids::{TypeId, ValueId};
use crate::names::options::ValueNames;
use crate::names::text::{Name, TextArena};

#[derive(Clone, Debug, Default)]
pub(crate) struct ValueNameTable {
    index: HashTable<Indexed>,
    entries: ValueEntries,
}

/// Number of a value's entry, and the part of its hash that the index needs to grow without reading the text.
#[derive(Clone, Copy, Debug)]
struct Indexed {
    key: ValueKey,
    entry: ValueEntryId,
}

/// A value. It is small, because there may be millions.
#[derive(Clone, Copy, Debug)]
struct ValueEntry {
    /// Low half of the position of the value's names in the arena.
    text: u32,
    type_: TypeId,
    number: ValueId,
}

#[derive(Clone, Debug, Default)]
struct ValueEntries {
    list: Vec<ValueEntry>,
    texts: TextArena,
    /// Index of the first entry after each 4 GiB of texts.
    turns: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueEntryId(u32);

#[derive(Clone, Copy, Debug)]
pub struct NamedValue<'n> {
    pub name: Name<'n>,
    pub alias: Option<Name<'n>>,
}

impl<'n> NamedValue<'n> {
    fn identifier(self) -> Name<'n> {
        self.alias.unwrap_or(self.name)
    }
}

/// Half of the hash of a value's name and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ValueKey(u32);

impl ValueKey {
    #[inline(always)]
    const fn new(type_: TypeId, hash: u64) -> Self {
        ValueKey((hash ^ hash >> 32) as u32 ^ type_.0.wrapping_mul(0x9e37_79b9))
    }

    /// Returns a whole hash, because hash tables use both ends of a hash.
    const fn hash(self) -> u64 {
        self.0 as u64 | (self.0 as u64) << 32
    }
}

impl ValueEntries {
    fn add(&mut self, type_: TypeId, value: NamedValue<'_>, number: ValueId) -> ValueEntryId {
        let entry = self.list.len() as u32;
        let (turn, text) = Names::new(&mut self.texts, value.name, value.alias).place();
        self.turns.resize(turn as usize, entry);
        self.list.push(ValueEntry { text, type_, number });
        ValueEntryId(entry)
    }

    fn names(&self, entry: ValueEntryId) -> Names {
        let turn = self.turns.iter().filter(|first| **first <= entry.0).count();
        Names::at(turn as u32, self.list[entry.0 as usize].text)
    }

    fn is(
        &self,
        known: Indexed,
        key: ValueKey,
        type_: TypeId,
        identifier: Name<'_>,
        names: ValueNames,
    ) -> bool {
        if known.key != key || self.list[known.entry.0 as usize].type_ != type_ {
            return false;
        }
        let found = self.names(known.entry).identifier(&self.texts);
        found.text == identifier.text
            && (names == ValueNames::Bare || found.quoting == identifier.quoting)
    }
}

impl ValueNameTable {
    pub(crate) fn get(&self, entry: ValueEntryId) -> (Names, &TextArena) {
        (self.entries.names(entry), &self.entries.texts)
    }

    pub(crate) fn find(
        &self,
        type_: TypeId,
        identifier: Name<'_>,
        hash: u64,
        names: ValueNames,
    ) -> Option<ValueId> {
        let key = ValueKey::new(type_, hash);
        let same = |known: &Indexed| self.entries.is(*known, key, type_, identifier, names);
        let found = self.index.find(key.hash(), same)?;
        Some(self.entries.list[found.entry.0 as usize].number)
    }

    /// Returns the number of a type's value, given the value's identifier and its hash. If there is no such value, adds
    /// the value with the number `next` and also returns its entry.
    #[inline]
    pub(crate) fn intern(
        &mut self,
        type_: TypeId,
        hash: u64,
        value: NamedValue<'_>,
        next: ValueId,
        names: ValueNames,
    ) -> (ValueId, Option<ValueEntryId>) {
        let ValueNameTable { index, entries } = self;
        let key = ValueKey::new(type_, hash);
        let same = |known: &Indexed| entries.is(*known, key, type_, value.identifier(), names);
        match index.entry(key.hash(), same, |known| known.key.hash()) {
            Entry::Occupied(known) => (entries.list[known.get().entry.0 as usize].number, None),
            Entry::Vacant(place) => {
                let entry = entries.add(type_, value, next);
                place.insert(Indexed { key, entry });
                (next, Some(entry))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::hash::hash_bytes;
    use paje_parser::Quoting;
    use proptest::prelude::*;
    use std::collections::HashMap;

    type Line = (u32, String, bool, bool);

    fn named(line: &Line) -> (TypeId, u64, NamedValue<'_>) {
        let (type_, text, quoted, aliased) = line;
        let quoting = if *quoted { Quoting::Quoted } else { Quoting::Bare };
        let name = Name { text: text.as_bytes(), quoting };
        let alias = aliased.then_some(name);
        let value = NamedValue { name: if *aliased { Name::bare(b"name") } else { name }, alias };
        (TypeId(*type_), hash_bytes(text.as_bytes()), value)
    }

    proptest! {
        #[test]
        fn equals_a_plain_map(
            lines in proptest::collection::vec(
                (0..3u32, "[a-d]{0,3}", any::<bool>(), any::<bool>()), 0..300),
            as_written in any::<bool>(),
        ) {
            let names = if as_written { ValueNames::AsWritten } else { ValueNames::Bare };
            let mut table = ValueNameTable::default();
            let mut plain: HashMap<(u32, String, bool), (ValueId, Line)> = HashMap::new();
            let mut counts = [0; 3];
            for line in &lines {
                let (type_, hash, value) = named(line);
                let key = (line.0, line.1.clone(), as_written && line.2);
                let next = ValueId(counts[type_.index()]);
                let expected = plain.get(&key).map(|(value, _)| *value);
                let (number, new) = table.intern(type_, hash, value, next, names);
                prop_assert_eq!((number, new.is_none()), (expected.unwrap_or(next), expected.is_some()));
                if let Some(entry) = new {
                    counts[type_.index()] += 1;
                    plain.insert(key, (number, line.clone()));
                    let (names, texts) = table.get(entry);
                    prop_assert_eq!(names.identifier(texts).text, line.1.as_bytes());
                }
            }
            for (value, line) in plain.values() {
                let (type_, hash, named) = named(line);
                let found = table.find(type_, named.identifier(), hash, names);
                prop_assert_eq!(found, Some(*value));
            }
            prop_assert_eq!(table.index.len(), plain.len());
        }
    }
}

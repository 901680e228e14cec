//! The names of the values of all types, which several threads can look up and add side by side.
//!
//! Some traces name a value for each of their tasks, and then most of what resolving did, which is one thread's, was to look for
//! such names in a large table. But no order matters to that, save among names that are equal. So the names are spread over parts
//! by their hashes. Before a wave is resolved, workers go through what its lines will say of values, in file order, and look up
//! or add what falls to their parts (it is *expected*). Then resolving [asks](ValueNameTable::ask) in the same order, and only
//! gives numbers to what has none: so numbers are in file order, whoever filled the parts.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::model::types::Names;
use crate::names::hash::hash_bytes;
use crate::names::ids::{TypeId, ValueId};
use crate::names::options::ValueNames;
use crate::names::text::{Name, TextArena};

/// Number of parts: as many threads can fill them at a time.
pub(crate) const PARTS: usize = 16;

/// Number of a value that no line has been resolved for.
const NO_NUMBER: ValueId = ValueId(u32::MAX);

/// So many values of a part stay in a core's second-level cache.
const MANY_VALUES: usize = 1000;

/// Names of values, in parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueNameTable {
    parts: Box<[ValueNamePart; PARTS]>,
    /// Values of types below this number may be expected.
    types: usize,
}

/// The names that fall to a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueNamePart {
    index: HashTable<Indexed>,
    entries: ValueEntries,
    /// The entries of what the wave's lines will say, in file order; and how many of them have been asked for.
    expected: Vec<u32>,
    asked: usize,
    /// Entries that are likely to be expected next.
    looked_for: Vec<u32>,
}

/// A name's place, and enough of its hash that growing need not look at the text, which is somewhere else in memory.
#[derive(Clone, Copy, Debug)]
struct Indexed {
    key: u32,
    entry: u32,
}

/// A value: few bytes, for there may be millions.
#[derive(Clone, Copy, Debug)]
struct ValueEntry {
    /// The low half of where its names are.
    text: u32,
    type_: TypeId,
    number: ValueId,
}

/// Values, with their names, which lie one after the other.
#[derive(Clone, Debug, Default)]
struct ValueEntries {
    list: Vec<ValueEntry>,
    texts: TextArena,
    /// The first entries behind each 4 GiB of texts.
    turns: Vec<u32>,
}

/// The part of a value's name and, above that, the entry there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValuePlace(u32);

/// A value as a line names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueNamed<'n> {
    pub(crate) name: Name<'n>,
    pub(crate) alias: Option<Name<'n>>,
}

/// Some of the hash of a name, within a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueKey(u32);

impl ValueKey {
    /// Of a text that has this hash.
    #[inline(always)]
    pub(crate) const fn new(type_: TypeId, hash: u64) -> Self {
        ValueKey((hash ^ hash >> 32) as u32 ^ type_.0.wrapping_mul(0x9e37_79b9))
    }

    /// The part that the name falls to: by bits that its table looks at last.
    #[inline(always)]
    pub(crate) const fn part(self) -> usize {
        (self.0 >> 20) as usize % PARTS
    }

    /// A whole hash: tables look at both of its ends.
    const fn hash(self) -> u64 {
        self.0 as u64 | (self.0 as u64) << 32
    }
}

impl ValueNamePart {
    /// The entry of a name in a type, if it has one.
    fn find(
        &self,
        key: ValueKey,
        type_: TypeId,
        identifier: Name<'_>,
        names: ValueNames,
    ) -> Option<u32> {
        let same = |known: &Indexed| self.entries.is(*known, key, type_, identifier, names);
        self.index.find(key.hash(), same).map(|known| known.entry)
    }

    /// The entry of a name in a type, which is added if it has none.
    fn find_or_add(
        &mut self,
        key: ValueKey,
        type_: TypeId,
        said: ValueNamed<'_>,
        names: ValueNames,
    ) -> u32 {
        let ValueNamePart { index, entries, .. } = self;
        let identifier = said.alias.unwrap_or(said.name);
        let same = |known: &Indexed| entries.is(*known, key, type_, identifier, names);
        match index.entry(key.hash(), same, |known| ValueKey(known.key).hash()) {
            Entry::Occupied(known) => known.get().entry,
            Entry::Vacant(place) => {
                let entry = entries.add(type_, said);
                place.insert(Indexed { key: key.0, entry });
                entry
            }
        }
    }

    /// Looks up or adds what lines will say, which comes behind all that is expected so far.
    pub(crate) fn expect<'n>(
        &mut self,
        key: ValueKey,
        type_: TypeId,
        said: ValueNamed<'n>,
        names: ValueNames,
    ) {
        let entry = self.find_or_add(key, type_, said, names);
        self.expected.push(entry);
    }

    /// Begins to fetch what [`expect`](ValueNamePart::expect) will look at. Where values are many, each is somewhere in memory
    /// that nothing has looked at for long: looked at stage by stage, without a dependency between them, they are fetched
    /// side by side.
    #[inline]
    pub(crate) fn look_for(&mut self, key: ValueKey) {
        if self.entries.list.len() > MANY_VALUES {
            let known = self.index.find(key.hash(), |known| known.key == key.0);
            self.looked_for.extend(known.map(|known| known.entry));
        }
    }

    /// Fetches the rest of it.
    pub(crate) fn look(&mut self) {
        let looks = self.looked_for.drain(..).map(|entry| {
            let names = self.entries.names(entry);
            names.identifier(&self.entries.texts).text.first()
        });
        std::hint::black_box(looks.flatten().fold(0, |all, byte| all ^ byte));
    }

    /// Forgets what nobody has asked for: it comes behind a line that is wrong, or that changes what lines mean.
    fn stop_expecting(&mut self) {
        for entry in self.expected.drain(..).skip(self.asked) {
            let ValueEntry { type_, number, .. } = self.entries.list[entry as usize];
            if number == NO_NUMBER {
                let names = self.entries.names(entry);
                let hash = hash_bytes(names.identifier(&self.entries.texts).text);
                let hash = ValueKey::new(type_, hash).hash();
                let known = self.index.find_entry(hash, |known| known.entry == entry);
                // The entry itself stays, and nobody comes to it any more: this is rare.
                known.map(|known| known.remove()).ok();
            }
        }
        self.asked = 0;
    }
}

impl ValueEntries {
    /// Adds a value, which has no number yet.
    fn add(&mut self, type_: TypeId, said: ValueNamed<'_>) -> u32 {
        let entry = self.list.len() as u32;
        let (turn, text) = Names::new(&mut self.texts, said.name, said.alias).place();
        self.turns.resize(turn as usize, entry);
        self.list.push(ValueEntry { text, type_, number: NO_NUMBER });
        entry
    }

    /// The names of a value.
    fn names(&self, entry: u32) -> Names {
        let turn = self.turns.iter().filter(|first| **first <= entry).count();
        Names::at(turn as u32, self.list[entry as usize].text)
    }

    /// Tells whether a value is identified by this name.
    fn is(
        &self,
        known: Indexed,
        key: ValueKey,
        type_: TypeId,
        identifier: Name<'_>,
        names: ValueNames,
    ) -> bool {
        if known.key != key.0 || self.list[known.entry as usize].type_ != type_ {
            return false;
        }
        let found = self.names(known.entry).identifier(&self.texts);
        found.text == identifier.text
            && (names == ValueNames::Bare || found.quoting == identifier.quoting)
    }
}

impl ValueNameTable {
    /// The names of a value, and where their texts are.
    pub(crate) fn get(&self, place: ValuePlace) -> (Names, &TextArena) {
        let part = &self.parts[place.part()];
        (part.entries.names(place.entry()), &part.entries.texts)
    }

    /// Tells whether names are many, and none is expected.
    pub(crate) fn looks_up(&self) -> bool {
        self.types == 0 && self.parts[0].entries.list.len() > MANY_VALUES
    }

    /// Looks at these values, and at the beginnings of their names.
    #[inline]
    pub(crate) fn look_at(&self, places: impl Iterator<Item = ValuePlace> + Clone) {
        let entry = |at: ValuePlace| self.parts[at.part()].entries.list[at.entry() as usize].text;
        std::hint::black_box(places.clone().fold(0, |all, place| all ^ entry(place)));
        let name = |(names, texts): (Names, _)| names.name(texts).text.first().copied();
        let looks = places.filter_map(|place| name(self.get(place)));
        std::hint::black_box(looks.fold(0, |all, byte| all ^ byte));
    }

    /// The value of a type that is identified by this name, whose text has this hash.
    pub(crate) fn find(
        &self,
        type_: TypeId,
        identifier: Name<'_>,
        hash: u64,
        names: ValueNames,
    ) -> Option<ValueId> {
        let key = ValueKey::new(type_, hash);
        let part = &self.parts[key.part()];
        let entry = part.find(key, type_, identifier, names)?;
        let number = part.entries.list[entry as usize].number;
        (number != NO_NUMBER).then_some(number)
    }

    /// The place of a value of this type that the next line names, and its number if it has one; what identifies it has this
    /// hash. If the line was expected, what it says need not be looked at.
    #[inline]
    pub(crate) fn ask<'n>(
        &mut self,
        type_: TypeId,
        hash: u64,
        said: impl FnOnce() -> ValueNamed<'n>,
        names: ValueNames,
    ) -> (ValuePlace, Option<ValueId>) {
        let key = ValueKey::new(type_, hash);
        let part = &mut self.parts[key.part()];
        let expected = part.expected.get(part.asked).filter(|_| type_.index() < self.types);
        let entry = match expected {
            Some(entry) => {
                part.asked += 1;
                *entry
            }
            None => part.find_or_add(key, type_, said(), names),
        };
        let ValueEntry { type_: found, number, .. } = part.entries.list[entry as usize];
        debug_assert_eq!(found, type_, "lines are asked for as they were expected");
        (ValuePlace::new(key.part(), entry), (number != NO_NUMBER).then_some(number))
    }

    /// Gives a value its number.
    pub(crate) fn number(&mut self, place: ValuePlace, value: ValueId) {
        self.parts[place.part()].entries.list[place.entry() as usize].number = value;
    }

    /// The parts, by their numbers.
    pub(crate) fn parts_mut(&mut self) -> impl Iterator<Item = &mut ValueNamePart> {
        self.parts.iter_mut()
    }

    /// Values that are expected are of types below this number.
    pub(crate) const fn expect_of(&mut self, types: usize) {
        self.types = types;
    }

    /// Nothing is expected any more.
    pub(crate) fn stop_expecting(&mut self) {
        if std::mem::take(&mut self.types) > 0 {
            self.parts.iter_mut().for_each(ValueNamePart::stop_expecting);
        }
    }
}

impl ValuePlace {
    const fn new(part: usize, entry: u32) -> Self {
        ValuePlace(entry * PARTS as u32 + part as u32)
    }

    const fn part(self) -> usize {
        self.0 as usize % PARTS
    }

    const fn entry(self) -> u32 {
        self.0 / PARTS as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_parser::Quoting;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// A line: the number of a type, the text of a value, whether that is in quotes, and whether it is an alias.
    type Line = (u32, String, bool, bool);

    fn said(line: &Line) -> (TypeId, u64, ValueNamed<'_>) {
        let (type_, text, quoted, aliased) = line;
        let quoting = if *quoted { Quoting::Quoted } else { Quoting::Bare };
        let name = Name { text: text.as_bytes(), quoting };
        let alias = aliased.then_some(name);
        let said = ValueNamed { name: if *aliased { Name::bare(b"name") } else { name }, alias };
        (TypeId(*type_), hash_bytes(text.as_bytes()), said)
    }

    fn lines() -> impl Strategy<Value = Vec<Line>> {
        let line = (0..3u32, "[a-d]{0,3}", any::<bool>(), any::<bool>());
        proptest::collection::vec(line, 0..80)
    }

    proptest! {
        /// Numbers and names are those of one map, whoever looks ahead, and however far lines turn out to count.
        #[test]
        fn equals_a_plain_map(
            waves in proptest::collection::vec((lines(), 0..100usize, 0..4usize), 0..6),
            as_written in any::<bool>(),
        ) {
            let names = if as_written { ValueNames::AsWritten } else { ValueNames::Bare };
            let mut table = ValueNameTable::default();
            let mut plain: HashMap<(u32, String, bool), (ValueId, Line)> = HashMap::new();
            let mut counts = [0; 3];
            for (lines, counting, types) in &waves {
                if *types > 0 {
                    for line in lines {
                        let (type_, hash, said) = said(line);
                        let key = ValueKey::new(type_, hash);
                        let part = table.parts_mut().nth(key.part()).expect("a part");
                        if type_.index() < *types {
                            part.look_for(key);
                            part.look();
                            part.expect(key, type_, said, names);
                        }
                    }
                    table.expect_of(*types);
                }
                for line in lines.iter().take(*counting) {
                    let (type_, hash, said) = said(line);
                    let (place, known) = table.ask(type_, hash, || said, names);
                    let key = (line.0, line.1.clone(), as_written && line.2);
                    let expected = plain.get(&key).map(|(value, _)| *value);
                    prop_assert_eq!(known, expected);
                    if known.is_none() {
                        let value = ValueId(counts[type_.index()]);
                        counts[type_.index()] += 1;
                        table.number(place, value);
                        plain.insert(key, (value, line.clone()));
                    }
                    let (names, texts) = table.get(place);
                    prop_assert_eq!(names.identifier(texts).text, line.1.as_bytes());
                }
                table.stop_expecting();
                for (value, line) in plain.values() {
                    let (type_, hash, said) = said(line);
                    let identifier = said.alias.unwrap_or(said.name);
                    prop_assert_eq!(table.find(type_, identifier, hash, names), Some(*value));
                }
                let indexed: usize = table.parts_mut().map(|part| part.index.len()).sum();
                prop_assert_eq!(indexed, plain.len());
            }
        }
    }
}

//! The `%` header: which number stands for which event, with which fields.

mod grammar;
mod header;
mod numbers;
mod sequence;

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::FaultKind;
use crate::event::{EventKind, FieldName};
pub use grammar::keyword_of;
pub use numbers::Numbering;
use numbers::Numbers;
pub use sequence::Sequence;

/// Field names that are understood: those of older traces, too, or not (`-n/--no-strict`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldNames {
    /// Only the names of lang-paje 1.3.1; others are user-defined fields.
    #[default]
    Strict,
    /// Also `ContainerType` and `EntityType` for `Type`, `SourceContainer` for `StartContainer`, ….
    Old,
}

/// The type of a field, as its definition declares it. The replay reads fields by what they are
/// for; exporters type user-defined columns by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are the format's own.
pub enum FieldType {
    Date,
    Int,
    Double,
    Float,
    Hex,
    String,
    Color,
}

impl FieldType {
    /// The word for it in definitions.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FieldType::Date => "date",
            FieldType::Int => "int",
            FieldType::Double => "double",
            FieldType::Float => "float",
            FieldType::Hex => "hex",
            FieldType::String => "string",
            FieldType::Color => "color",
        }
    }
}

/// One field of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDef {
    /// The name as it was written.
    pub name: String,
    /// The known field that the name stands for; `None` for a user-defined one.
    pub known: Option<FieldName>,
    /// The declared type.
    pub kind: FieldType,
}

/// One finished `%EventDef`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDef {
    id: Vec<u8>,
    kind: EventKind,
    fields: Vec<FieldDef>,
    /// The word of each known field in an event's line (the number is word 0); `ABSENT` if not defined.
    words: [u32; FieldName::COUNT],
    needed_words: usize,
}

const ABSENT: u32 = u32::MAX;

impl EventDef {
    /// The text that stands for this event at the beginning of its lines.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// Kind of its event.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        self.kind
    }

    /// The fields in the order in which they follow the number.
    #[must_use]
    pub fn fields(&self) -> &[FieldDef] {
        &self.fields
    }

    /// The index of a known field among the words of a line; the number is word 0.
    #[must_use]
    #[inline]
    pub const fn word_of(&self, field: FieldName) -> Option<usize> {
        match self.words[field as usize] {
            ABSENT => None,
            word => Some(word as usize),
        }
    }

    /// Number of words, its number included, that a line must have so that no needed field is missing.
    #[must_use]
    #[inline]
    pub const fn needed_words(&self) -> usize {
        self.needed_words
    }

    /// The user-defined fields in definition order: name, and index among the words of a line.
    pub fn extras(&self) -> impl Iterator<Item = (&str, usize)> {
        let numbered = self.fields.iter().enumerate();
        numbered
            .filter(|(_, field)| field.known.is_none())
            .map(|(i, field)| (field.name.as_str(), i + 1))
    }

    /// The first needed field that a line of so many words does not have.
    pub(crate) fn first_missing(&self, words: usize) -> FieldName {
        let needed = |field: &&FieldName| self.word_of(**field).is_some_and(|word| word >= words);
        let mut all = self.kind.obligatory().iter().chain(self.kind.optional());
        let least = |a: FieldName, b: &FieldName| {
            if self.word_of(*b) < self.word_of(a) { *b } else { a }
        };
        match all.find(needed) {
            Some(first) => all.filter(needed).fold(*first, least),
            None => FieldName::Type,
        }
    }

    fn finish(id: Vec<u8>, kind: EventKind, fields: Vec<FieldDef>) -> Result<EventDef, FaultKind> {
        let mut words = [ABSENT; FieldName::COUNT];
        for (i, field) in fields.iter().enumerate() {
            if let Some(known) = field.known {
                words[known as usize] = i as u32 + 1;
            }
        }
        let absent = |field: &&FieldName| words[**field as usize] == ABSENT;
        if let Some(field) = kind.obligatory().iter().find(absent) {
            let instead = grammar::instead(*field, &fields);
            return Err(FaultKind::MissingObligatory(kind, *field, instead));
        }
        let read = kind.obligatory().iter().chain(kind.optional());
        let last = read.map(|field| words[*field as usize]).filter(|word| *word != ABSENT).max();
        Ok(EventDef {
            id,
            kind,
            fields,
            words,
            needed_words: last.map_or(1, |word| word as usize + 1),
        })
    }
}

/// A definition between its `%EventDef` and its `%EndEventDef`.
#[derive(Clone, Debug)]
struct OpenDef {
    id: Vec<u8>,
    kind: EventKind,
    fields: Vec<FieldDef>,
}

/// The definitions met so far, and the one at hand. Copies share most of what they have in common, so
/// that one for each block is no matter.
///
/// A trace may be spread over many files, each with definitions of its own. They all are in one list,
/// where equal ones stand once; a table also knows which of them its own file's numbers stand for.
#[derive(Clone, Debug)]
pub struct DefTable {
    names: FieldNames,
    defs: Sequence<Arc<EventDef>>,
    /// Meanings of the numbers at this place of this file.
    numbers: Numbers,
    /// For a file that another one named.
    imported: Option<Imported>,
    open: Option<OpenDef>,
    /// The last `%EventDef` was faulty, and what follows up to its end is passed over: see
    /// [`DefTable::mend_line`].
    skipping: bool,
}

/// Parts that only the table of a named file has.
#[derive(Clone, Debug)]
struct Imported {
    /// The numbers of the naming file.
    inherited: Numbers,
    /// They still count: the file has not defined an event yet.
    counts: bool,
    /// The definitions of the list, by their numbers' texts; those of one text in order.
    known: HashMap<Vec<u8>, Vec<u32>>,
}

impl DefTable {
    /// No definitions yet.
    #[must_use]
    pub fn new(names: FieldNames) -> Self {
        DefTable {
            names,
            defs: Sequence::default(),
            numbers: Numbers::default(),
            imported: None,
            open: None,
            skipping: false,
        }
    }

    /// The table with which a file begins that is named by one that ends with this table. These
    /// definitions count up to the first that the file makes itself; from there on only its own do
    /// (lang-paje 1.3.1, "Parallel reading": a file may repeat the definitions, and then its own rule).
    #[must_use]
    pub fn inherit(&self) -> Self {
        let mut known: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
        for (index, def) in self.defs.iter().enumerate() {
            known.entry(def.id.clone()).or_default().push(index as u32);
        }
        let inherited = self.numbers.clone();
        let imported = Imported { inherited, counts: true, known };
        DefTable { imported: Some(imported), open: None, skipping: false, ..self.clone() }
    }

    /// The finished definitions, in the order of their ends, also those that other files of the trace
    /// made before; equal ones once.
    #[must_use]
    pub const fn defs(&self) -> &Sequence<Arc<EventDef>> {
        &self.defs
    }

    /// Takes definitions over that other files made: `all` is the list of a table, and begins with
    /// this table's.
    pub fn learn(&mut self, all: &Sequence<Arc<EventDef>>) {
        for def in all.since(self.defs.len()) {
            if let Some(imported) = &mut self.imported {
                imported.known.entry(def.id.clone()).or_default().push(self.defs.len() as u32);
            }
            self.defs.push(Arc::clone(def));
        }
    }

    /// True if a definition was begun and not ended.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// True if the meaning of a `%` line here depends on those before it.
    #[must_use]
    pub const fn is_midway(&self) -> bool {
        self.open.is_some() || self.skipping
    }

    /// True if the numbers are those of the naming file, which the file's first definition will put
    /// away.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        self.imported.as_ref().is_some_and(|imported| imported.counts)
    }

    /// The index among [`DefTable::defs`] of the definition whose number is this text.
    ///
    /// Numbers are compared as text: `011` is not `11`.
    #[must_use]
    #[inline]
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        self.numbers.find(id)
    }

    /// True if every number stands for the same in both tables.
    #[must_use]
    pub fn same_numbers(&self, other: &DefTable) -> bool {
        self.numbers.same(&other.numbers)
    }

    /// True if every number that stands for something here stands for the same in `other`.
    #[must_use]
    pub fn is_part_of(&self, other: &DefTable) -> bool {
        if self.numbers.are_akin(&other.numbers) {
            return self.numbered().len() <= other.numbered().len();
        }
        let same = |index: &u32| {
            let index = *index as usize;
            self.defs.get(index).is_some_and(|def| other.find(&def.id) == Some(index))
        };
        self.same_numbers(other) || self.numbered().iter().all(same)
    }

    /// The definitions that numbers stand for, as indices among [`DefTable::defs`], in the order in
    /// which their definitions ended.
    #[must_use]
    pub const fn numbered(&self) -> &Sequence<u32> {
        self.numbers.order()
    }

    /// The index of the first of [`DefTable::numbered`] that came after `earlier` was asked for; `None` if
    /// that was of other numbers, or if it is not known whether it was. Who makes something of all numbers
    /// may remember by this how far he is.
    #[must_use]
    pub fn numbered_since(&self, earlier: &Numbering) -> Option<usize> {
        self.numbers.since(earlier)
    }

    /// The state of the numbers.
    #[must_use]
    pub fn numbering(&self) -> Numbering {
        self.numbers.numbering()
    }

    /// Kind of the event that the definition at hand defines, for messages.
    #[must_use]
    pub fn open_event(&self) -> Option<EventKind> {
        self.open.as_ref().map(|open| open.kind)
    }

    /// A file that defines an event has no more to do with the numbers of the file that named it.
    fn put_away(&mut self) {
        if let Some(imported) = &mut self.imported
            && std::mem::take(&mut imported.counts)
        {
            self.numbers = Numbers::default();
        }
    }

    fn insert(&mut self, def: EventDef) {
        let next = self.defs.len() as u32;
        let Some(imported) = &mut self.imported else {
            self.numbers.insert(&def.id, next);
            self.defs.push(Arc::new(def));
            return;
        };
        let known = imported.known.entry(def.id.clone()).or_default();
        let equal = known.iter().copied().find(|known| *self.defs[*known as usize] == def);
        // Other files may have gone on from the same numbers to others.
        self.numbers.branch();
        self.numbers.insert(&def.id, equal.unwrap_or(next));
        if equal.is_none() {
            known.push(next);
            self.defs.push(Arc::new(def));
        }
        // A header that was repeated: what was made of the numbers of the naming file holds.
        if self.numbers.same(&imported.inherited) {
            self.numbers = imported.inherited.clone();
        }
    }
}

#[cfg(test)]
mod tests;

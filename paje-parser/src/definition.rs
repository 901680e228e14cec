//! The `%` header, which maps event numbers to events and their fields.

mod grammar;
mod header;
mod numbers;
mod sequence;

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::FaultKind;
use crate::event::{EventKind, FieldName};
pub use grammar::{field_name, keyword_of};
pub use numbers::Numbering;
use numbers::Numbers;
pub use sequence::Sequence;

/// Set of field names that are recognised (`-n/--no-strict`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldNames {
    /// Only the names of lang-paje 1.3.1. Other names are user-defined fields.
    #[default]
    Strict,
    /// Also older names: `ContainerType` and `EntityType` for `Type`, `SourceContainer` for
    /// `StartContainer`, ….
    Old,
}

/// The declared type of a field. Exporters use the type for user-defined columns. The replay
/// ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are those of the format.
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
    /// Returns the type's name in definitions.
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
    /// Name as written.
    pub name: String,
    /// The standard field of this name, or `None` for a user-defined field.
    pub known: Option<FieldName>,
    /// Declared type.
    pub kind: FieldType,
}

/// A finished `%EventDef`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventDef {
    id: Vec<u8>,
    kind: EventKind,
    fields: Vec<FieldDef>,
    /// Word index of each standard field in a line (the event number is word 0), or `ABSENT`.
    words: [u32; FieldName::COUNT],
    needed_words: usize,
}

const ABSENT: u32 = u32::MAX;

impl EventDef {
    /// Returns the event number, as text.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// Returns the kind of event.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        self.kind
    }

    /// Returns the fields in the order in which they follow the event number.
    #[must_use]
    pub fn fields(&self) -> &[FieldDef] {
        &self.fields
    }

    /// Returns the word index of a standard field in a line. The event number is word 0.
    #[must_use]
    #[inline]
    pub const fn word_of(&self, field: FieldName) -> Option<usize> {
        match self.words[field as usize] {
            ABSENT => None,
            word => Some(word as usize),
        }
    }

    /// Returns how many words a line needs to contain all required fields. The event number counts
    /// as a word.
    #[must_use]
    #[inline]
    pub const fn needed_words(&self) -> usize {
        self.needed_words
    }

    /// Returns the name and the word index of each user-defined field, in definition order.
    pub fn extras(&self) -> impl Iterator<Item = (&str, usize)> {
        let numbered = self.fields.iter().enumerate();
        numbered
            .filter(|(_, field)| field.known.is_none())
            .map(|(i, field)| (field.name.as_str(), i + 1))
    }

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

#[derive(Clone, Debug)]
struct OpenDef {
    id: Vec<u8>,
    kind: EventKind,
    fields: Vec<FieldDef>,
}

/// The definitions read so far, and the definition that is being read. Each block keeps a clone.
/// Clones are cheap, because they share most of their contents.
///
/// A trace may consist of several files with their own definitions. One list holds the definitions
/// of all files, without duplicates. Each table also maps the event numbers of one file to entries
/// of the list.
#[derive(Clone, Debug)]
pub struct DefTable {
    names: FieldNames,
    defs: Sequence<Arc<EventDef>>,
    numbers: Numbers,
    /// State for a file that another trace file refers to.
    imported: Option<Imported>,
    open: Option<OpenDef>,
    /// Whether the last `%EventDef` was faulty, so that its lines are skipped. See
    /// [`DefTable::mend_line`].
    skipping: bool,
}

#[derive(Clone, Debug)]
struct Imported {
    inherited: Numbers,
    /// Whether the inherited numbers are still in use, because the file has not defined an event
    /// yet.
    counts: bool,
    /// For each event number, the indices of its definitions, in order.
    known: HashMap<Vec<u8>, Vec<u32>>,
}

impl DefTable {
    /// Creates a table without definitions.
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

    /// Creates the table for a file that a trace with this table refers to. The inherited
    /// definitions apply until the file defines an event itself. From then on, only its own
    /// definitions apply (lang-paje 1.3.1, "Parallel reading").
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

    /// Returns the finished definitions of all files of the trace, in the order in which they
    /// ended, without duplicates.
    #[must_use]
    pub const fn defs(&self) -> &Sequence<Arc<EventDef>> {
        &self.defs
    }

    /// Adds the definitions of other files. `all` is the list of another table, and starts with the
    /// list of this table.
    pub fn learn(&mut self, all: &Sequence<Arc<EventDef>>) {
        for def in all.since(self.defs.len()) {
            if let Some(imported) = &mut self.imported {
                imported.known.entry(def.id.clone()).or_default().push(self.defs.len() as u32);
            }
            self.defs.push(Arc::clone(def));
        }
    }

    /// Returns whether a definition has started and not ended.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns whether the meaning of the next `%` line depends on the previous lines.
    #[must_use]
    pub const fn is_midway(&self) -> bool {
        self.open.is_some() || self.skipping
    }

    /// Returns whether the event numbers are still those of the referring file.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        self.imported.as_ref().is_some_and(|imported| imported.counts)
    }

    /// Returns the index in [`DefTable::defs`] of the definition with this event number.
    ///
    /// Numbers are compared as text: `011` and `11` differ.
    #[must_use]
    #[inline]
    pub fn find(&self, id: &[u8]) -> Option<usize> {
        self.numbers.find(id)
    }

    /// Returns whether both tables map every event number to the same definition.
    #[must_use]
    pub fn same_numbers(&self, other: &DefTable) -> bool {
        self.numbers.same(&other.numbers)
    }

    /// Returns whether `other` maps every event number of this table to the same definition.
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

    /// Returns the indices in [`DefTable::defs`] of the definitions that event numbers map to, in
    /// the order in which the definitions ended.
    #[must_use]
    pub const fn numbered(&self) -> &Sequence<u32> {
        self.numbers.order()
    }

    /// Returns the index of the first entry of [`DefTable::numbered`] that was added after
    /// `earlier`. With this, a caller that derives data from all numbers can continue where it
    /// stopped. Returns `None` if `earlier` is not known to belong to this table's numbers.
    #[must_use]
    pub fn numbered_since(&self, earlier: &Numbering) -> Option<usize> {
        self.numbers.since(earlier)
    }

    /// Returns the state of the event numbers, for [`DefTable::numbered_since`].
    #[must_use]
    pub fn numbering(&self) -> Numbering {
        self.numbers.numbering()
    }

    /// Returns the kind of event in the unfinished definition, for messages.
    #[must_use]
    pub fn open_event(&self) -> Option<EventKind> {
        self.open.as_ref().map(|open| open.kind)
    }

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
        // Other files may have added different numbers to the same base.
        self.numbers.branch();
        self.numbers.insert(&def.id, equal.unwrap_or(next));
        if equal.is_none() {
            known.push(next);
            self.defs.push(Arc::new(def));
        }
        // This file's header equals that of the referring file, so data derived from the referring
        // file's numbers stays valid.
        if self.numbers.same(&imported.inherited) {
            self.numbers = imported.inherited.clone();
        }
    }
}

#[cfg(test)]
mod tests;

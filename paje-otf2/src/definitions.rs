//! The global definitions of an archive.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::bytes::Found;
use crate::chunks::{Chunks, Step};
use crate::record::{Entry, FIELDS, UNDEFINED, Values};
use crate::table::{DEFINITIONS, Field, Record, Records, Reference, Type};

/// Numbers of the definitions that the code treats specially.
pub(crate) mod definition {
    pub(crate) const CLOCK_PROPERTIES: u8 = 5;
    pub(crate) const STRING: u8 = 10;
    pub(crate) const SYSTEM_TREE_NODE: u8 = 12;
    pub(crate) const LOCATION_GROUP: u8 = 13;
    pub(crate) const LOCATION: u8 = 14;
    pub(crate) const REGION: u8 = 15;
    pub(crate) const GROUP: u8 = 18;
    pub(crate) const METRIC_MEMBER: u8 = 19;
    pub(crate) const METRIC_CLASS: u8 = 20;
    pub(crate) const METRIC_INSTANCE: u8 = 21;
    pub(crate) const COMM: u8 = 22;
    pub(crate) const PARAMETER: u8 = 23;
    pub(crate) const SYSTEM_TREE_NODE_PROPERTY: u8 = 26;
    pub(crate) const INTER_COMM: u8 = 43;
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Number of its record in the [table](DEFINITIONS).
    pub kind: u8,
    /// The fields, as in [`Values`].
    pub fields: [u64; FIELDS],
    /// Type of its typed value.
    pub value_type: u8,
    /// The items of its list.
    pub list: Box<[Entry]>,
    texts: [Range<u64>; 2],
}

impl Definition {
    /// Returns its record.
    #[must_use]
    pub fn record(&self, records: &'static Records) -> Option<&'static Record> {
        records.get(self.kind)
    }
}

/// The definitions of a file, in its order.
#[derive(Debug, Default)]
pub struct Definitions {
    /// All of them.
    pub all: Vec<Definition>,
    bytes: Vec<u8>,
    /// The last definition of each identifier.
    by_id: FxHashMap<(Reference, u64), u32>,
    /// Number of records that the tables do not describe.
    pub unknown: u64,
}

impl Definitions {
    /// Reads the bytes of a file, up to the first fault.
    pub(crate) fn read(
        bytes: Vec<u8>,
        chunk: u64,
        records: &'static Records,
    ) -> (Definitions, Found<()>) {
        let mut found = Definitions::default();
        let outcome = found.read_records(&bytes, chunk, records);
        found.bytes = bytes;
        (found, outcome)
    }

    fn read_records(&mut self, bytes: &[u8], chunk: u64, records: &'static Records) -> Found<()> {
        let mut values = Values::default();
        let mut chunks = Chunks::new(bytes, chunk);
        while let Some(Step { kind, mut payload }) = chunks.next_step()? {
            let Some(record) = records.get(kind) else {
                self.unknown += 1;
                continue;
            };
            values.read(record, &mut payload, None)?;
            if values.is_old {
                upgrade(kind, &mut values.fields);
            }
            if let Some(reference) = record.defines().filter(|_| values.fields[0] != UNDEFINED) {
                self.by_id.insert((reference, values.fields[0]), self.all.len() as u32);
            }
            self.all.push(Definition {
                kind,
                fields: values.fields,
                value_type: values.value_type,
                list: values.list.as_slice().into(),
                texts: values.texts.clone(),
            });
        }
        Ok(())
    }

    /// Returns the last definition of an identifier.
    #[must_use]
    pub fn get(&self, reference: Reference, id: u64) -> Option<&Definition> {
        self.by_id.get(&(reference, id)).map(|at| &self.all[*at as usize])
    }

    /// Iterates over the definitions of a kind, in the order of the file.
    pub(crate) fn of(&self, kind: u8) -> impl Iterator<Item = &Definition> {
        self.all.iter().filter(move |it| it.kind == kind)
    }

    /// Returns whether this is the last definition of its identifier.
    pub(crate) fn is_last(&self, definition: &Definition, reference: Reference) -> bool {
        self.get(reference, definition.fields[0]).is_some_and(|it| std::ptr::eq(it, definition))
    }

    /// Returns the text of a String definition.
    #[must_use]
    pub fn string(&self, id: u64) -> Option<&[u8]> {
        self.get(Reference::String, id).map(|it| self.text(it, 0))
    }

    /// Returns a text of a definition, by its index among the definition's texts.
    #[must_use]
    pub fn text(&self, definition: &Definition, number: usize) -> &[u8] {
        let Range { start, end } = definition.texts[number];
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns the name of a definition, if it has one.
    #[must_use]
    pub fn name(&self, reference: Reference, id: u64) -> Option<&[u8]> {
        let (reference, id) = match reference {
            Reference::String => return self.string(id),
            Reference::CallingContext => (Reference::Region, self.get(reference, id)?.fields[1]),
            other => (other, id),
        };
        let found = self.get(reference, id)?;
        let label = if reference == Reference::SourceCodeLocation { "File" } else { "Name" };
        let name = DEFINITIONS.get(found.kind)?.field(label)?;
        self.string(found.fields[name])
    }

    /// Returns the sum of the sizes of all names. Any number of definitions may have the same name.
    pub(crate) fn name_bytes(&self) -> u64 {
        let bytes = |id: u64| self.string(id).map_or(0, |text| text.len() as u64);
        let names = self.all.iter().map(|it| {
            let fields = it.record(&DEFINITIONS).map_or(&[][..], |record| &record.fields);
            let is_name = |field: &Field| matches!(field.type_, Type::Reference(Reference::String));
            let own = fields.iter().zip(it.fields).filter(|(field, _)| is_name(field));
            // The name of a location begins with that of its group.
            let group = Some(it.fields[4]).filter(|_| it.kind == definition::LOCATION);
            let group = group.and_then(|id| self.get(Reference::LocationGroup, id));
            own.map(|(_, id)| bytes(id)).sum::<u64>() + group.map_or(0, |it| bytes(it.fields[1]))
        });
        names.sum()
    }

    /// Returns the maximum size of all names, and of the lines of the definitions.
    pub(crate) const fn most_text(&self) -> u64 {
        (64 << 20) + 100 * self.bytes.len() as u64
    }

    /// Returns the resolution of the clock in ticks per second, and the tick at which the trace begins.
    pub(crate) fn clock(&self) -> (u64, u64) {
        let found = self.of(definition::CLOCK_PROPERTIES).last();
        found.map_or((1, 0), |it| (it.fields[0].max(1), it.fields[1]))
    }
}

/// Fills in fields that older libraries did not write, from the field that they wrote instead.
fn upgrade(kind: u8, fields: &mut [u64; FIELDS]) {
    match kind {
        definition::REGION => {
            let old = fields[3];
            // The canonical name is the name.
            fields[7] = if fields[7] == UNDEFINED { fields[1] } else { fields[7] };
            let found = OLD_ROLES.iter().find(|(from, ..)| u64::from(*from) == old);
            let (_, role, paradigm, flags) = found.copied().unwrap_or_default();
            (fields[8], fields[9], fields[10]) = (role.into(), paradigm.into(), flags.into());
        }
        definition::GROUP => {
            (fields[4], fields[5]) = match fields[2] {
                1 => (1, 0),
                2 | 3 => (2, 0),
                4 => (5, 4),
                5 => (6, 4),
                6 => (4, 4),
                _ => (0, 0),
            };
        }
        _ => {}
    }
}

/// For each type of region of older libraries: its role, paradigm and flags.
const OLD_ROLES: [(u8, u8, u8, u8); 35] = [
    (1, 1, 0, 0),
    (2, 3, 1, 0),
    (3, 1, 0, 0),
    (4, 27, 1, 0),
    (5, 5, 3, 0),
    (6, 3, 3, 0),
    (7, 6, 3, 0),
    (8, 7, 3, 0),
    (9, 8, 3, 0),
    (10, 9, 3, 0),
    (11, 11, 3, 0),
    (12, 12, 3, 0),
    (13, 14, 3, 0),
    (14, 15, 3, 0),
    (15, 16, 3, 0),
    (16, 17, 3, 0),
    (17, 13, 3, 0),
    (18, 10, 3, 0),
    (19, 2, 3, 0),
    (20, 20, 3, 0),
    (21, 22, 3, 0),
    (33, 21, 3, 0),
    (34, 18, 3, 0),
    (35, 19, 3, 0),
    (22, 15, 4, 0),
    (23, 23, 4, 0),
    (24, 24, 4, 0),
    (25, 25, 4, 0),
    (26, 26, 4, 0),
    (27, 4, 1, 0),
    (28, 4, 1, 1),
    (29, 4, 1, 3),
    (30, 3, 1, 1),
    (31, 1, 1, 1),
    (32, 3, 3, 1),
];

//! The values of fields and attributes, as written in lines.

use rustc_hash::FxHashMap;

use crate::definitions::Definitions;
use crate::enumerations::Enumeration;
use crate::model::Model;
use crate::record::{Entry, Values};
use crate::table::{Field, Item, Record, Reference, Type};
use crate::text::{Sink, double, name_or_id};

/// Writes the values of a location's events.
#[derive(Debug)]
pub(crate) struct Fields<'m> {
    model: &'m Model,
    all: &'m Definitions,
    location: u64,
    /// Names and ranks that have been looked up.
    names: FxHashMap<(Reference, u64), Option<&'m [u8]>>,
    peers: FxHashMap<(u64, u64), Option<u64>>,
}

impl<'m> Fields<'m> {
    pub(crate) fn new(model: &'m Model, all: &'m Definitions, location: u64) -> Self {
        let (names, peers) = (FxHashMap::default(), FxHashMap::default());
        Fields { model, all, location, names, peers }
    }

    pub(crate) fn field(
        &mut self,
        record: &Record,
        field: &Field,
        number: usize,
        values: &Values,
        sink: &mut impl Sink,
    ) {
        const NONE: u64 = u32::MAX as u64;
        const SELF: u64 = NONE - 1;
        let value = values.fields[number];
        match field.type_ {
            Type::Signed => sink.signed(value.cast_signed()),
            Type::Time => self.model.seconds.write(self.model.seconds.units(value), sink),
            Type::One(names) => match names.get(value) {
                Some(name) => sink.plain(name.as_bytes()),
                None => sink.number(value),
            },
            Type::Flags(names) => flags(names, value, sink),
            Type::Reference(reference) => {
                name_or_id(self.name(reference, value), value, sink);
            }
            Type::Root if value == NONE => sink.plain(b"NONE"),
            Type::Root if value == SELF => sink.plain(b"SELF"),
            Type::Rank | Type::Root => {
                sink.number(value);
                if let Some(location) = self.peer(record, value, values) {
                    sink.plain(b" (");
                    let name = self.name(Reference::Location, location);
                    name_or_id(name, location, sink);
                    sink.plain(b")");
                }
            }
            Type::List { item, .. } => {
                for (at, entry) in values.list.iter().enumerate() {
                    if at > 0 {
                        sink.plain(b",");
                    }
                    match item {
                        Item::Reference(reference) => {
                            let id = entry.value;
                            name_or_id(self.name(reference, id), id, sink);
                        }
                        _ => self.value(entry, sink),
                    }
                }
            }
            _ => sink.number(value),
        }
    }

    /// Returns the location of a rank in the record's communicator or window.
    fn peer(&mut self, record: &Record, rank: u64, values: &Values) -> Option<u64> {
        let (at, reference) = record.comm?;
        let id = values.fields[at];
        let comm = match reference {
            Reference::RmaWin => self.all.get(reference, id)?.fields[2],
            _ => id,
        };
        self.location_of(comm, rank)
    }

    /// Returns the location of a rank in a communicator.
    pub(crate) fn location_of(&mut self, comm: u64, rank: u64) -> Option<u64> {
        let find = || self.model.ranks.location(self.all, comm, rank, self.location);
        *self.peers.entry((comm, rank)).or_insert_with(find)
    }

    pub(crate) fn name(&mut self, reference: Reference, id: u64) -> Option<&'m [u8]> {
        let find = || self.model.name(self.all, reference, id);
        *self.names.entry((reference, id)).or_insert_with(find)
    }

    /// Writes a typed value.
    pub(crate) fn value(&mut self, entry: &Entry, sink: &mut impl Sink) {
        match entry.type_ {
            5..=8 => sink.signed(entry.value.cast_signed()),
            9 => double(f32::from_bits(entry.value as u32).into(), sink),
            10 => double(f64::from_bits(entry.value), sink),
            type_ => match Reference::of_type(type_) {
                Some(reference) => {
                    name_or_id(self.name(reference, entry.value), entry.value, sink);
                }
                None => sink.number(entry.value),
            },
        }
    }
}

fn flags(names: &Enumeration, value: u64, sink: &mut impl Sink) {
    let mut is_first = true;
    for bit in (0..32).filter(|bit| value >> bit & 1 == 1) {
        if !std::mem::take(&mut is_first) {
            sink.plain(b"|");
        }
        match names.get(bit) {
            Some(name) => sink.plain(name.as_bytes()),
            None => sink.number(1 << bit),
        }
    }
    if is_first {
        sink.plain(b"NONE");
    }
}

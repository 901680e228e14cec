//! Writes OTF2 archives, record by record.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paje_otf2::table::{DEFINITIONS, EVENTS, Item, MARKERS, Record, Records, Reference, Type};

/// Smallest size of a chunk.
const CHUNK: usize = 256 << 10;

/// Fields of a record, in the order of the file.
#[derive(Clone, Debug)]
pub enum Given<'g> {
    /// A number, or the bits of one.
    N(u64),
    /// A text.
    T(&'g str),
    /// A list, whose items have no type.
    L(&'g [u64]),
    /// Typed values: a list, or the only one of a field.
    V(&'g [(u8, u64)]),
}

/// Writes an archive.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    /// Whether numbers have their highest byte first.
    pub big_endian: bool,
    /// Number of events after which a chunk ends, or 0 for as many as there is room for.
    pub chunk_events: usize,
    definitions: Vec<Vec<u8>>,
    markers: Vec<Vec<u8>>,
    locations: BTreeMap<u64, Location>,
}

#[derive(Clone, Debug, Default)]
struct Location {
    definitions: Vec<Vec<u8>>,
    /// Time, and the record with its attributes.
    events: Vec<(u64, Vec<u8>)>,
}

impl Archive {
    /// Adds a global definition.
    pub fn define(&mut self, name: &str, fields: &[Given<'_>]) {
        let record = self.record(&DEFINITIONS, name, fields);
        self.definitions.push(record);
    }

    /// Adds a marker or the definition of one.
    pub fn mark(&mut self, name: &str, fields: &[Given<'_>]) {
        let record = self.record(&MARKERS, name, fields);
        self.markers.push(record);
    }

    /// Adds the file of a location.
    pub fn location(&mut self, location: u64) {
        self.locations.entry(location).or_default();
    }

    /// Adds a sparse mapping table for the 15 kinds of references, by number.
    pub fn map(&mut self, location: u64, kind: u8, pairs: &[(u64, u64)]) {
        let mut payload = vec![kind];
        self.compressed(pairs.len() as u64, 8, &mut payload);
        payload.push(1);
        for (local, global) in pairs {
            self.compressed(*local, 8, &mut payload);
            self.compressed(*global, 8, &mut payload);
        }
        let record = self.with_length(5, payload);
        self.locations.entry(location).or_default().definitions.push(record);
    }

    /// Adds a clock offset.
    pub fn offset(&mut self, location: u64, time: u64, offset: i64) {
        let mut payload = self.fixed(time).to_vec();
        self.compressed(offset.cast_unsigned(), 8, &mut payload);
        payload.extend(self.fixed(0));
        let record = self.with_length(6, payload);
        self.locations.entry(location).or_default().definitions.push(record);
    }

    /// Adds an event.
    pub fn event(&mut self, location: u64, time: u64, name: &str, fields: &[Given<'_>]) {
        let record = self.record(&EVENTS, name, fields);
        self.raw_event(location, time, record);
    }

    /// Adds an event with attributes: their identifiers, types and values.
    pub fn event_with(
        &mut self,
        location: u64,
        time: u64,
        name: &str,
        fields: &[Given<'_>],
        attributes: &[(u64, u8, u64)],
    ) {
        let mut list = Vec::new();
        self.compressed(attributes.len() as u64, 4, &mut list);
        for (id, type_, value) in attributes {
            self.compressed(*id, 4, &mut list);
            list.push(*type_);
            self.value(*type_, *value, &mut list);
        }
        let mut bytes = self.with_length(6, list);
        bytes.extend(self.record(&EVENTS, name, fields));
        self.raw_event(location, time, bytes);
    }

    /// Adds an event as bytes.
    pub fn raw_event(&mut self, location: u64, time: u64, bytes: Vec<u8>) {
        self.locations.entry(location).or_default().events.push((time, bytes));
    }

    /// Writes the archive `run` in a folder. Returns the path of its anchor file.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let write =
            |path: PathBuf, bytes: Vec<u8>| std::fs::write(path, bytes).expect("it is writable");
        let path = folder.join("run.otf2");
        std::fs::create_dir_all(folder.join("run")).expect("it is writable");
        write(path.clone(), self.anchor());
        write(folder.join("run.def"), self.chunks(&self.definitions));
        if !self.markers.is_empty() {
            write(folder.join("run.marker"), self.chunks(&self.markers));
        }
        for (id, location) in &self.locations {
            write(folder.join(format!("run/{id}.def")), self.chunks(&location.definitions));
            write(folder.join(format!("run/{id}.evt")), self.event_chunks(&location.events));
        }
        path
    }

    fn anchor(&self) -> Vec<u8> {
        let mut bytes = vec![3, self.order()];
        bytes.extend(b"OTF2\0\x03\x02\x03\0\x02");
        let size = self.fixed(CHUNK as u64);
        bytes.extend([size, size].concat());
        bytes.extend([1, 1]);
        bytes.extend(self.fixed(self.locations.len() as u64));
        bytes.extend(self.fixed(self.definitions.len() as u64));
        bytes.extend(b"machine\0creator\0\0");
        bytes.extend([0; 4]);
        bytes.extend(self.fixed(7));
        bytes.extend([0; 8]);
        bytes.extend([2, 1, 0]);
        bytes
    }

    const fn order(&self) -> u8 {
        if self.big_endian { 0x23 } else { 0x42 }
    }

    fn chunk_header(&self) -> Vec<u8> {
        [&[3, self.order()][..], &self.fixed(1), &self.fixed(0)].concat()
    }

    /// Puts records into chunks.
    fn chunks(&self, records: &[Vec<u8>]) -> Vec<u8> {
        let mut file = self.chunk_header();
        for record in records {
            if file.len() % CHUNK + record.len() + 2 > CHUNK {
                self.next_chunk(&mut file);
            }
            file.extend(record);
        }
        file.extend([2, 1]);
        file
    }

    fn event_chunks(&self, events: &[(u64, Vec<u8>)]) -> Vec<u8> {
        let mut file = self.chunk_header();
        let (mut last, mut count) = (None, 0);
        for (time, record) in events {
            let is_full = file.len() % CHUNK + record.len() + 12 > CHUNK;
            if is_full || count > 0 && count == self.chunk_events {
                self.next_chunk(&mut file);
                (last, count) = (None, 0);
            }
            if last != Some(*time) {
                file.push(5);
                file.extend(self.fixed(*time));
                last = Some(*time);
            }
            file.extend(record);
            count += 1;
        }
        file.extend([2, 1]);
        file
    }

    fn next_chunk(&self, file: &mut Vec<u8>) {
        file.push(0);
        file.resize(file.len().next_multiple_of(CHUNK), 0);
        file.extend(self.chunk_header());
    }

    fn record(&self, records: &'static Records, name: &str, fields: &[Given<'_>]) -> Vec<u8> {
        let record: &Record = records.iter().find(|it| it.name == name).expect("it is a record");
        let mut payload = Vec::new();
        for (field, given) in record.fields.iter().zip(fields) {
            match (field.type_, given) {
                (_, Given::T(text)) => payload.extend([text.as_bytes(), &[0]].concat()),
                (Type::Value, Given::V(values)) => {
                    payload.push(values[0].0);
                    self.value(values[0].0, values[0].1, &mut payload);
                }
                (Type::List { short, item }, given) => self.list(short, item, given, &mut payload),
                (type_, Given::N(number)) => self.number(type_, *number, &mut payload),
                _ => panic!("{name}: a field has another type"),
            }
        }
        if record.bare {
            [vec![record.kind], payload].concat()
        } else {
            self.with_length(record.kind, payload)
        }
    }

    fn list(&self, short: bool, item: Item, given: &Given<'_>, payload: &mut Vec<u8>) {
        let count = match given {
            Given::L(items) => items.len(),
            Given::V(items) => items.len(),
            _ => panic!("no list"),
        };
        if short {
            payload.push(count as u8)
        } else {
            self.compressed(count as u64, 4, payload)
        }
        match given {
            Given::L(items) => {
                let width = if item == Item::Long { 8 } else { 4 };
                items.iter().for_each(|it| self.compressed(*it, width, payload));
            }
            Given::V(items) => {
                for (type_, value) in *items {
                    payload.push(*type_);
                    self.compressed(*value, 8, payload);
                }
            }
            _ => {}
        }
    }

    fn number(&self, type_: Type, number: u64, payload: &mut Vec<u8>) {
        match type_ {
            Type::Byte | Type::One(_) | Type::Reference(Reference::IoParadigm) => {
                payload.push(number as u8)
            }
            Type::Time | Type::Double => payload.extend(self.fixed(number)),
            Type::Long | Type::Signed | Type::Reference(Reference::Location) => {
                self.compressed(number, 8, payload)
            }
            _ => self.compressed(number & u64::from(u32::MAX), 4, payload),
        }
    }

    fn value(&self, type_: u8, value: u64, payload: &mut Vec<u8>) {
        match type_ {
            1 | 5 => payload.push(value as u8),
            4 | 8 | 13 => self.compressed(value, 8, payload),
            10 => payload.extend(self.fixed(value)),
            _ => self.compressed(value & u64::from(u32::MAX), 4, payload),
        }
    }

    fn with_length(&self, kind: u8, payload: Vec<u8>) -> Vec<u8> {
        let mut record = vec![kind];
        match u8::try_from(payload.len()) {
            Ok(length) if length < u8::MAX => record.push(length),
            _ => {
                record.push(u8::MAX);
                record.extend(self.fixed(payload.len() as u64));
            }
        }
        record.extend(payload);
        record
    }

    fn compressed(&self, number: u64, width: usize, bytes: &mut Vec<u8>) {
        if number == u64::MAX || width == 4 && number == u64::from(u32::MAX) {
            bytes.push(u8::MAX);
            return;
        }
        let count = number.checked_ilog2().map_or(0, |bits| bits as usize / 8 + 1);
        bytes.push(count as u8);
        match self.big_endian {
            true => bytes.extend(&number.to_be_bytes()[8 - count..]),
            false => bytes.extend(&number.to_le_bytes()[..count]),
        }
    }

    const fn fixed(&self, number: u64) -> [u8; 8] {
        if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
    }
}

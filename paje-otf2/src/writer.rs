//! Writes archives: their chunks, events and definitions.
//!
//! Archives that are made from a Pajé trace have the property `PAJE::CONTAINERS`. In these archives,
//! nodes of the system tree are containers, node 0 is the root, and each location is a stack of
//! states of the container that its group is in. The reader then gives the names and times of the
//! Pajé trace.

// All of them fail if a file cannot be written.
#![allow(clippy::missing_errors_doc)]

mod definitions;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::chunks::{HEADER, mark};
use crate::events::event;
use crate::paje::PROPERTY;
pub use crate::paje::{END, LINKS, START};
pub use definitions::{DefinitionWriter, LocationKind};

/// Size of a chunk of events, and of a chunk of definitions. A definition cannot be longer.
const EVENT_CHUNK: usize = 1 << 20;
const DEFINITION_CHUNK: usize = 4 << 20;

/// Space at the end of a chunk that records leave free for its end mark.
const END_MARK: usize = 2;

const LITTLE: u8 = 0x42;

/// Appends an integer of up to `width` bytes with a byte for its length.
fn compressed(number: u64, width: usize, out: &mut Vec<u8>) {
    if number == u64::MAX || width == 4 && number == u64::from(u32::MAX) {
        out.push(u8::MAX);
        return;
    }
    let bytes = (u64::BITS - number.leading_zeros()).div_ceil(8) as usize;
    out.push(bytes as u8);
    out.extend_from_slice(&number.to_le_bytes()[..bytes]);
}

/// Fields of a record.
#[derive(Debug, Default)]
struct Payload(Vec<u8>);

impl Payload {
    /// Appends a byte.
    fn byte(&mut self, number: u8) -> &mut Self {
        self.0.push(number);
        self
    }

    /// Appends an integer of 32 bits, or [`UNDEFINED`].
    fn word(&mut self, number: u64) -> &mut Self {
        compressed(number & u64::from(u32::MAX), 4, &mut self.0);
        self
    }

    /// Appends an integer of 64 bits.
    fn long(&mut self, number: u64) -> &mut Self {
        compressed(number, 8, &mut self.0);
        self
    }

    /// Appends a text. Zeros, which would end it, become blanks.
    fn text(&mut self, text: &[u8]) -> &mut Self {
        // The rest of a very long text would not fit into a chunk.
        let text = &text[..text.len().min(DEFINITION_CHUNK / 2)];
        self.0.extend(text.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }));
        self.0.push(0);
        self
    }
}

/// A file of records in chunks.
#[derive(Debug)]
struct Chunked {
    file: File,
    size: usize,
    chunk: Vec<u8>,
    /// Number of records in all chunks, and number of records before this chunk, if they count.
    count: u64,
    before: u64,
    counts: bool,
    payload: Payload,
}

impl Chunked {
    fn new(path: &Path, size: usize, counts: bool) -> io::Result<Self> {
        let file = File::create_new(path)?;
        let payload = Payload::default();
        let (chunk, count, before) = (Vec::new(), 0, 0);
        let mut new = Chunked { file, size, chunk, count, before, counts, payload };
        new.begin();
        Ok(new)
    }

    fn begin(&mut self) {
        self.before = self.count;
        self.chunk.clear();
        self.chunk.extend_from_slice(&[mark::HEADER, LITTLE]);
        self.chunk.resize(HEADER as usize, 0);
    }

    /// Ends the chunk if fewer than `bytes` bytes are free. Returns whether it ended.
    fn make_room(&mut self, bytes: usize) -> io::Result<bool> {
        if self.chunk.len() + bytes + END_MARK <= self.size {
            return Ok(false);
        }
        self.chunk.push(mark::END_OF_CHUNK);
        self.chunk.resize(self.size, 0);
        self.flush()?;
        self.begin();
        Ok(true)
    }

    /// Writes the chunk. Its header has the numbers of its first and last records.
    fn flush(&mut self) -> io::Result<()> {
        let (first, last) = if self.counts { (self.before + 1, self.count) } else { (1, 0) };
        self.chunk[2..10].copy_from_slice(&first.to_le_bytes());
        self.chunk[10..18].copy_from_slice(&last.to_le_bytes());
        self.file.write_all(&self.chunk)
    }

    /// Appends a record with the current payload. `is_bare` says that no length comes first.
    fn push(&mut self, kind: u8, is_bare: bool) {
        self.chunk.push(kind);
        let length = self.payload.0.len();
        match u8::try_from(length) {
            _ if is_bare => {}
            Ok(length) if length < u8::MAX => self.chunk.push(length),
            _ => {
                self.chunk.push(u8::MAX);
                self.chunk.extend_from_slice(&(length as u64).to_le_bytes());
            }
        }
        self.chunk.append(&mut self.payload.0);
        self.count += 1;
    }

    /// Ends the file. Returns the number of its records.
    fn finish(mut self) -> io::Result<u64> {
        self.chunk.extend_from_slice(&[mark::END_OF_FILE, mark::END_OF_BUFFER]);
        self.flush()?;
        Ok(self.count)
    }
}

/// Maximum size of a record without its payload, and of a record of the time.
const RECORD: usize = 10;
const TIME: usize = 9;

/// Writes the events of a location. Times must not decrease.
#[derive(Debug)]
pub struct EventWriter {
    file: Chunked,
    time: Option<u64>,
}

impl EventWriter {
    fn add(&mut self, time: u64, kind: u8, is_bare: bool) -> io::Result<()> {
        let is_new = self.file.make_room(TIME + RECORD + self.file.payload.0.len())?;
        if is_new || self.time != Some(time) {
            self.file.chunk.push(mark::TIME);
            self.file.chunk.extend_from_slice(&time.to_le_bytes());
            self.time = Some(time);
        }
        self.file.push(kind, is_bare);
        Ok(())
    }

    /// Writes the beginning of a region.
    pub fn enter(&mut self, time: u64, region: u32) -> io::Result<()> {
        self.file.payload.word(region.into());
        self.add(time, event::ENTER, true)
    }

    /// Writes the end of a region.
    pub fn leave(&mut self, time: u64, region: u32) -> io::Result<()> {
        self.file.payload.word(region.into());
        self.add(time, event::LEAVE, true)
    }

    /// Writes a value of a metric class with one member.
    pub fn metric(&mut self, time: u64, class: u32, value: f64) -> io::Result<()> {
        self.file.payload.word(class.into()).byte(1).byte(types::DOUBLE).long(value.to_bits());
        self.add(time, event::METRIC, false)
    }

    /// Writes a value of a parameter.
    pub fn parameter(&mut self, time: u64, parameter: u32, string: u32) -> io::Result<()> {
        self.file.payload.word(parameter.into()).word(string.into());
        self.add(time, event::PARAMETER_STRING, false)
    }

    /// Writes one end of a message of no bytes. `rank` is the other end.
    pub fn message(&mut self, time: u64, is_send: bool, end: MessageEnd) -> io::Result<()> {
        let MessageEnd { rank, comm, tag } = end;
        self.file.payload.word(rank.into()).word(comm.into()).word(tag.into()).long(0);
        self.add(time, if is_send { event::SEND } else { event::RECV }, false)
    }

    /// Ends the file. Returns the number of events.
    pub fn finish(self) -> io::Result<u64> {
        self.file.finish()
    }
}

/// The other end of a message, its communicator and its tag.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct MessageEnd {
    pub rank: u32,
    pub comm: u32,
    pub tag: u32,
}

/// Types of values.
mod types {
    pub(super) const UINT64: u8 = 4;
    pub(super) const DOUBLE: u8 = 10;
    pub(super) const COMM: u8 = 17;
}

/// Writes an archive that is made from a Pajé trace. The anchor file is written last.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
}

impl Writer {
    /// Begins an archive in an empty folder.
    pub fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir(folder.join(NAME))?;
        Ok(Writer { folder: folder.to_owned() })
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(NAME).with_extension(extension)
    }

    /// Begins the events of a location.
    pub fn events(&self, location: u64) -> io::Result<EventWriter> {
        let path = |extension| self.folder.join(NAME).join(format!("{location}.{extension}"));
        Chunked::new(&path("def"), DEFINITION_CHUNK, false)?.finish()?;
        let file = Chunked::new(&path("evt"), EVENT_CHUNK, true)?;
        Ok(EventWriter { file, time: None })
    }

    /// Begins the definitions.
    pub fn definitions(&self) -> io::Result<DefinitionWriter> {
        Ok(DefinitionWriter(Chunked::new(&self.path("def"), DEFINITION_CHUNK, false)?))
    }

    /// Ends the archive, which has this many locations.
    pub fn finish(self, definitions: DefinitionWriter, locations: u64) -> io::Result<()> {
        let count = definitions.0.finish()?;
        let (chunks, [name, value]) = ([EVENT_CHUNK, DEFINITION_CHUNK], PROPERTY);
        let mut anchor = [&[mark::HEADER, LITTLE], &b"OTF2\0\x03\x02\x03\0\x02"[..]].concat();
        for number in chunks {
            anchor.extend_from_slice(&(number as u64).to_le_bytes());
        }
        // Files without compression.
        anchor.extend_from_slice(&[1, 1]);
        for number in [locations, count] {
            anchor.extend_from_slice(&number.to_le_bytes());
        }
        // No machine, and no description.
        anchor.extend_from_slice(b"\0Paje Replay\0\0");
        anchor.extend_from_slice(&1_u32.to_le_bytes());
        anchor.extend_from_slice(&[name, b"\0", value, b"\0"].concat());
        // No trace identifier, no snapshots, no thumbnails.
        anchor.extend_from_slice(&[0; 16]);
        anchor.extend_from_slice(&[mark::END_OF_FILE, mark::END_OF_BUFFER, 0]);
        fs::write(self.path("otf2"), anchor)
    }
}

/// Name of the archive in its folder.
const NAME: &str = "traces";

//! The files of an archive.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::anchor::Anchor;
use crate::bytes::{Cursor, Damage, Found, Order};
use crate::chunks::{CUT, HEADER, header};
use crate::definitions::{Definitions, definition};
use crate::error::Error;
use crate::events::{End, Event, Events};
use crate::maps::{Local, read_local};
use crate::model::Model;
use crate::record::Values;
use crate::table::{DEFINITIONS, MARKERS};
use crate::text::Sink;

/// Opens the files of an archive by their paths. It may refuse files elsewhere.
pub type Opener = Arc<dyn Fn(&Path) -> io::Result<File> + Send + Sync>;

/// An archive whose definitions have been read.
pub struct Archive {
    path: PathBuf,
    opener: Opener,
    anchor: Anchor,
    definitions: Definitions,
    /// Identifiers, in ascending order.
    locations: Vec<u64>,
    /// Faults of the definitions.
    faults: Vec<Error>,
}

/// A location, and the containers in which its states are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Identifier of the location.
    pub location: u64,
    /// Size of the file of its events.
    pub bytes: u64,
    /// Name and alias of each container in the trace, the innermost one first.
    pub around: Vec<[Vec<u8>; 2]>,
}

impl fmt::Debug for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Archive {
    /// Opens an archive by the path of its anchor file, and reads its definitions.
    ///
    /// # Errors
    /// Fails if a file cannot be read or is damaged.
    pub fn open(path: &Path, opener: Opener) -> Result<Archive, Error> {
        let archive = Archive::open_damaged(path, opener)?;
        archive.faults.first().map_or(Ok(()), |fault| Err(fault.clone()))?;
        Ok(archive)
    }

    /// Opens an archive whose definitions may be damaged. They are read up to the first fault.
    ///
    /// # Errors
    /// Fails if the anchor file is damaged, or if it or the definitions cannot be read.
    pub fn open_damaged(path: &Path, opener: Opener) -> Result<Archive, Error> {
        let bytes = read_all(&opener, path)?;
        let anchor = Anchor::read(&bytes).map_err(|damage| Error::damaged(path, damage))?;
        let global = path.with_extension("def");
        let bytes = read_all(&opener, &global)?;
        let (definitions, all) = Definitions::read(bytes, anchor.definition_chunk, &DEFINITIONS);
        let mut faults: Vec<Error> =
            all.err().into_iter().map(|damage| Error::damaged(&global, damage)).collect();
        let names = definitions.name_bytes();
        if names > definitions.most_text() {
            let what = format!(
                "its definitions have names of {names} bytes in all, which repeat long texts"
            );
            return Err(Error::other(&global, what));
        }
        let of_locations = definitions.of(definition::LOCATION);
        let mut locations: Vec<u64> = of_locations.map(|it| it.fields[0]).collect();
        locations.sort_unstable();
        let twice = locations.windows(2).filter(|pair| pair[0] == pair[1]);
        let twice = twice.map(|pair| format!("location {} is defined twice", pair[0]));
        faults.extend(twice.map(|what| Error::other(&global, what)));
        locations.dedup();
        Ok(Archive { path: path.to_owned(), opener, anchor, definitions, locations, faults })
    }

    /// Returns the contents of the anchor file.
    pub(crate) const fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Returns the maximum size of the lines of the definitions.
    pub(crate) fn most_text(&self) -> u64 {
        self.definitions.most_text()
    }

    /// Returns the path of the anchor file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the global definitions.
    #[must_use]
    pub const fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns the identifiers of the locations, in ascending order.
    #[must_use]
    pub fn locations(&self) -> &[u64] {
        &self.locations
    }

    /// Returns the locations, with the containers of their lines.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let model = Model::new(self, &mut Vec::new());
        let names = |at: u32| {
            let (it, mut names) = (&model.containers[at as usize], [Vec::new(), Vec::new()]);
            names[0].name(&it.name);
            names[1].alias(it.letter, it.id);
            names
        };
        let parent = |at: &u32| model.containers[*at as usize].parent;
        let place = |id: &u64| {
            let bytes = self.event_file(*id).map_or(0, |file| file.length);
            let around = std::iter::successors(Some(model.location(*id).0), parent);
            Place { location: *id, bytes, around: around.map(names).collect() }
        };
        self.locations.iter().map(place).collect()
    }

    /// Returns the faults of the definitions.
    pub(crate) fn faults(&self) -> &[Error] {
        &self.faults
    }

    /// Returns the markers, which are empty if the archive has no file of markers.
    pub(crate) fn markers(&self) -> Result<Definitions, Error> {
        let path = self.path.with_extension("marker");
        let Some(bytes) = self.read_if_there(&path)? else { return Ok(Definitions::default()) };
        let (markers, all) = Definitions::read(bytes, self.anchor.definition_chunk, &MARKERS);
        all.map_err(|damage| Error::damaged(&path, damage)).map(|()| markers)
    }

    fn of_location(&self, id: u64, extension: &str) -> PathBuf {
        self.path.with_extension("").join(format!("{id}.{extension}"))
    }

    fn read_if_there(&self, path: &Path) -> Result<Option<Vec<u8>>, Error> {
        match (self.opener)(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => read_all(&self.opener, path).map(Some),
        }
    }

    /// Reads the local definitions of a location, up to the first fault.
    pub(crate) fn local(&self, id: u64) -> (Local, Result<(), Error>) {
        let path = self.of_location(id, "def");
        let mut local = Local::default();
        let all = self.read_if_there(&path).and_then(|bytes| {
            let bytes = bytes.unwrap_or_default();
            let all = read_local(&bytes, self.anchor.definition_chunk, &mut local);
            all.map_err(|damage| Error::damaged(&path, damage))
        });
        (local, all)
    }

    /// Opens the file of a location's events.
    pub(crate) fn event_file(&self, id: u64) -> Result<EventFile, Error> {
        let path = self.of_location(id, "evt");
        let opened = (self.opener)(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (length, file) = opened.map_err(|error| Error::io(&path, error))?;
        Ok(EventFile { path, file, length, chunk: self.anchor.event_chunk })
    }

    /// Calls `visit` for each event of a location, in the order of the file.
    ///
    /// # Errors
    /// Fails if a file of the location cannot be read or is damaged.
    pub fn events(&self, location: u64, visit: impl FnMut(Event, &Values)) -> Result<(), Error> {
        let (local, all) = self.local(location);
        all?;
        self.event_file(location)?.each(&local, &mut Vec::new(), &mut Each(visit))
    }
}

struct Each<F>(F);

impl<F: FnMut(Event, &Values)> Visitor for Each<F> {
    fn event(&mut self, _: &Events<'_>, event: Event, values: &Values) {
        self.0(event, values);
    }
}

/// Receives the events of a file.
pub(crate) trait Visitor {
    /// Receives an event, which has just been read.
    fn event(&mut self, events: &Events<'_>, event: Event, values: &Values);

    /// Called at the beginning of each chunk.
    fn begin(&mut self, _: &Events<'_>) {}

    /// Called after the end mark of a chunk.
    fn end(&mut self, _: &Events<'_>) {}

    /// Called if a chunk is damaged. Its events are whole up to this byte of the file.
    fn end_early(&mut self, _: u64) {}
}

/// Number of bytes that are read at once.
const WINDOW: u64 = 1 << 18;

/// The file of a location's events.
pub(crate) struct EventFile {
    path: PathBuf,
    file: File,
    length: u64,
    chunk: u64,
}

impl EventFile {
    /// Adds the file's path to a fault.
    #[inline]
    pub(crate) fn check<T>(&self, found: Found<T>) -> Result<T, Error> {
        found.map_err(|damage| Error::damaged(&self.path, damage))
    }

    /// Calls the functions of `visitor` for all chunks and events. Reuses the memory of `buffer`.
    pub(crate) fn each(
        &self,
        local: &Local,
        buffer: &mut Vec<u8>,
        visitor: &mut impl Visitor,
    ) -> Result<(), Error> {
        let (mut values, mut time) = (Values::default(), 0);
        for number in 0.. {
            let first = number * self.chunk;
            if first >= self.length {
                return self.check(Err(Damage { at: self.length, what: CUT }));
            }
            let last = self.length.min(first + self.chunk);
            self.read(first, HEADER.min(last - first), buffer)?;
            let mut cursor = Cursor::new(buffer, first, Order::Little);
            self.check(header(&mut cursor))?;
            let order = cursor.order();
            let (mut start, mut size, mut begins) = (first + HEADER, WINDOW, true);
            loop {
                let end = last.min(start + size);
                let mut events = self.part(Part { start, end, time, order }, buffer, local)?;
                if std::mem::take(&mut begins) {
                    visitor.begin(&events);
                }
                let mut place = start;
                let found = loop {
                    if !events.usual(&mut values) {
                        match events.unusual(&mut values) {
                            Ok(true) => {}
                            other => break other,
                        }
                    }
                    visitor.event(&events, events.event(), &values);
                    place = events.place();
                };
                time = events.raw_time();
                match (events.end(), found) {
                    (Some(reason), _) => {
                        visitor.end(&events);
                        if reason == End::File {
                            return Ok(());
                        }
                        break;
                    }
                    // The last event of a window is incomplete.
                    _ if end < last => {}
                    (None, found) => {
                        visitor.end_early(place);
                        let damage = found.err().unwrap_or(Damage { at: last, what: CUT });
                        return self.check(Err(damage));
                    }
                }
                size = if place == start { 2 * size } else { WINDOW };
                start = place;
            }
        }
        Ok(())
    }

    /// Reads some records of a chunk into `buffer`, and returns their events.
    pub(crate) fn part<'b>(
        &self,
        part: Part,
        buffer: &'b mut Vec<u8>,
        local: &'b Local,
    ) -> Result<Events<'b>, Error> {
        let Part { start, end, time, order } = part;
        self.read(start, end - start, buffer)?;
        Ok(Events::new(Cursor::new(buffer, start, order), &local.maps, &local.clock, time))
    }

    fn read(&self, start: u64, count: u64, buffer: &mut Vec<u8>) -> Result<(), Error> {
        buffer.clear();
        buffer.reserve(count as usize);
        let mut file = &self.file;
        let read =
            file.seek(SeekFrom::Start(start)).and_then(|_| file.take(count).read_to_end(buffer));
        match read {
            Ok(read) if read as u64 == count => Ok(()),
            Ok(_) => Err(Error::io(&self.path, io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(Error::io(&self.path, error)),
        }
    }
}

/// Some events of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part {
    /// Offset of the first byte in the file.
    pub(crate) start: u64,
    /// Offset of the first byte after them.
    pub(crate) end: u64,
    /// Time before the first event, as it was recorded.
    pub(crate) time: u64,
    pub(crate) order: Order,
}

fn read_all(opener: &Opener, path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = opener(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| Error::io(path, error))?;
    Ok(bytes)
}

/// Opens regular files only: reading a pipe would never end.
///
/// # Errors
/// Fails if the file cannot be opened or is not a regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    File::open(path)
}

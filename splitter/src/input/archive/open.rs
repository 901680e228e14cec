//! An open archive.

use std::io;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use paje_otf2::{Archive, Error, Opener, Place, Trace};
use paje_parser::columns::{Hole, Lines, Wanted};

use crate::blocks::ColumnSegment;
use crate::cause;
use crate::folders::Folders;
use crate::input::Input;
use crate::input::compression::{Compression, Decoder};
use crate::input::pieces::{Next, Piece, PiecesText};
use crate::input::segments::Segments;

/// An archive, whose events are read when they are needed.
#[derive(Debug)]
pub(in crate::input) struct OpenArchive {
    archive: Arc<Archive>,
    trace: OnceLock<Result<Arc<Trace>, Error>>,
    /// Whether damaged files are read up to their faults.
    recovers: AtomicBool,
    /// The locations to read, if not all of them.
    only: OnceLock<Vec<u64>>,
}

impl OpenArchive {
    /// Opens an archive by its anchor file. Its files must be below the folder of that one.
    pub(in crate::input) fn new(path: &Path) -> io::Result<Arc<OpenArchive>> {
        let folders = Folders::of([path]);
        let opener: Opener = Arc::new(move |path| folders.open(&folders.find(path)?));
        let archive = Arc::new(Archive::open_damaged(path, opener)?);
        let (trace, recovers, only) = Default::default();
        Ok(Arc::new(OpenArchive { archive, trace, recovers, only }))
    }

    /// Reads damaged files up to their faults, which are an error at the end of the trace.
    pub(in crate::input) fn recover(&self) {
        self.recovers.store(true, Ordering::Relaxed);
    }

    /// Returns all faults of the archive as messages.
    pub(in crate::input) fn faults(&self) -> Vec<String> {
        let read = Trace::recover(Arc::clone(&self.archive), available());
        read.faults().iter().map(|fault| cause(&fault.clone().into())).collect()
    }

    /// Reads the events with this many threads, unless they have been read.
    pub(in crate::input) fn prepare(&self, threads: usize) -> io::Result<()> {
        self.read(Some(threads)).map(drop)
    }

    /// Returns the segments. Returns `None` if the archive is damaged, or a segment is longer than
    /// `longest`.
    pub(in crate::input) fn segments(&self, longest: usize) -> Option<Segments> {
        let trace = self.read(None).ok()?;
        let (count, mut number) = (trace.pieces(), 0);
        let is_short = (0..count).all(|piece| trace.bytes(piece) <= longest as u64);
        let next = move || {
            if number == count {
                return trace.damage().map_or(Ok(None), |damage| Err(damage.into()));
            }
            let piece = ArchivePiece { trace: Arc::clone(&trace), number };
            number += 1;
            Ok(Some(Arc::new(piece) as Arc<dyn ColumnSegment>))
        };
        is_short.then(|| Segments::new(count, next))
    }

    /// Reads the events, unless they have been read, with this many threads or with all CPUs.
    fn read(&self, threads: Option<usize>) -> io::Result<Arc<Trace>> {
        let read = || {
            let archive = Arc::clone(&self.archive);
            let threads = threads.unwrap_or_else(available);
            if self.recovers.load(Ordering::Relaxed) {
                return Ok(Arc::new(Trace::recover(archive, threads)));
            }
            let only = self.only.get().cloned();
            let locations = only.unwrap_or_else(|| archive.locations().to_vec());
            Trace::of_locations(archive, locations, threads).map(Arc::new)
        };
        match self.trace.get_or_init(read) {
            Ok(trace) => Ok(Arc::clone(trace)),
            Err(error) => Err(error.clone().into()),
        }
    }
}

impl Input {
    /// Returns the locations of an OTF2 archive, or `None` for other inputs.
    #[must_use]
    pub fn places(&self) -> Option<Vec<Place>> {
        self.archive.as_ref().map(|archive| archive.archive.places())
    }

    /// Limits an OTF2 archive to the locations that are in containers with a wanted name or alias.
    /// Their states are those of the whole archive, but other rows and the end of the trace may not
    /// be. Does nothing to other inputs. Call this before reading anything.
    pub fn limit_to(&self, is_wanted: impl Fn(&[u8]) -> bool) {
        let Some(archive) = &self.archive else { return };
        let places = archive.archive.places().into_iter();
        let places = places.filter(|place| place.around.iter().flatten().any(|it| is_wanted(it)));
        // Fails if it is called twice.
        let _ = archive.only.set(places.map(|place| place.location).collect());
    }
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Returns whether an error says that an OTF2 archive is damaged or incomplete.
#[must_use]
pub fn is_damaged_archive(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<paje_otf2::Error>());
    inner.is_some_and(paje_otf2::Error::is_damage)
}

/// Returns a reader of the text.
pub(in crate::input) fn text(archive: &Arc<OpenArchive>) -> Decoder {
    let (archive, mut number) = (Arc::clone(archive), 0);
    let text = PiecesText::new(move || {
        let trace = archive.read(None)?;
        if number == trace.pieces() {
            trace.damage().map_or(Ok(()), Err)?;
            return Ok(Next::Rest(Box::new(io::empty())));
        }
        let piece = ArchivePiece { trace, number };
        number += 1;
        Ok(Next::Piece(Box::new(piece)))
    });
    Decoder::of_pieces(Compression::Otf2, text)
}

/// Some lines of an archive.
struct ArchivePiece {
    trace: Arc<Trace>,
    number: usize,
}

impl Piece for ArchivePiece {
    fn most(&self) -> u64 {
        self.trace.bytes(self.number)
    }

    fn unpack(self: Box<Self>, _: Vec<u8>) -> (Vec<u8>, io::Result<()>) {
        match self.trace.text(self.number) {
            Ok(text) => (text, Ok(())),
            Err(error) => (Vec::new(), Err(error.into())),
        }
    }
}

impl ColumnSegment for ArchivePiece {
    fn text_len(&self) -> usize {
        self.trace.bytes(self.number) as usize
    }

    fn columns(
        &self,
        text: &mut Vec<u8>,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        self.trace.columns(self.number, text, lines, judge)
    }

    fn text(&self) -> io::Result<Vec<u8>> {
        Ok(self.trace.text(self.number)?)
    }

    fn unchecked_text(&self) -> Vec<u8> {
        self.trace.text(self.number).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn archives_are_recognised_without_the_feature() {
        let known = crate::input::compression::OTF2;
        assert_eq!(known, paje_otf2::anchor::MAGIC);
    }
}

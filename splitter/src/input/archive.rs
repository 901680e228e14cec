//! OTF2 archives.

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use paje_otf2::{Archive, Error, Opener, Trace};
use paje_parser::columns::{Hole, Lines, Wanted};

use super::Input;
use super::compression::{Compression, Decoder};
use super::pieces::{Next, Piece, PiecesText};
use crate::blocks::ColumnSegment;
use crate::cause;
use crate::folders::Folders;

impl Input {
    /// Reads the intact part of a damaged OTF2 archive. The damage is an error at the end of the
    /// trace. Does nothing to other inputs.
    pub fn recover(&self) {
        if let Some(archive) = &self.archive {
            archive.recover();
        }
    }

    /// Returns the faults of an OTF2 archive as messages. Reads all of it.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let faults = self.archive.iter().flat_map(|archive| archive.faults());
        faults.map(|fault| cause(&fault.into())).collect()
    }
}

/// Returns the path of the only anchor file of an archive in a folder, or the path itself if it is
/// no folder.
pub(super) fn find(path: &Path) -> io::Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let mut anchors = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "otf2") {
            anchors.push(file);
        }
    }
    match &anchors[..] {
        [] => Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "this is a folder, and has no anchor file of an OTF2 archive (NAME.otf2)",
        )),
        [anchor] => Ok(anchor.clone()),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "this folder has several OTF2 archives; name the anchor file of one (NAME.otf2)",
        )),
    }
}

/// An archive, whose events are read when they are needed.
#[derive(Debug)]
pub(super) struct OpenArchive {
    archive: Arc<Archive>,
    trace: OnceLock<Result<Arc<Trace>, Error>>,
    /// Whether damaged files are read up to their faults.
    recovers: AtomicBool,
}

impl OpenArchive {
    /// Opens an archive by its anchor file. Its files must be below the folder of that one.
    pub(super) fn new(path: &Path) -> io::Result<Arc<OpenArchive>> {
        let folders = Folders::of([path]);
        let opener: Opener = Arc::new(move |path| folders.open(&folders.find(path)?));
        let archive = Arc::new(Archive::open_damaged(path, opener)?);
        let (trace, recovers) = (OnceLock::new(), AtomicBool::new(false));
        Ok(Arc::new(OpenArchive { archive, trace, recovers }))
    }

    /// Reads damaged files up to their faults, which are an error at the end of the trace.
    pub(super) fn recover(&self) {
        self.recovers.store(true, Ordering::Relaxed);
    }

    /// Returns all faults of the archive.
    pub(super) fn faults(&self) -> Vec<Error> {
        Trace::recover(Arc::clone(&self.archive), available()).faults().to_vec()
    }

    /// Reads the events, unless they have been read, with this many threads or with all CPUs.
    pub(super) fn read(&self, threads: Option<usize>) -> io::Result<Arc<Trace>> {
        let read = || {
            let archive = Arc::clone(&self.archive);
            let threads = threads.unwrap_or_else(available);
            if self.recovers.load(Ordering::Relaxed) {
                return Ok(Arc::new(Trace::recover(archive, threads)));
            }
            Trace::new(archive, threads).map(Arc::new)
        };
        match self.trace.get_or_init(read) {
            Ok(trace) => Ok(Arc::clone(trace)),
            Err(error) => Err(error.clone().into()),
        }
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
pub(super) fn text(archive: &Arc<OpenArchive>) -> Decoder {
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
pub(super) struct ArchivePiece {
    pub(super) trace: Arc<Trace>,
    pub(super) number: usize,
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

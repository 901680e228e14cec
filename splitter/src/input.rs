//! Opening a trace, whatever it is kept in.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paje_pack::{Summaries, Window};

use crate::folders::Folders;
use crate::regular;

mod compression;
mod foreign;
mod frames;
mod medium;
mod pieces;
mod segments;

pub use compression::Compression;
use compression::{Decoder, Guess, HEAD, guess};
use foreign::Checked;
use medium::{Counted, Medium, Placed, enlarge_pipe};
use pieces::PiecesText;
pub use pieces::Unpacking;
pub use segments::Segments;

/// A trace, opened.
///
/// Compression is recognised by the first bytes, never by the name. Reading gives the trace's text
/// from one thread; [`Input::into_kind`] tells whether several threads may share a file instead.
#[derive(Debug)]
pub struct Input {
    name: PathBuf,
    kind: Kind,
    size: Option<u64>,
    taken: Arc<AtomicU64>,
    compression: Option<Compression>,
    unpacking: Option<Unpacking>,
    /// The file of a packed trace, if any part of it can be read.
    packed: Option<File>,
    /// The part of it that is to be read, if that is not all.
    window: Option<Window<Placed>>,
    /// Bytes that [`Read`] has given of a [`Kind::File`].
    position: u64,
}

/// Kind of input, by the ways to read a trace from it.
pub enum Kind {
    /// An uncompressed regular file and its length when it was opened; for
    /// [`Plan::new`](crate::Plan::new), or to be read from its beginning.
    File(File, u64),
    /// Anything else (a pipe, a terminal, what a decompressor gives), for
    /// [`Blocks::new`](crate::Blocks::new).
    Stream(Box<dyn Read + Send>),
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::File(file, len) => f.debug_tuple("File").field(file).field(len).finish(),
            Kind::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl Input {
    /// Opens a file, or standard input for none and for `-`.
    ///
    /// Standard input that is a regular file is read from where the program that passed it on had
    /// arrived: as [`Kind::File`] if that is the beginning, else as a stream. Nothing may have been
    /// read with [`io::stdin`], which keeps more than it gives. A [`Kind::File`] leaves the place in
    /// the file as it is.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is known to be something else than a trace: an archive, a picture.
    /// Compressed data that are damaged or end too early are found later, by reading, and so is what is
    /// compressed or comes through a pipe and is no trace.
    pub fn open(path: Option<&Path>) -> io::Result<Input> {
        match path.filter(|path| *path != Path::new("-")) {
            Some(path) => Input::from_file(path.to_owned(), File::open(path)?),
            None => {
                let standard = io::stdin().as_fd().try_clone_to_owned()?;
                Input::from_file("<stdin>".into(), standard.into())
            }
        }
    }

    /// Opens a file that a trace names. It must be a regular file below these folders.
    ///
    /// # Errors
    /// As [`Input::open`], and it may not be named ([`Refusal::of`](crate::Refusal::of)).
    pub fn open_named(path: &Path, folders: &Folders) -> io::Result<Input> {
        let file = folders.open(&folders.find(path)?)?;
        Input::from_file(path.to_owned(), file)
    }

    /// A file from its present place on, under the name `name`.
    fn from_file(name: PathBuf, mut file: File) -> io::Result<Input> {
        let metadata = file.metadata()?;
        let regular = metadata.is_file();
        let place = if regular { file.stream_position()? } else { 0 };
        if metadata.file_type().is_fifo() {
            enlarge_pipe(&file);
        }
        let taken = Arc::new(AtomicU64::new(0));
        let mut medium = Medium { file, taken: Arc::clone(&taken) };

        let (head, compression) = recognise(|more, at| match regular {
            // Reading here leaves the place in the file as it is.
            true => medium.file.read_at(more, place + at as u64),
            false => medium.read(more),
        })?;

        // Files of the system, as in /proc, are regular and have content, but no length.
        let sized = regular && (metadata.len() > 0 || head.is_empty());
        let size = sized.then(|| metadata.len().saturating_sub(place));
        let packed = match (compression, size) {
            (Some(Compression::Packed), Some(_)) if place == 0 => medium.file.try_clone().ok(),
            _ => None,
        };
        let (kind, unpacking) = match (compression, size) {
            (None, Some(size)) if place == 0 => {
                foreign::check(&first_bytes(&medium.file)?, None)?;
                (Kind::File(medium.file, size), None)
            }
            (_, _) if regular => stream(compression, medium)?,
            (_, _) => stream(compression, Cursor::new(head).chain(medium))?,
        };
        let (window, position) = (None, 0);
        Ok(Input { name, kind, size, taken, compression, unpacking, packed, window, position })
    }

    /// Anything that gives bytes, compressed or not, under the name `name`. Its size, if it is known, is
    /// what [`Input::size`] tells.
    ///
    /// # Errors
    /// Its first bytes cannot be read.
    pub fn from_reader(
        name: PathBuf,
        reader: impl Read + Send + 'static,
        size: Option<u64>,
    ) -> io::Result<Input> {
        let taken = Arc::new(AtomicU64::new(0));
        let mut reader = Counted { reader, taken: Arc::clone(&taken) };
        let (head, compression) = recognise(|more, _| reader.read(more))?;
        let (kind, unpacking) = stream(compression, Cursor::new(head).chain(reader))?;
        let packed = None;
        let (window, position) = (None, 0);
        Ok(Input { name, kind, size, taken, compression, unpacking, packed, window, position })
    }

    /// The same input, its text read through what `wrap` makes of it, from one thread.
    #[must_use]
    pub fn through(
        mut self,
        wrap: impl FnOnce(Box<dyn Read + Send>) -> Box<dyn Read + Send>,
    ) -> Input {
        let empty = Kind::Stream(Box::new(io::empty()));
        let inner = Input {
            name: PathBuf::new(),
            kind: std::mem::replace(&mut self.kind, empty),
            size: self.size,
            taken: Arc::clone(&self.taken),
            compression: self.compression,
            unpacking: self.unpacking.clone(),
            packed: None,
            window: None,
            position: self.position,
        };
        self.kind = Kind::Stream(wrap(Box::new(inner)));
        (self.packed, self.window) = (None, None);
        self
    }

    /// Of a packed trace in a file, no more than a window of time takes, both its ends included, in seconds; of any other, all of it. Nothing may have been read.
    ///
    /// The rest is a trace with all containers and definitions. A replay without options that change what events do
    /// finds the rows in it that it would find in the window, and the same end of the trace; other rows are missing. Traces of which there are warnings are left whole.
    #[must_use]
    pub fn within(mut self, from: f64, to: f64) -> Input {
        let Some(file) = self.packed.take() else { return self };
        let medium = |file| Placed { file, place: 0, taken: Arc::clone(&self.taken) };
        let Ok(again) = file.try_clone() else { return self };
        // Whatever is damaged is found, and told, by who reads all of the file.
        let window = Summaries::new(medium(file)).and_then(|kept| kept.window(from, to));
        if let Ok(Some(window)) = window {
            let text = PiecesText::within(window.again(medium(again)));
            let decoder = Decoder::of_pieces(Compression::Packed, text);
            self.unpacking.clone_from(&decoder.unpacking);
            self.kind = Kind::Stream(Box::new(Checked::new(decoder, self.compression)));
            self.window = Some(window);
        }
        self
    }

    /// Name of it in messages: its path, or `<stdin>`.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The number of bytes to take from the medium, if that is known: those of a regular file,
    /// compressed as they are.
    #[must_use]
    pub const fn size(&self) -> Option<u64> {
        self.size
    }

    /// Bytes of the text of a [window](Input::within), as the file tells them; none of any other input.
    #[must_use]
    pub fn window_bytes(&self) -> Option<u64> {
        self.window.as_ref().map(Window::text_bytes)
    }

    /// The whole text of a plain file that has no more than so many bytes; the place in the file remains as it is.
    #[must_use]
    pub fn short_text(&self, most: u64) -> Option<Vec<u8>> {
        let Kind::File(file, len) = &self.kind else { return None };
        let mut text = vec![0; usize::try_from(*len).ok().filter(|_| *len <= most)?];
        file.read_exact_at(&mut text, 0).ok()?;
        Some(text)
    }

    /// The number of bytes that have been taken from the medium, [`Input::size`] at the end. Remains good when
    /// the input has been taken apart; but who reads the file of a [`Kind::File`] counts by himself,
    /// here if he likes.
    #[must_use]
    pub fn read_so_far(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    /// Compression of the trace; `None` if it has none.
    #[must_use]
    pub const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Unpacking in which threads can help that wait for their turn to read compressed data; `None` if there is none.
    #[must_use]
    pub fn unpacking(&self) -> Option<Unpacking> {
        self.unpacking.clone()
    }

    /// Of a packed trace in a file, its segments, or those of [the window](Input::within), if each is of whole lines, and none is longer than `longest` bytes. Nothing may have been read.
    #[must_use]
    pub fn segments(&mut self, longest: usize) -> Option<Segments> {
        if let Some(window) = self.window.take() {
            return Segments::within(window, longest);
        }
        let taken = Arc::clone(&self.taken);
        // Whatever is damaged is found, and told, by who reads the text.
        Segments::new(self.packed.take()?, taken, longest).ok()?
    }

    /// Kind of input that the trace is read from.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Input that the trace is read from.
    #[must_use]
    pub fn into_kind(self) -> Kind {
        self.kind
    }
}

/// The text that a reader gives, decompressed if need be.
fn stream(
    compression: Option<Compression>,
    reader: impl Read + Send + 'static,
) -> io::Result<(Kind, Option<Unpacking>)> {
    let Some(how) = compression else {
        return Ok((Kind::Stream(Box::new(Checked::new(reader, None))), None));
    };
    let mut decoder = Decoder::new(how, reader)?;
    let unpacking = decoder.unpacking.take();
    Ok((Kind::Stream(Box::new(Checked::new(decoder, compression))), unpacking))
}

/// First bytes of a regular file.
fn first_bytes(file: &File) -> io::Result<Vec<u8>> {
    let mut head = vec![0; foreign::HEAD];
    let mut filled = 0;
    loop {
        match file.read_at(&mut head[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    Ok(head)
}

/// The first bytes of an input, which `read` gives (into a buffer, from a place on), and how they say that
/// it is compressed.
fn recognise(
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<(Vec<u8>, Option<Compression>)> {
    let mut head = Vec::with_capacity(HEAD);
    let mut ended = false;
    loop {
        match guess(&head, ended) {
            Guess::Plain => return Ok((head, None)),
            Guess::Compressed(compression) => return Ok((head, Some(compression))),
            Guess::Open => {}
        }
        let mut more = [0; HEAD];
        let more = &mut more[head.len()..];
        match read(more, head.len()) {
            Ok(count) => {
                ended = count == 0;
                head.extend_from_slice(&more[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The text of the trace. A file gives the bytes that it had when it was opened, or the error that
/// it became shorter.
impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::File(file, len) => {
                let left = usize::try_from(*len - self.position).unwrap_or(usize::MAX);
                let room = left.min(buffer.len());
                let count = regular::read_at(file, &mut buffer[..room], self.position)?;
                self.position += count as u64;
                self.taken.fetch_add(count as u64, Ordering::Relaxed);
                Ok(count)
            }
            Kind::Stream(stream) => stream.read(buffer),
        }
    }
}

//! Opens a trace: a file, a pipe or another stream, compressed or not.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::folders::Folders;
use crate::regular;

mod archive;
mod compression;
mod foreign;
mod frames;
mod medium;
#[cfg(feature = "pack")]
mod pack;
#[cfg(not(feature = "pack"))]
#[path = "input/pack/without.rs"]
mod pack;
mod pieces;
mod segments;

use archive::OpenArchive;
pub use archive::is_damaged_archive;
pub use compression::Compression;
use compression::{Decoder, Guess, HEAD, guess};
use foreign::Checked;
use medium::{Counted, Placed, enlarge_pipe};
use pack::PackWindow;
pub use pieces::Unpacking;
pub use segments::Segments;

/// An opened trace.
///
/// The first bytes determine the compression. The name does not matter. Only one thread can read an
/// `Input`, but [`Input::into_kind`] may return a file that several threads can read.
#[derive(Debug)]
pub struct Input {
    name: PathBuf,
    kind: Kind,
    size: Option<u64>,
    taken: Arc<AtomicU64>,
    compression: Option<Compression>,
    unpacking: Option<Unpacking>,
    /// The file of a packed trace, if its format can be read from any offset.
    packed: Option<File>,
    /// An OTF2 archive, which is given as segments or as text.
    archive: Option<Arc<OpenArchive>>,
    /// The part of the packed trace to read, or `None` for the whole trace.
    window: Option<PackWindow>,
    /// Number of bytes read from a [`Kind::File`] through [`Read`].
    position: u64,
}

/// How a trace can be read.
pub enum Kind {
    /// An uncompressed regular file and its length when it was opened, for
    /// [`Plan::new`](crate::Plan::new) or to be read from its beginning.
    File(File, u64),
    /// Anything else, such as a pipe, a terminal or a decompressor, for
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

/// Name of standard input in messages.
const STANDARD: &str = "<stdin>";

impl Input {
    /// Opens a file, or standard input for `None` and for `-`. A folder stands for the only OTF2
    /// archive in it.
    ///
    /// If standard input is a regular file, it is read from its current position. If this is the
    /// beginning of the file, the input is a [`Kind::File`], otherwise a stream. [`io::stdin`] must
    /// not be used before, because it reads ahead into a buffer. Reading a [`Kind::File`] does not
    /// move the position.
    ///
    /// # Errors
    /// The file cannot be opened or read, or is known not to be a trace, such as an archive or a
    /// picture. For compressed data and pipes, only later reads detect this. Damage is also
    /// detected only by later reads.
    pub fn open(path: Option<&Path>) -> io::Result<Input> {
        match path.filter(|path| *path != Path::new("-")) {
            Some(path) => {
                let path = archive::find(path)?;
                let file = File::open(&path)?;
                Input::from_file(path, file)
            }
            None => {
                let standard = io::stdin().as_fd().try_clone_to_owned()?;
                Input::from_file(STANDARD.into(), standard.into())
            }
        }
    }

    /// Opens a file to which a trace refers. The file must be regular and below these folders.
    ///
    /// # Errors
    /// Fails like [`Input::open`], or with a [`Refusal`](crate::Refusal) if the trace may not refer
    /// to the file.
    pub fn open_named(path: &Path, folders: &Folders) -> io::Result<Input> {
        let file = folders.open(&folders.find(path)?)?;
        Input::from_file(path.to_owned(), file)
    }

    fn from_file(name: PathBuf, mut file: File) -> io::Result<Input> {
        let metadata = file.metadata()?;
        let regular = metadata.is_file();
        let place = if regular { file.stream_position()? } else { 0 };
        if metadata.file_type().is_fifo() {
            enlarge_pipe(&file);
        }
        let taken = Arc::new(AtomicU64::new(0));
        let mut medium = Counted { reader: file, taken: Arc::clone(&taken) };

        let (head, compression) = recognise(|more, at| match regular {
            // This read does not move the position in the file.
            true => medium.reader.read_at(more, place + at as u64),
            false => medium.read(more),
        })?;

        // Some files of the system, such as those in /proc, are regular and have content, but their
        // length is zero.
        let sized = regular && (metadata.len() > 0 || head.is_empty());
        let size = sized.then(|| metadata.len().saturating_sub(place));
        let packed = match (compression, size) {
            (Some(Compression::Packed), Some(_)) if place == 0 => medium.reader.try_clone().ok(),
            _ => None,
        };
        let archive = match (compression, size) {
            (Some(Compression::Otf2), Some(_)) if place == 0 && name != Path::new(STANDARD) => {
                Some(OpenArchive::new(&name)?)
            }
            _ => None,
        };
        let (kind, unpacking) = match (&archive, compression, size) {
            (Some(archive), ..) => decoded(archive::text(archive), compression),
            (None, None, Some(size)) if place == 0 => {
                foreign::check(&first_bytes(&medium.reader)?, None)?;
                (Kind::File(medium.reader, size), None)
            }
            _ if regular => stream(compression, medium)?,
            _ => stream(compression, Cursor::new(head).chain(medium))?,
        };
        // The archive has other files.
        let size = size.filter(|_| archive.is_none());
        let input = Input::new(name, (kind, unpacking), size, taken, compression);
        Ok(Input { packed, archive, ..input })
    }

    fn new(
        name: PathBuf,
        (kind, unpacking): (Kind, Option<Unpacking>),
        size: Option<u64>,
        taken: Arc<AtomicU64>,
        compression: Option<Compression>,
    ) -> Input {
        let (packed, archive, window, position) = (None, None, None, 0);
        Input { name, kind, size, taken, compression, unpacking, packed, archive, window, position }
    }

    /// Opens any reader, compressed or not, under the name `name`. [`Input::size`] will return
    /// `size`.
    ///
    /// # Errors
    /// The first bytes of the input cannot be read.
    pub fn from_reader(
        name: PathBuf,
        reader: impl Read + Send + 'static,
        size: Option<u64>,
    ) -> io::Result<Input> {
        let taken = Arc::new(AtomicU64::new(0));
        let mut reader = Counted { reader, taken: Arc::clone(&taken) };
        let (head, compression) = recognise(|more, _| reader.read(more))?;
        let text = stream(compression, Cursor::new(head).chain(reader))?;
        Ok(Input::new(name, text, size, taken, compression))
    }

    /// Passes the text of the input through the reader that `wrap` returns. Afterwards, only one
    /// thread can read the input.
    #[must_use]
    pub fn through(
        mut self,
        wrap: impl FnOnce(Box<dyn Read + Send>) -> Box<dyn Read + Send>,
    ) -> Input {
        let empty = Kind::Stream(Box::new(io::empty()));
        let text = (std::mem::replace(&mut self.kind, empty), self.unpacking.clone());
        let (taken, name) = (Arc::clone(&self.taken), PathBuf::new());
        let inner = Input::new(name, text, self.size, taken, self.compression);
        let inner = Input { position: self.position, ..inner };
        self.kind = Kind::Stream(wrap(Box::new(inner)));
        (self.packed, self.archive, self.window) = (None, None, None);
        self
    }

    /// Limits a packed trace in a file to the parts that a time window needs. The window is in
    /// seconds and includes both ends. Does nothing to other inputs. Call this before reading
    /// anything.
    ///
    /// The remaining trace has all definitions and containers. A replay with options that do not
    /// change the meaning of events gives the same rows in the window, and the same end of the
    /// trace. A trace with warnings is read as a whole.
    #[must_use]
    pub fn within(mut self, from: f64, to: f64) -> Input {
        let Some(file) = self.packed.take() else { return self };
        if let Some((window, text)) = PackWindow::new(file, &self.taken, from, to) {
            (self.kind, self.unpacking) = decoded(text, self.compression);
            self.window = Some(window);
        }
        self
    }

    /// Returns the name for messages: the path, or `<stdin>`.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the number of bytes to read, if known. For compressed data, this is the compressed
    /// size.
    #[must_use]
    pub const fn size(&self) -> Option<u64> {
        self.size
    }

    /// Returns the number of bytes of text of a [window](Input::within), or `None` for other
    /// inputs.
    #[must_use]
    pub fn window_bytes(&self) -> Option<u64> {
        self.window.as_ref().map(PackWindow::text_bytes)
    }

    /// Returns the text of a plain file that has at most `most` bytes. Does not move the position
    /// in the file.
    #[must_use]
    pub fn short_text(&self, most: u64) -> Option<Vec<u8>> {
        let Kind::File(file, len) = &self.kind else { return None };
        let mut text = vec![0; usize::try_from(*len).ok().filter(|_| *len <= most)?];
        file.read_exact_at(&mut text, 0).ok()?;
        Some(text)
    }

    /// Returns the counter of bytes read so far. At the end of the input, the counter equals
    /// [`Input::size`]. It continues to count after [`Input::into_kind`]. For a [`Kind::File`], the
    /// readers must add to the counter themselves.
    #[must_use]
    pub fn read_so_far(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    /// Returns the compression of the trace, or `None` if it has none.
    #[must_use]
    pub const fn compression(&self) -> Option<Compression> {
        self.compression
    }

    /// Returns a handle with which waiting threads can help to decompress, if the format allows it.
    #[must_use]
    pub fn unpacking(&self) -> Option<Unpacking> {
        self.unpacking.clone()
    }

    /// Returns the segments of an archive, of a packed trace in a file, or of its
    /// [window](Input::within), if each segment consists of whole lines and has at most `longest`
    /// bytes of text. Call this before reading anything.
    #[must_use]
    pub fn segments(&mut self, longest: usize) -> Option<Segments> {
        if let Some(window) = self.window.take() {
            return window.segments(longest);
        }
        if let Some(archive) = self.archive.take() {
            return archive.segments(longest);
        }
        pack::segments(self.packed.take()?, &self.taken, longest)
    }

    /// Reads the events of an OTF2 archive with this many threads. Without this call, they are read
    /// when they are needed, with all CPUs. Does nothing to other inputs.
    ///
    /// # Errors
    /// The archive is damaged, or cannot be read.
    pub fn prepare(&self, threads: usize) -> io::Result<()> {
        self.archive.as_ref().map_or(Ok(()), |archive| archive.prepare(threads))
    }

    /// Returns how the trace can be read.
    #[must_use]
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns the file or the stream from which the trace can be read.
    #[must_use]
    pub fn into_kind(self) -> Kind {
        self.kind
    }
}

fn stream(
    compression: Option<Compression>,
    reader: impl Read + Send + 'static,
) -> io::Result<(Kind, Option<Unpacking>)> {
    let Some(how) = compression else {
        return Ok((Kind::Stream(Box::new(Checked::new(reader, None))), None));
    };
    Ok(decoded(Decoder::new(how, reader)?, compression))
}

fn decoded(mut decoder: Decoder, compression: Option<Compression>) -> (Kind, Option<Unpacking>) {
    let unpacking = decoder.unpacking.take();
    (Kind::Stream(Box::new(Checked::new(decoder, compression))), unpacking)
}

fn first_bytes(file: &File) -> io::Result<Vec<u8>> {
    let start = Placed { file: file.try_clone()?, place: 0, taken: Arc::default() };
    let mut head = Vec::with_capacity(foreign::HEAD);
    start.take(foreign::HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the first bytes of an input and the compression that they indicate. `read` fills a
/// buffer from an offset of the input.
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

/// Reads the text of the trace. For a file, returns the bytes that it had when it was opened, or an
/// error if it has become shorter.
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

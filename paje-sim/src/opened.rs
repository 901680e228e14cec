//! An open trace, before its replay.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use paje_decode::input::feed::names_files;
use paje_decode::input::source::Source;
use paje_model::names::options::Options;
use splitter::{Folders, Input};

/// An open trace: a file, standard input or any reader, plain or compressed.
#[derive(Debug)]
pub struct Opened {
    /// The trace's bytes.
    pub input: Input,
    /// Path of the trace, or `None` if it has none.
    file: Option<PathBuf>,
    /// Further files that continue the trace.
    further: Vec<PathBuf>,
    /// Folders that contain the files to which the trace may refer, or `None` if such files are not
    /// read.
    folders: Option<Folders>,
}

impl From<Input> for Opened {
    fn from(input: Input) -> Self {
        Opened { input, file: None, further: Vec::new(), folders: None }
    }
}

impl Opened {
    /// Opens a trace in several files, each of which continues the previous one. Opens standard
    /// input if there are no files, and for `-`.
    ///
    /// # Errors
    /// The first file cannot be opened, or a later one is standard input. Returns the name of the
    /// file for messages, too.
    pub fn open(files: &[impl AsRef<Path>]) -> Result<Self, (PathBuf, io::Error)> {
        let standard = Path::new("-");
        let mut files = files.iter().map(|file| file.as_ref().to_owned());
        let file = files.next().filter(|file| file != standard);
        let further: Vec<_> = files.collect();
        if further.iter().any(|file| file == standard) {
            let why = io::Error::other("only the first of several files can be standard input");
            return Err((standard.to_owned(), why));
        }
        let name = || file.clone().unwrap_or_else(|| "<stdin>".into());
        let input = Input::open(file.as_deref()).map_err(|error| (name(), error))?;
        Ok(Opened { file, further, ..Opened::from(input) })
    }

    /// Opens any reader, compressed or not.
    ///
    /// # Errors
    /// The first bytes cannot be read. Returns the name of the trace, too.
    pub fn reader(reader: impl Read + Send + 'static) -> Result<Self, (PathBuf, io::Error)> {
        let name = PathBuf::from("<reader>");
        let input = Input::from_reader(name.clone(), reader, None);
        input.map(Opened::from).map_err(|error| (name, error))
    }

    /// Also reads the files to which the trace refers, if they are below its folder or below one
    /// of these folders. See [`Source::reading_files`].
    ///
    /// # Errors
    /// A folder does not exist. Returns its name, too.
    pub fn naming_files(mut self, folders: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let first = self.file.as_deref().unwrap_or(Path::new("-"));
        let all = [first].into_iter().chain(self.further.iter().map(PathBuf::as_path));
        self.folders = Some(Folders::of(all).and_all(folders)?);
        Ok(self)
    }

    /// Reads only the necessary segments of a packed trace, if this is enough for a replay with
    /// these options. Such a replay can show the rows in a window, the containers, the types and
    /// the end of the trace.
    #[must_use]
    pub fn within_window(mut self, options: &Options) -> Self {
        if self.further.is_empty() && options.takes_window() {
            let window = options.selection.window;
            self.input = self.input.within(window.from, window.to);
        }
        self
    }

    /// Returns the name of the trace for messages: its path, `<stdin>` or `<reader>`.
    #[must_use]
    pub fn name(&self) -> &Path {
        self.input.name()
    }

    /// Returns whether the trace comes from standard input or another reader.
    #[must_use]
    pub const fn has_no_path(&self) -> bool {
        self.file.is_none()
    }

    /// Returns the number of bytes of text to replay, if it is known before reading. This is the
    /// case for a window, and for a plain file of at most `most` bytes that no other file continues.
    #[must_use]
    pub fn text_bytes(&self, most: u64) -> Option<u64> {
        if !self.further.is_empty() {
            return None;
        }
        self.input.window_bytes().or_else(|| {
            let text = self.input.short_text(most)?;
            (self.folders.is_none() || !names_files(&text)).then_some(text.len() as u64)
        })
    }

    /// Returns the source of a replay. If it is an OTF2 archive, reads its events with this many
    /// threads.
    ///
    /// # Errors
    /// The archive is damaged, or cannot be read.
    pub fn source(self, threads: usize) -> io::Result<Source<'static>> {
        self.input.prepare(threads)?;
        let source = Source::from(self.input).followed_by(self.further);
        Ok(match self.folders {
            Some(folders) => source.reading_files(self.file, folders),
            None => source,
        })
    }
}

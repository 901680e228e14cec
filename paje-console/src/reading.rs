//! Opens and replays a trace.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paje_sim::{Error, Options, Progress, Source, TimeRange, Trace, names_files};
use paje_workers::Workers;
use splitter::{Compression, Folders, Input};

use crate::contents::fact;
use crate::options::{PART, Reading};
use crate::progress::Display;
use crate::{Failure, Voice};

/// An open trace, which is a file or standard input, plain or compressed.
#[derive(Debug)]
pub struct Opened {
    /// The trace's bytes.
    pub input: Input,
    /// Path of the trace, or `None` for standard input.
    file: Option<PathBuf>,
    /// Further files that continue the trace.
    further: Vec<PathBuf>,
    /// Folders that contain the files to which the trace may refer, or `None` if such files are not
    /// read.
    folders: Option<Folders>,
}

impl Opened {
    /// Opens the file at `path`, or standard input without a path or for `-`. If standard input is
    /// a terminal, prints a warning, because the user has probably forgotten an argument.
    pub fn open(path: Option<&Path>, voice: Voice) -> Result<Self, Failure> {
        let file = path.filter(|path| *path != Path::new("-")).map(Path::to_owned);
        let name = file.as_deref().unwrap_or(Path::new("<stdin>"));
        let input = Input::open(path).map_err(|error| Failure::File(name.to_owned(), error))?;
        if file.is_none() && io::stdin().is_terminal() {
            voice.say(format_args!("reading the trace from the terminal; see --help"));
        }
        Ok(Opened { input, file, further: Vec::new(), folders: None })
    }

    /// Opens a trace in several files, each of which continues the previous file. Allows the files
    /// to which they refer. Without files, opens standard input.
    pub fn all(files: &[PathBuf], reading: &Reading, voice: Voice) -> Result<Self, Failure> {
        let opened = Opened::open(files.first().map(PathBuf::as_path), voice)?;
        opened.with_files(files.get(1..).unwrap_or_default(), reading)
    }

    /// Adds files that continue the trace, and allows the files to which they refer. With
    /// `--recover`, a damaged archive is read as far as possible.
    ///
    /// # Errors
    /// A folder of `reading` does not exist, or one of the added files is standard input.
    pub fn with_files(mut self, further: &[PathBuf], reading: &Reading) -> Result<Self, Failure> {
        if further.iter().any(|file| file == Path::new("-")) {
            let why = "-: only the first of several files can be standard input";
            return Err(Failure::Other(why.into()));
        }
        let first = self.file.as_deref().unwrap_or(Path::new("-"));
        let all = [first].into_iter().chain(further.iter().map(PathBuf::as_path));
        self.folders = reading.named.folders(all)?;
        self.further = further.to_vec();
        if reading.recover {
            self.input.recover();
        }
        Ok(self)
    }

    /// Reads only the necessary segments of a packed trace, if this is enough for a replay with
    /// these options. Such a replay can show the rows in a window, the containers, the types and
    /// the end of the trace.
    #[must_use]
    pub fn within_window(mut self, options: &Options) -> Self {
        if self.further.is_empty() && options.takes_window() {
            let TimeRange { from, to } = options.selection.window;
            self.input = self.input.within(from, to);
        }
        self
    }

    /// If the input is a packed trace, returns a counter of the bytes that are read from it.
    #[must_use]
    pub fn packed(&self) -> Option<PackedBytes> {
        let is_packed = self.input.compression() == Some(Compression::Packed);
        let size = self.input.size().filter(|_| is_packed)?;
        Some(PackedBytes { size, taken: self.input.read_so_far() })
    }

    /// Returns the number of bytes of text to replay, if it is known before reading. This is the
    /// case for a window, and for a short plain file that no other file continues.
    #[must_use]
    pub fn text_bytes(&self) -> Option<u64> {
        if !self.further.is_empty() {
            return None;
        }
        self.input.window_bytes().or_else(|| {
            let text = self.input.short_text(PART)?;
            (self.folders.is_none() || !names_files(&text)).then_some(text.len() as u64)
        })
    }

    /// Returns the name of the trace for messages: its path or `<stdin>`.
    #[must_use]
    pub fn name(&self) -> &Path {
        self.input.name()
    }

    /// Replays the trace with these options. Shows progress on `display`.
    pub fn replay(
        self,
        options: &Options,
        workers: &Workers,
        display: Display,
    ) -> Result<Trace, Failure> {
        let progress = Arc::new(Progress::default());
        let shown = display.replay(&self.input, &progress, None);
        let trace =
            self.read(workers, |source| Trace::read_with(source, options, workers, &progress));
        drop(shown);
        trace
    }

    /// Calls `read` with the trace. If it is an OTF2 archive, reads its events before.
    pub fn read<T>(
        self,
        workers: &Workers,
        read: impl FnOnce(Source<'_>) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let name = self.name().to_owned();
        let prepared = self.input.prepare(workers.threads());
        prepared.map_err(|error| Failure::File(name.clone(), error))?;
        let mut source = Source::from(self.input).followed_by(self.further);
        if let Some(folders) = self.folders {
            source = source.reading_files(self.file, folders);
        }
        read(source).map_err(|error| Failure::Trace(name, error))
    }
}

/// Counter of the bytes that are read from a packed trace.
#[derive(Clone, Debug)]
pub struct PackedBytes {
    /// Size of the file.
    pub size: u64,
    taken: Arc<AtomicU64>,
}

impl PackedBytes {
    /// Returns the number of bytes that have been read.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// Formats a line of a table that shows how much of a packed trace was read.
#[must_use]
pub fn read_of(read: u64, size: u64) -> String {
    fact("read", format_args!("{read} of {size} bytes"))
}

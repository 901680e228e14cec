//! From the name of a trace to its replay.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paje_sim::{Error, Options, Progress, Source, TimeRange, Trace, names_files};
use paje_workers::Workers;
use splitter::{Compression, Folders, Input};

use crate::contents::fact;
use crate::options::{NamedFiles, PART};
use crate::progress::Display;
use crate::{Failure, Voice};

/// A trace that is open and has not been read: a file, or standard input; plain or compressed.
#[derive(Debug)]
pub struct Opened {
    /// The bytes.
    pub input: Input,
    /// Path of the trace, unless it is standard input.
    file: Option<PathBuf>,
    /// Files that go on where it ends.
    further: Vec<PathBuf>,
    /// Folders of the files that it names, if they are read.
    folders: Option<Folders>,
}

impl Opened {
    /// Opens the file at `path`; standard input if there is none, or if it is `-`. If that is a
    /// terminal, a message says so: more often an argument was forgotten.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: Option<&Path>, voice: Voice) -> Result<Self, Failure> {
        let file = path.filter(|path| *path != Path::new("-")).map(Path::to_owned);
        let name = file.as_deref().unwrap_or(Path::new("<stdin>"));
        let input = Input::open(path).map_err(|error| Failure::File(name.to_owned(), error))?;
        if file.is_none() && io::stdin().is_terminal() {
            voice.say(format_args!("reading the trace from the terminal; --help tells more"));
        }
        Ok(Opened { input, file, further: Vec::new(), folders: None })
    }

    /// Opens a trace in several files, each of which goes on where the one before it ends, with the files that they name; standard input if
    /// there is none.
    ///
    /// # Errors
    /// Those of [`open`](Self::open) and of [`with_files`](Self::with_files).
    pub fn all(files: &[PathBuf], named: &NamedFiles, voice: Voice) -> Result<Self, Failure> {
        let opened = Opened::open(files.first().map(PathBuf::as_path), voice)?;
        opened.with_files(files.get(1..).unwrap_or_default(), named)
    }

    /// The same with further files, which go on where it ends, and with the files that all these name.
    ///
    /// # Errors
    /// There is no such folder as the options name, or standard input is a further file.
    pub fn with_files(mut self, further: &[PathBuf], named: &NamedFiles) -> Result<Self, Failure> {
        if further.iter().any(|file| file == Path::new("-")) {
            let why = "-: standard input can only be the first file of a trace in several";
            return Err(Failure::Other(why.into()));
        }
        let first = self.file.as_deref().unwrap_or(Path::new("-"));
        let all = [first].into_iter().chain(further.iter().map(PathBuf::as_path));
        self.folders = named.folders(all)?;
        self.further = further.to_vec();
        Ok(self)
    }

    /// The same trace for a replay with these options that needs only the rows in their window of time, containers, types,
    /// and the end of the trace. Of a packed trace, only the parts that this takes are read.
    #[must_use]
    pub fn within_window(mut self, options: &Options) -> Self {
        if self.further.is_empty() && takes_window(options) {
            let TimeRange { from, to } = options.selection.window;
            self.input = self.input.within(from, to);
        }
        self
    }

    /// The bytes of a packed trace in a file, which are counted while it is read.
    #[must_use]
    pub fn packed(&self) -> Option<PackedBytes> {
        let is_packed = self.input.compression() == Some(Compression::Packed);
        let size = self.input.size().filter(|_| is_packed)?;
        Some(PackedBytes { size, taken: self.input.read_so_far() })
    }

    /// Bytes of the text that is to be replayed, if that is known before it is read: of a window, and of a short trace in a plain file that is all
    /// of it.
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

    /// Name in messages: its path, or `<stdin>`.
    #[must_use]
    pub fn name(&self) -> &Path {
        self.input.name()
    }

    /// The trace, replayed with these options, while `display` shows how far that is.
    ///
    /// # Errors
    /// The trace is invalid or damaged, or cannot be read.
    pub fn replay(
        self,
        options: &Options,
        workers: &Workers,
        display: Display,
    ) -> Result<Trace, Failure> {
        let progress = Arc::new(Progress::default());
        let shown = display.replay(&self.input, &progress, None);
        let trace = self.read(|source| Trace::read_with(source, options, workers, &progress));
        drop(shown);
        trace
    }

    /// Result of `read` on the trace.
    ///
    /// # Errors
    /// The trace is invalid or damaged, or cannot be read.
    pub fn read<T>(self, read: impl FnOnce(Source<'_>) -> Result<T, Error>) -> Result<T, Failure> {
        let name = self.name().to_owned();
        let mut source = Source::from(self.input).followed_by(self.further);
        if let Some(folders) = self.folders {
            source = source.reading_files(self.file, folders);
        }
        read(source).map_err(|error| Failure::Trace(name, error))
    }
}

/// Bytes of a packed trace in a file.
#[derive(Clone, Debug)]
pub struct PackedBytes {
    /// All of them.
    pub size: u64,
    taken: Arc<AtomicU64>,
}

impl PackedBytes {
    /// The number of those that have been read.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// A line of a table of facts: how many bytes of a packed trace were read.
#[must_use]
pub fn read_of(read: u64, size: u64) -> String {
    fact("read", format_args!("{read} of {size} bytes"))
}

/// Returns whether these options ask for a window of time, and leave its rows as they are in the trace.
#[must_use]
pub fn takes_window(options: &Options) -> bool {
    let TimeRange { from, to } = options.selection.window;
    from <= to && !options.selection.window.is_always() && leaves_rows_alone(options)
}

/// Rows of a trace without a warning are those that it has by default, and lines have no numbers and no new limits.
fn leaves_rows_alone(options: &Options) -> bool {
    let usual = Options::default();
    let changes = options.no_imbrication || options.sort || options.recover;
    let keeps_more = options.keep_times || options.keep_lines || options.usage;
    options.field_names == usual.field_names
        && options.stop_at.is_none()
        && !changes
        && !keeps_more
        && options.limits.line >= usual.limits.line
}

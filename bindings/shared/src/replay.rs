//! Replay of a trace.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use paje_sim::{Error, Natures, Options, Portion, Progress, Source, Trace, TypeNature};
use paje_workers::Workers;
use splitter::{Folders, Input};

use crate::{Keywords, Wrong};

/// Inputs of a replay.
#[derive(Debug)]
pub struct Replay {
    /// Path of the trace, if it is a file.
    path: Option<PathBuf>,
    further: Vec<PathBuf>,
    options: Options,
    /// Folders below which the trace may name files, or `None` to ignore such files.
    folders: Option<Folders>,
    workers: Workers,
    status: Arc<ReplayStatus>,
    reads_window: bool,
    /// Whether only some locations of an OTF2 archive are read.
    limits_locations: bool,
}

/// Progress of a replay, shared by threads.
#[derive(Debug, Default)]
pub struct ReplayStatus {
    progress: Progress,
    /// Number of bytes read from a compressed file, and size of the file.
    taken: OnceLock<(Option<Arc<AtomicU64>>, Option<u64>)>,
}

impl ReplayStatus {
    /// Returns the number of bytes read and the size of the trace.
    #[must_use]
    pub fn bytes(&self) -> (u64, Option<u64>) {
        let (taken, size) =
            self.taken.get().map_or((None, None), |(taken, size)| (taken.as_ref(), *size));
        let named = self.progress.named_files();
        match (taken, size) {
            (Some(taken), Some(size)) => {
                (taken.load(Ordering::Relaxed) + named.0, Some(size + named.1))
            }
            // Without compression, the decoded bytes are the bytes read.
            (_, Some(size)) => {
                let total = size + named.1;
                (self.progress.bytes().min(total), Some(total))
            }
            (_, None) => (self.progress.bytes(), None),
        }
    }

    /// Asks the replay to stop.
    pub fn stop(&self) {
        self.progress.stop();
    }
}

impl Replay {
    /// Creates a replay of a trace that is not a file.
    ///
    /// # Errors
    /// A keyword has an invalid value.
    pub fn new(keywords: &Keywords, status: Arc<ReplayStatus>) -> Result<Self, Wrong> {
        Ok(Replay {
            path: None,
            further: Vec::new(),
            options: keywords.replay()?,
            folders: keywords.follow_files.then(|| Folders::of([])),
            workers: keywords.workers()?,
            status,
            reads_window: false,
            limits_locations: false,
        })
    }

    /// Sets the path of the trace and the paths of its other files.
    ///
    /// # Errors
    /// A folder of `files_from` cannot be found. The error has the folder's name and the reason.
    pub fn of_files(
        mut self,
        path: Option<PathBuf>,
        further: Vec<PathBuf>,
        keywords: &Keywords,
    ) -> Result<Self, (PathBuf, io::Error)> {
        if self.folders.is_some() {
            let traces = path.iter().chain(&further).map(PathBuf::as_path);
            self.folders = Some(Folders::of(traces).and_all(&keywords.files_from)?);
        }
        (self.path, self.further) = (path, further);
        Ok(self)
    }

    /// Reads only the part of a packed trace that the keywords `start` and `end` need. Returns
    /// whether the other keywords allow it.
    pub fn within_window(&mut self) -> bool {
        self.reads_window =
            self.path.is_some() && self.further.is_empty() && self.options.takes_window();
        self.reads_window
    }

    /// Reads only the locations of an OTF2 archive that the keyword `containers` selects, if the
    /// keyword `natures` selects only states, and the other keywords allow it. Then the trace may
    /// end earlier than the archive.
    pub fn within_containers(&mut self) {
        let Options { selection, user_defined, keep_lines, recover, .. } = &self.options;
        self.limits_locations = selection.natures == Natures::from_iter([TypeNature::State])
            && !selection.containers.is_empty()
            && !(*user_defined || *keep_lines || *recover);
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// Returns the memory limit in bytes.
    #[must_use]
    pub fn memory_limit(&self) -> Option<u64> {
        self.options.memory.as_ref().map(|limit| limit.bytes)
    }

    /// Replays the trace that `open` opens. Returns the trace and the workers.
    ///
    /// # Errors
    /// The trace is invalid or cannot be read.
    pub fn run(self, open: impl FnOnce() -> io::Result<Input>) -> Result<(Trace, Workers), Error> {
        self.run_with(open, Trace::read_with)
    }

    /// Replays the trace that `open` opens, as [`Trace::read_in_portions`] does. Returns the trace
    /// and the workers.
    ///
    /// # Errors
    /// The trace is invalid or cannot be read.
    pub fn run_in_portions(
        self,
        open: impl FnOnce() -> io::Result<Input>,
        bytes: u64,
        see: &mut (dyn FnMut(&Portion<'_>) -> ControlFlow<()> + Send),
    ) -> Result<(Trace, Workers), Error> {
        let read =
            |source: Source<'_>, options: &Options, workers: &Workers, progress: &Progress| {
                Trace::read_in_portions(source, options, workers, progress, bytes, see)
            };
        self.run_with(open, read)
    }

    fn run_with(
        self,
        open: impl FnOnce() -> io::Result<Input>,
        read: impl FnOnce(Source<'_>, &Options, &Workers, &Progress) -> Result<Trace, Error>,
    ) -> Result<(Trace, Workers), Error> {
        let Replay { path, further, options, folders, workers, status, .. } = self;
        let mut input = open()?;
        if self.reads_window {
            let window = options.selection.window;
            input = input.within(window.from, window.to);
        }
        if self.limits_locations {
            // A pattern for the root selects all containers.
            let matches =
                |name: &[u8]| options.selection.containers.iter().any(|it| it.matches(name));
            input.limit_to(|name| matches(name) || matches(b"0"));
        }
        let taken = input.compression().map(|_| input.read_so_far());
        let _ = status.taken.set((taken, input.size()));
        let mut source = Source::from(input).followed_by(further);
        if let Some(folders) = folders {
            source = source.reading_files(path, folders);
        }
        let trace = read(source, &options, &workers, &status.progress)?;
        Ok((trace, workers))
    }
}

/// Returns a path to the file, even if it is called `-`.
#[must_use]
pub fn as_file(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("./-") } else { path }
}

/// Returns the metadata of tables, with the keys of `pj_dump -O`.
#[must_use]
pub fn metadata(name: &Path, trace: &Trace) -> BTreeMap<String, String> {
    let facts = [
        ("paje.writer", concat!("pajereplay ", env!("CARGO_PKG_VERSION")).to_owned()),
        ("paje.trace", name.display().to_string()),
        ("paje.end", trace.end().to_string()),
        ("paje.bytes", trace.bytes().to_string()),
        ("paje.lines", trace.lines().to_string()),
        ("paje.comments", String::from_utf8_lossy(trace.comments()).into_owned()),
    ];
    facts.into_iter().map(|(key, fact)| (key.to_owned(), fact)).collect()
}

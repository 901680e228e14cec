//! Replay of a trace.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use paje_sim::{Error, Options, Progress, Source, Trace};
use paje_workers::Workers;
use splitter::{Folders, Input};

use crate::{Keywords, Wrong};

/// Inputs of a replay, in the thread that it has.
#[derive(Debug)]
pub struct Replay {
    /// Path of the trace in the file system, if it has one.
    path: Option<PathBuf>,
    /// The files that follow it, and are one trace with it.
    further: Vec<PathBuf>,
    options: Options,
    /// Folders in which the files may lie that the trace names, if they are read.
    folders: Option<Folders>,
    workers: Workers,
    told: Arc<Told>,
}

/// Progress of a replay.
#[derive(Debug, Default)]
pub struct Told {
    progress: Progress,
    /// Bytes taken of a compressed file, and how many it has; the latter is also known of others.
    taken: OnceLock<(Option<Arc<AtomicU64>>, Option<u64>)>,
}

impl Told {
    /// Bytes read so far, and how many there are.
    #[must_use]
    pub fn bytes(&self) -> (u64, Option<u64>) {
        let (taken, size) =
            self.taken.get().map_or((None, None), |(taken, size)| (taken.as_ref(), *size));
        let named = self.progress.named_files();
        match (taken, size) {
            (Some(taken), Some(size)) => {
                (taken.load(Ordering::Relaxed) + named.0, Some(size + named.1))
            }
            // Bytes decoded are bytes read, in named files too as long as they are not compressed.
            (_, Some(size)) => {
                let total = size + named.1;
                (self.progress.bytes().min(total), Some(total))
            }
            (_, None) => (self.progress.bytes(), None),
        }
    }

    /// Ends the replay, as soon as it looks.
    pub fn stop(&self) {
        self.progress.stop();
    }
}

impl Replay {
    /// A replay as these keywords ask for it, of a trace that is no file.
    ///
    /// # Errors
    /// A keyword has a value that it cannot have.
    pub fn new(keywords: &Keywords, told: Arc<Told>) -> Result<Self, Wrong> {
        Ok(Replay {
            path: None,
            further: Vec::new(),
            options: keywords.replay()?,
            folders: keywords.follow_files.then(|| Folders::of([])),
            workers: keywords.workers()?,
            told,
        })
    }

    /// The same of the trace at `path`, if it has one, with the files that follow it.
    ///
    /// # Errors
    /// A folder of `files_from` cannot be found: its name, and why.
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

    /// Number of threads that work.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// The trace that `open` opens, and the workers.
    ///
    /// # Errors
    /// The first problem of the trace, or why it cannot be read.
    pub fn run(self, open: impl FnOnce() -> io::Result<Input>) -> Result<(Trace, Workers), Error> {
        let Replay { path, further, options, folders, workers, told } = self;
        let input = open()?;
        let taken = input.compression().map(|_| input.read_so_far());
        let _ = told.taken.set((taken, input.size()));
        let mut source = Source::from(input).followed_by(further);
        if let Some(folders) = folders {
            source = source.reading_files(path, folders);
        }
        let trace = Trace::read_with(source, &options, &workers, &told.progress)?;
        Ok((trace, workers))
    }
}

/// A file of that name, and not standard input.
#[must_use]
pub fn as_file(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("./-") } else { path }
}

/// Metadata of each table: who made it, and of which trace. The keys are those of `pj_dump -O`.
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

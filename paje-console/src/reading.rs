//! Opens and replays a trace.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paje_sim::{Error, Opened, Options, Progress, Source, Trace};
use paje_workers::Workers;
use splitter::{Compression, Input};

use crate::contents::fact;
use crate::options::Reading;
use crate::progress::Display;
use crate::{Failure, Voice};

/// Opens a trace in several files, each of which continues the previous one. Opens standard input
/// if there are no files, and for `-`. If standard input is a terminal, prints a warning, because
/// the user has probably forgotten an argument.
///
/// Allows the files to which the trace refers. With `--recover`, a damaged archive is read as far
/// as possible. Without `reading`, such files are not read.
///
/// # Errors
/// The first file cannot be opened, a later one is standard input, or a folder of `reading` does
/// not exist.
pub fn open(
    files: &[impl AsRef<Path>],
    reading: Option<&Reading>,
    voice: Voice,
) -> Result<Opened, Failure> {
    let mut opened = Opened::open(files)?;
    if opened.has_no_path() && io::stdin().is_terminal() {
        voice.say(format_args!("reading the trace from the terminal; see --help"));
    }
    if let Some(named) = reading.map(|reading| &reading.named).filter(|named| !named.no_files) {
        opened = opened.naming_files(&named.files_from)?;
    }
    if reading.is_some_and(|reading| reading.recover) {
        opened.input.recover();
    }
    Ok(opened)
}

/// Replays a trace with these options. Shows progress on `display`.
pub fn replay(
    opened: Opened,
    options: &Options,
    workers: &Workers,
    display: Display,
) -> Result<Trace, Failure> {
    let progress = Arc::new(Progress::default());
    let shown = display.replay(&opened.input, &progress, None);
    let trace = read(opened, workers, |it| Trace::read_with(it, options, workers, &progress));
    drop(shown);
    trace
}

/// Calls `read` with a trace. If it is an OTF2 archive, reads its events before.
pub fn read<T>(
    opened: Opened,
    workers: &Workers,
    read: impl FnOnce(Source<'_>) -> Result<T, Error>,
) -> Result<T, Failure> {
    let name = opened.name().to_owned();
    let source = opened.source(workers.threads());
    let source = source.map_err(|error| Failure::File(name.clone(), error))?;
    read(source).map_err(|error| Failure::Trace(name, error))
}

/// Counter of the bytes that are read from a packed trace.
#[derive(Clone, Debug)]
pub struct PackedBytes {
    /// Size of the file.
    pub size: u64,
    taken: Arc<AtomicU64>,
}

impl PackedBytes {
    /// Returns the counter of a packed trace, or `None` for other inputs.
    #[must_use]
    pub fn of(input: &Input) -> Option<Self> {
        let is_packed = input.compression() == Some(Compression::Packed);
        let size = input.size().filter(|_| is_packed)?;
        Some(PackedBytes { size, taken: input.read_so_far() })
    }

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

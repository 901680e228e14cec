//! From a file's name to a replayed trace.

use std::path::Path;

use splitter::{Folders, Input};
use workers::{Pin, Workers};

use crate::input::source::Source;
use crate::names::error::Error;
use crate::names::options::Options;
use crate::names::progress::Progress;
use crate::trace::Trace;

impl Trace {
    /// Replays the trace in a file, plain or compressed (gzip, zstd, xz, bzip2), by all threads that the process
    /// may use. Files that it names are part of it, if they lie below its folder: see
    /// [`Source::reading_files`]. `-` is standard input, as for the programs.
    ///
    /// The result does not depend on the number of threads: if the system starts no others, the thread that
    /// calls does all.
    ///
    /// ```no_run
    /// let trace = paje_sim::Trace::open("run.trace.gz")?;
    /// println!("{} states until {} s", trace.counts().states, trace.end());
    /// # Ok::<(), paje_sim::Error>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be opened or read; or the first problem of the trace in file order. Such an error
    /// displays the file's name and, if it is in one line, the line and column before what is wrong.
    pub fn open(path: impl AsRef<Path>) -> Result<Trace, Error> {
        let workers = Workers::new(None, &Pin::None).unwrap_or_else(|_| Workers::one());
        Trace::open_with(path, &Options::default(), &workers)
    }

    /// The same, replayed as these options say, by these workers.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open_with(
        path: impl AsRef<Path>,
        options: &Options,
        workers: &Workers,
    ) -> Result<Trace, Error> {
        let path = path.as_ref();
        let input = Input::open(Some(path)).map_err(|error| Error::from(error).of_trace(path))?;
        let name = input.name().to_owned();
        let file = (path != Path::new("-")).then(|| path.to_owned());
        let source = Source::from(input).reading_files(file, Folders::of([path]));
        let read = Trace::read_with(source, options, workers, &Progress::default());
        read.map_err(|error| error.of_trace(&name))
    }
}

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use paje_workers::{Pin, Workers};

use crate::engine::ledger::Ledger;
use crate::engine::portions::Portions;
use crate::engine::replay;
use crate::opened::Opened;
use crate::trace::Trace;
use crate::trace::portion::Portion;
use paje_decode::input::source::Source;
use paje_model::names::error::Error;
use paje_model::names::options::Options;
use paje_model::names::progress::Progress;

impl Trace {
    /// Replays a trace from a reader.
    ///
    /// # Errors
    /// The first problem of the trace in file order (or sorted order, see [`Options::sort`]) with its position, or a
    /// failed read.
    #[doc(hidden)]
    pub fn read(input: impl Read + Send, options: &Options) -> Result<Trace, Error> {
        let (source, workers) = (Source::stream(input), Workers::one());
        Trace::read_with(source, options, &workers, &Progress::default())
    }

    /// Replays the trace of `source` with these workers, and updates `progress`. The result does not depend
    /// on the number of workers.
    ///
    /// # Errors
    /// Fails like [`Trace::read`].
    #[doc(hidden)]
    pub fn read_with(
        source: Source<'_>,
        options: &Options,
        workers: &Workers,
        progress: &Progress,
    ) -> Result<Trace, Error> {
        replay(source, options, workers, progress, None, None)
    }

    /// Replays a trace without keeping it. After each `bytes` bytes of the trace, `show` receives the rows that these
    /// bytes completed. The rows are then dropped. Memory use depends on the number of open objects, containers, types
    /// and values, and on `bytes`, but not on the length of the trace.
    ///
    /// A state is complete when it ends. The value of a variable is complete when the next value begins, and a link
    /// when it has both ends. The end of a container completes all its objects. Portions do not depend on the workers
    /// or the size of blocks. Reused keys of completed links are not detected. The returned trace has only the rows of
    /// the last portion.
    ///
    /// # Errors
    /// Fails like [`Trace::read`], after the portions before the problem have been shown. If `show` breaks, the error
    /// is [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
    #[doc(hidden)]
    pub fn read_in_portions<'o>(
        source: Source<'_>,
        options: &'o Options,
        workers: &'o Workers,
        progress: &'o Progress,
        bytes: u64,
        show: &'o mut (dyn FnMut(&Portion<'_>) -> ControlFlow<()> + Send),
    ) -> Result<Trace, Error> {
        let portions = Portions::new(bytes, show);
        replay(source, options, workers, progress, Some(portions), None)
    }

    /// Replays a trace like [`Trace::read_in_portions`], and passes the owner of each line to `ledger`. The returned
    /// trace has no rows, unless [`Options::recover`] is set.
    ///
    /// # Errors
    /// Fails like [`Trace::read`]. The ledger has then received all blocks before the problem, and perhaps some later
    /// blocks. If the ledger breaks, the error is [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
    #[doc(hidden)]
    pub fn read_into_ledger(
        source: Source<'_>,
        options: &Options,
        workers: &Workers,
        progress: &Progress,
        bytes: u64,
        ledger: &dyn Ledger,
    ) -> Result<Trace, Error> {
        let mut show = |_: &Portion<'_>| ControlFlow::Continue(());
        // Recovery needs all rows at the end of a trace.
        let portions = (!options.recover).then(|| Portions::new(bytes, &mut show));
        replay(source, options, workers, progress, portions, Some(ledger))
    }

    /// Replays the trace in a file, plain or compressed (gzip, zstd, xz, bzip2), with all threads that the process may
    /// use. Also reads the files below its folder to which the trace refers. The path `-` means standard input.
    ///
    /// If no threads can be started, the calling thread does all the work.
    ///
    /// ```no_run
    /// let trace = paje_sim::Trace::open("run.trace.gz")?;
    /// println!("{} states until {} s", trace.counts().states, trace.end());
    /// # Ok::<(), paje_sim::Error>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be opened or read, or the trace has a problem. The first problem in file order is returned. The
    /// message begins with the file's name and, if it concerns a line, the line and column.
    #[doc(hidden)]
    pub fn open(path: impl AsRef<Path>) -> Result<Trace, Error> {
        let workers = Workers::new(None, &Pin::None).unwrap_or_else(|_| Workers::one());
        Trace::open_with(path, &Options::default(), &workers)
    }

    /// Replays the trace in a file with these options and workers.
    ///
    /// # Errors
    /// Fails like [`Trace::open`].
    #[doc(hidden)]
    pub fn open_with(
        path: impl AsRef<Path>,
        options: &Options,
        workers: &Workers,
    ) -> Result<Trace, Error> {
        let opened = Opened::open(&[path]).and_then(|opened| opened.naming_files(&[]));
        let opened = opened.map_err(Error::of_file)?;
        let name = opened.name().to_owned();
        let source = opened.source(workers.threads()).map_err(Error::from);
        let read = |source| Trace::read_with(source, options, workers, &Progress::default());
        source.and_then(read).map_err(|error| error.of_trace(&name))
    }
}

//! From a file's name, or anything that gives bytes, to a replayed trace.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use paje_workers::{Pin, Workers};
use splitter::{Folders, Input};

use crate::engine::ledger::Ledger;
use crate::engine::portions::Portions;
use crate::engine::replay;
use crate::input::source::Source;
use crate::names::error::Error;
use crate::names::options::Options;
use crate::names::progress::Progress;
use crate::trace::Trace;
use crate::trace::portion::Portion;

impl Trace {
    /// Replays the trace that `input` gives.
    ///
    /// # Errors
    /// The first problem of the trace in file order, with its place; or a failed read. In what order
    /// the lines of a trace are that is to be sorted is said at [`Options::sort`].
    pub fn read(input: impl Read + Send, options: &Options) -> Result<Trace, Error> {
        let (source, workers) = (Source::stream(input), Workers::one());
        Trace::read_with(source, options, &workers, &Progress::default())
    }

    /// Replays the trace that `source` gives, with these workers; tells `progress` how far it is. The
    /// result is the same for any number of workers.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn read_with(
        source: Source<'_>,
        options: &Options,
        workers: &Workers,
        progress: &Progress,
    ) -> Result<Trace, Error> {
        replay(source, options, workers, progress, None, None)
    }

    /// Replays a trace without keeping it: `show` sees what was completed by the events of each `bytes`
    /// bytes of the trace, which are then forgotten. Memory depends on what is open at a time, on the
    /// containers, types and values, and on `bytes`, but not on the length of the trace.
    ///
    /// A state is complete when it ends, a value of a variable when the next one comes, a link when it
    /// has both ends, and everything when its container ends; what a portion shows does not depend on the
    /// workers or the size of blocks. That the key of a completed link is used again goes unnoticed. The
    /// trace that is returned has the objects of the last portion only.
    ///
    /// # Errors
    /// As [`Trace::read`]; by then, the portions before the problem's have been shown. If `show` breaks,
    /// the error is [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
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

    /// Replays a trace without keeping it, as [`Trace::read_in_portions`] does with this number of bytes,
    /// and tells `ledger` whose each of its lines is. Of the objects, nothing is left at the end; but with
    /// [`Options::recover`] all are kept.
    ///
    /// # Errors
    /// As [`Trace::read`]; the ledger has been told of blocks before the problem's by then, and perhaps of
    /// some behind it. If the ledger breaks, the error is
    /// [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
    pub fn read_into_ledger(
        source: Source<'_>,
        options: &Options,
        workers: &Workers,
        progress: &Progress,
        bytes: u64,
        ledger: &dyn Ledger,
    ) -> Result<Trace, Error> {
        let mut show = |_: &Portion<'_>| ControlFlow::Continue(());
        // Problems at the end of a trace are a matter of all its objects.
        let portions = (!options.recover).then(|| Portions::new(bytes, &mut show));
        replay(source, options, workers, progress, portions, Some(ledger))
    }

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

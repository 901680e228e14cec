//! Reading of traces.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paje_parser::FieldNames;
use paje_sim::{
    Error, ErrorKind, MemoryLimit, NameOrder, Opened, Options, Portion, Precision, Progress,
    Selected, Selection, Source, TimeUnit, Trace, Visitor, Warning,
};
use paje_workers::{Pin, Workers};

use crate::visit_error::VisitError;

/// Reads traces. The methods set options, and the last one reads.
///
/// ```no_run
/// use paje::{Selection, TimeUnit, TraceReader};
///
/// let trace = TraceReader::new()
///     .threads(4)
///     .select(Selection::default().of_type("MPI_*")?.inside("rank-0")?)
///     .time_unit(TimeUnit::Milliseconds)
///     .open("run.trace.zst")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TraceReader {
    options: Options,
    threads: Option<NonZeroUsize>,
    pin: Pin,
    progress: Option<Arc<Progress>>,
    names_files: bool,
    folders: Vec<PathBuf>,
    portion: u64,
}

impl Default for TraceReader {
    fn default() -> Self {
        let mut options = Options::default();
        options.user_defined = true;
        TraceReader {
            options,
            threads: None,
            pin: Pin::None,
            progress: None,
            names_files: true,
            folders: Vec::new(),
            portion: 16 << 20,
        }
    }
}

impl TraceReader {
    /// Returns a reader with the default options.
    #[must_use]
    pub fn new() -> Self {
        TraceReader::default()
    }

    /// Sets the number of threads. 0 is the default: all CPUs that the process may use.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = NonZeroUsize::new(threads);
        self
    }

    /// Sets the CPUs that the threads run on.
    #[must_use]
    pub fn pin(mut self, pin: Pin) -> Self {
        self.pin = pin;
        self
    }

    /// Continues after a problem, and leaves out or mends what is wrong. [`Trace::recovered`] then lists the problems.
    #[must_use]
    pub const fn recover(mut self, recover: bool) -> Self {
        self.options.recover = recover;
        self
    }

    /// Keeps user-defined fields, for [`State::fields`](crate::State::fields) and similar methods. This is the default.
    /// Without them, reading takes less time and memory.
    #[must_use]
    pub const fn fields(mut self, keep: bool) -> Self {
        self.options.user_defined = keep;
        self
    }

    /// Keeps the line of each row, for [`State::line`](crate::State::line) and similar methods. The default is not to
    /// keep them.
    #[must_use]
    pub const fn lines(mut self, keep: bool) -> Self {
        self.options.keep_lines = keep;
        self
    }

    /// Keeps only the rows of the wanted lanes, which takes less memory. If the trace is packed, reads only the part
    /// that the time window needs.
    ///
    /// This saves time and memory, but filters only lanes: wanted lanes may have rows outside the window, and the trace
    /// has all containers. With [`recover`](Self::recover), it has all lanes. [`Selected::wants`] is exact:
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/mpi.trace");
    /// use paje::{Nature, Selection, TraceReader};
    ///
    /// let selection = Selection::default().of_natures([Nature::Link]).within(0.01..=0.02);
    /// let trace = TraceReader::new().select(selection.clone()).open(path)?;
    /// let wanted = trace.select(&selection);
    /// let rows = trace.rows().filter(|row| wanted.wants(row)).count();
    /// assert!(rows > 0 && (rows as u64) < trace.counts().links);
    /// # Ok::<(), paje::Error>(())
    /// ```
    #[must_use]
    pub fn select(mut self, selection: Selection) -> Self {
        self.options.selection = selection;
        self
    }

    /// Sets the unit of the trace's times, for [`Trace::time_scale`]. By default, it is the unit of the program that
    /// wrote the trace, or seconds if that program is unknown. Rows keep the times of the trace.
    #[must_use]
    pub const fn time_unit(mut self, unit: TimeUnit) -> Self {
        self.options.time_unit = Some(unit);
        self
    }

    /// Moves rows to a file in `folder` while the process has more than `bytes` bytes of memory. The file has no name,
    /// and disappears with the trace. Only works on Linux, and not for [`visit`](Self::visit), which needs little
    /// memory.
    #[must_use]
    pub fn memory_limit(mut self, bytes: u64, folder: impl Into<PathBuf>) -> Self {
        self.options.memory = Some(MemoryLimit { bytes, folder: folder.into() });
        self
    }

    /// Sets the progress, with which another thread can watch the replay and stop it.
    #[must_use]
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Replays events in the order of their times instead of their lines. The text stays in memory.
    #[must_use]
    pub const fn sort(mut self, sort: bool) -> Self {
        self.options.sort = sort;
        self
    }

    /// Accepts the field names of older traces, such as `ContainerType`.
    #[must_use]
    pub const fn old_names(mut self, accept: bool) -> Self {
        self.options.field_names = if accept { FieldNames::Old } else { FieldNames::Strict };
        self
    }

    /// Ignores links that lack an end. Otherwise they are an error.
    #[must_use]
    pub const fn ignore_incomplete_links(mut self, ignore: bool) -> Self {
        self.options.ignore_incomplete_links = ignore;
        self
    }

    /// Reads the values of variables in single precision, as PajeNG does.
    #[must_use]
    pub const fn single_precision(mut self, single: bool) -> Self {
        let precision = if single { Precision::Single } else { Precision::Double };
        self.options.variable_precision = precision;
        self
    }

    /// Ignores events after this time. All open objects end there.
    #[must_use]
    pub const fn stop_at(mut self, time: f64) -> Self {
        self.options.stop_at = Some(time);
        self
    }

    /// Sets the longest line in bytes. The default is 64 MiB.
    #[must_use]
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.options.limits = self.options.limits.with_line(bytes);
        self
    }

    /// Also reads the files to which a trace refers. They must be below the folder of the trace, or below a folder of
    /// [`files_below`](Self::files_below). This is the default for paths. Other readers have no folder, so their files
    /// are not read, and each of them causes a warning.
    #[must_use]
    pub const fn files(mut self, read: bool) -> Self {
        self.names_files = read;
        self
    }

    /// Lets traces refer to files below this folder, too.
    #[must_use]
    pub fn files_below(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Sets the number of bytes of text after which [`visit`](Self::visit) shows the rows that are complete. The
    /// default is 16 MiB. A stream that is watched while it grows needs less.
    #[must_use]
    pub const fn portion(mut self, bytes: u64) -> Self {
        self.portion = bytes;
        self
    }
}

impl TraceReader {
    /// Reads the trace in a file: Pajé text, compressed or not (gzip, zstd, xz, bzip2), a packed trace (feature `pack`),
    /// or the anchor file or folder of an OTF2 archive (feature `otf2`). The path `-` means standard input.
    ///
    /// # Errors
    /// The file cannot be read, or the trace has a problem, or a pattern of the selection matches nothing. The message
    /// begins with the file's name and, if one line has the problem, the line and column.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Trace, Error> {
        self.open_all(&[path])
    }

    /// Reads one trace in several files, each of which continues the previous one. It does not merge traces of different runs.
    ///
    /// # Errors
    /// Fails like [`open`](Self::open).
    pub fn open_all(&self, paths: &[impl AsRef<Path>]) -> Result<Trace, Error> {
        let workers = self.workers()?;
        self.replay(self.open_files(paths)?, &workers)
    }

    /// Reads a trace from any reader, compressed or not.
    ///
    /// # Errors
    /// The reader fails, or the trace has a problem, or a pattern of the selection matches nothing.
    pub fn read(&self, input: impl Read + Send + 'static) -> Result<Trace, Error> {
        self.replay(Opened::reader(input).map_err(Error::of_file)?, &self.workers()?)
    }

    /// Reads the text of a trace.
    ///
    /// # Errors
    /// The trace has a problem, or a pattern of the selection matches nothing.
    pub fn parse(&self, text: impl AsRef<[u8]>) -> Result<Trace, Error> {
        let (source, workers) = (Source::stream(text.as_ref()), self.workers()?);
        let progress = self.progress.clone().unwrap_or_default();
        self.matched(Trace::read_with(source, &self.options, &workers, &progress)?)
    }

    /// Shows the rows of the trace in a file to the visitor as soon as they are complete, and then drops them. Memory
    /// depends on the number of containers, types, values and open objects, not on the length of the trace. Returns the
    /// warnings.
    ///
    /// The visitor receives each row once: the rows of a portion of the trace after those of the previous portion, and
    /// within a portion in PajeNG's order. A state is complete when it ends, a value of a variable when the next one
    /// begins, a link when it has both ends, and a container when it ends. Portions do not depend on the number of
    /// threads.
    ///
    /// # Errors
    /// Fails like [`open`](Self::open), after the rows before the problem have been shown, or with the error of the
    /// visitor. [`recover`](Self::recover) is refused, because recovery may change earlier rows.
    pub fn visit<V>(
        &self,
        path: impl AsRef<Path>,
        visitor: &mut V,
    ) -> Result<Vec<Warning>, VisitError<V::Error>>
    where
        V: Visitor<Error: Send> + Send,
    {
        let workers = self.workers()?;
        self.show(self.open_files(&[path])?, &workers, visitor)
    }

    /// Shows the rows of a trace from any reader to the visitor, like [`visit`](Self::visit).
    ///
    /// # Errors
    /// Fails like [`visit`](Self::visit).
    pub fn visit_reader<V>(
        &self,
        input: impl Read + Send + 'static,
        visitor: &mut V,
    ) -> Result<Vec<Warning>, VisitError<V::Error>>
    where
        V: Visitor<Error: Send> + Send,
    {
        self.show(Opened::reader(input).map_err(Error::of_file)?, &self.workers()?, visitor)
    }

    fn workers(&self) -> Result<Workers, Error> {
        Workers::new(self.threads, &self.pin).map_err(|error| io::Error::other(error).into())
    }

    fn open_files(&self, files: &[impl AsRef<Path>]) -> Result<Opened, Error> {
        let mut opened = Opened::open(files).map_err(Error::of_file)?.within_window(&self.options);
        if self.names_files {
            opened = opened.naming_files(&self.folders).map_err(Error::of_file)?;
        }
        if self.options.recover {
            opened.input.recover();
        }
        Ok(opened)
    }

    fn replay(&self, opened: Opened, workers: &Workers) -> Result<Trace, Error> {
        let name = opened.name().to_owned();
        let progress = self.progress.clone().unwrap_or_default();
        let trace = opened.source(workers.threads()).map_err(Error::from).and_then(|source| {
            self.matched(Trace::read_with(source, &self.options, workers, &progress)?)
        });
        trace.map_err(|error| error.of_trace(&name))
    }

    fn show<V>(
        &self,
        opened: Opened,
        workers: &Workers,
        visitor: &mut V,
    ) -> Result<Vec<Warning>, VisitError<V::Error>>
    where
        V: Visitor<Error: Send> + Send,
    {
        if self.options.recover {
            let why = "recovery may change earlier rows, so rows cannot be shown while it reads";
            return Err(Error::from(io::Error::new(io::ErrorKind::InvalidInput, why)).into());
        }
        let name = opened.name().to_owned();
        let of_trace = |error: Error| VisitError::Trace(error.of_trace(&name));
        let source = opened.source(workers.threads()).map_err(|error| of_trace(error.into()))?;
        let progress = self.progress.clone().unwrap_or_default();
        let (mut selected, mut visited) = (Selected::new(&self.options.selection), Ok(()));
        let mut show = |portion: &Portion<'_>| {
            selected.extend(portion.trace());
            visited = portion.visit(NameOrder::Bare, &selected, visitor);
            if visited.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let (options, portion) = (&self.options, self.portion.max(1));
        let trace =
            Trace::read_in_portions(source, options, workers, &progress, portion, &mut show);
        visited.map_err(VisitError::Visitor)?;
        let trace = trace.map_err(of_trace)?;
        Self::met(&trace, &selected).map_err(of_trace)?;
        Ok(trace.warnings().to_vec())
    }

    /// Returns the trace, or fails like [`Self::met`].
    fn matched(&self, trace: Trace) -> Result<Trace, Error> {
        Self::met(&trace, &trace.select(&self.options.selection)).map(|()| trace)
    }

    /// Fails if a pattern of the selection matches nothing.
    fn met(trace: &Trace, selected: &Selected) -> Result<(), Error> {
        if let Some((what, glob, hint)) = selected.unmet(trace).next() {
            let message = format!("the trace has no {what} '{glob}'; {hint}");
            return Err(Error::new(ErrorKind::Unmatched(message), None));
        }
        Ok(())
    }
}

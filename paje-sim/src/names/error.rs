//! Errors, which end a replay, and warnings, which are only worth telling.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paje_parser::error::{shown, shown_path};
use paje_parser::{ByteOffset, Position};

pub use super::named::{EventName, Named, Word};
pub use super::problem::Problem;
pub use super::warning::WarningKind;

/// Why a trace could not be replayed: the first problem in file order (in the order of
/// [`Options::sort`](crate::Options::sort) if it was sorted), or a failed read.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
    /// The file, if there is no place.
    file: Option<Arc<Path>>,
    /// The trace itself, if the error is to be told with its name.
    trace: Option<Box<Path>>,
    /// The byte where its line begins, in all that is replayed: of several errors, the one with the least is the
    /// trace's.
    at: u64,
}

/// Where a problem is, and the line it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, if it is one that the trace names: see [`Source::reading_files`](crate::Source::reading_files).
    pub file: Option<Arc<Path>>,
    /// Byte, line and column of the offending text.
    pub position: Position,
    /// The line without its newline, cut to a length fit for a terminal.
    pub text: Vec<u8>,
}

/// The subject of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The trace is invalid.
    Invalid(Problem),
    /// The input could not be read.
    Io(io::Error),
    /// A file that the trace names could not be read; the place is that of its name.
    File {
        /// The file: its name in the folder of the file that names it.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Who was shown the trace in portions did not want to see more, or
    /// [`Progress::stop`](crate::Progress::stop) was called.
    Stopped,
}

impl Error {
    /// An invalid trace; `place` is `None` when the problem is not in any one line.
    #[must_use]
    pub fn invalid(problem: Problem, place: Option<Place>) -> Self {
        Error::new(ErrorKind::Invalid(problem), place)
    }

    pub(crate) fn new(kind: ErrorKind, place: Option<Place>) -> Self {
        Error(Box::new(Inner { kind, place, file: None, trace: None, at: 0 }))
    }

    /// The error, whose line begins at this byte of all that is replayed.
    pub(crate) fn of_line_at(mut self, at: u64) -> Self {
        self.0.at = at;
        self
    }

    /// The byte where its line begins, in all that is replayed.
    pub(crate) fn at(&self) -> u64 {
        self.0.at
    }

    /// The error, which is in this file: the trace's own if there is none.
    pub(crate) fn in_file(mut self, file: Option<&Arc<Path>>) -> Self {
        match &mut self.0.place {
            Some(place) => place.file = file.cloned(),
            None => self.0.file = file.cloned(),
        }
        self
    }

    /// An error of this file: one of the system is told by `unreadable`.
    pub(crate) fn in_whole_file(
        self,
        unreadable: impl FnOnce(io::Error) -> Error,
        file: Option<&Arc<Path>>,
    ) -> Self {
        match self.0.kind {
            ErrorKind::Io(error) => unreadable(error),
            _ => self.in_file(file),
        }
    }

    /// The error with its place, if it has one, elsewhere in its file.
    pub(crate) fn moved(mut self, to: impl FnOnce(Option<&Path>, Position) -> Position) -> Self {
        if let Some(place) = &mut self.0.place {
            place.position = to(place.file.as_deref(), place.position);
        }
        self
    }

    /// The error, which tells that it is of this trace.
    pub(crate) fn of_trace(mut self, trace: &Path) -> Self {
        self.0.trace = Some(trace.into());
        self
    }

    /// A line of a file that is longer than lines may be.
    pub(crate) fn line_too_long(start: ByteOffset, limit: usize, line: u64) -> Self {
        let position = Position { byte: start, line, column: 1 };
        let place = Place { file: None, position, text: Vec::new() };
        Error::invalid(Problem::LineTooLong { bytes: limit as u64 }, Some(place))
    }

    pub(crate) fn stopped() -> Self {
        Error::new(ErrorKind::Stopped, None)
    }

    /// Its subject.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The file that it is in; `None` for the trace itself.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        let place = self.0.place.as_ref();
        place.and_then(|place| place.file.as_deref()).or(self.0.file.as_deref())
    }

    /// Where in its file, if it is in one line.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.0.place.as_ref().map(|place| place.position)
    }

    /// Where in the trace, with the line.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::new(ErrorKind::Io(error), None)
    }
}

/// The problem in a sentence; of a trace that [`Trace::open`](crate::Trace::open) opened, behind `FILE:LINE:COLUMN: `.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(trace) = &self.0.trace {
            write!(f, "{}:", shown_path(self.file().unwrap_or(trace)))?;
            self.position().map_or(Ok(()), |position| write!(f, "{position}:"))?;
            f.write_str(" ")?;
        }
        match &self.0.kind {
            ErrorKind::Invalid(problem) => problem.fmt(f),
            ErrorKind::Io(error) => error.fmt(f),
            ErrorKind::File { path, error } => {
                write!(f, "cannot read {}: {error}", shown(path.as_os_str().as_encoded_bytes()))
            }
            ErrorKind::Stopped => f.write_str("the replay was stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Invalid(_) | ErrorKind::Stopped => None,
            ErrorKind::Io(error) | ErrorKind::File { error, .. } => Some(error),
        }
    }
}

/// A kind of warning, how often it came, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Its kind.
    pub kind: WarningKind,
    /// The event of the lines that it is about; `None` if it is about a file.
    pub event: Option<EventName>,
    /// The file of the first line; `None` for the trace itself.
    pub file: Option<Arc<Path>>,
    /// Which of the trace's files it is, in the order in which they are read; 0 for the trace itself.
    pub file_number: u32,
    /// The first line in that file, 1-based; the first to be replayed if the trace was sorted.
    pub first_line: u64,
    /// Number of lines.
    pub count: u64,
}

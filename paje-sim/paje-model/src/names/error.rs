//! Errors, which end a replay, and warnings, which do not.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paje_parser::error::{shown, shown_path};
use paje_parser::{ByteOffset, Position};

pub use super::named::{EventName, Named, Word};
pub use super::problem::Problem;
pub use super::warning::WarningKind;

/// Reason why a trace could not be replayed: a failed read, or the first problem in file order
/// (if events are sorted by time, in that order).
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
    file: Option<Arc<Path>>,
    trace: Option<Box<Path>>,
    /// Byte offset of the error's line in all files together. Of several errors, the one with the
    /// smallest offset is reported.
    at: u64,
}

/// Position of a problem, and the line that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or `None` for the trace itself. A trace may refer to other files.
    pub file: Option<Arc<Path>>,
    /// Byte, line and column of the offending text in the file.
    pub position: Position,
    /// The line without its newline, cut to fit a terminal.
    pub text: Vec<u8>,
}

/// Kind of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The trace is invalid.
    Invalid(Problem),
    /// The input could not be read.
    Io(io::Error),
    /// A file to which the trace refers could not be read. The place of the error is where the
    /// trace names the file.
    File {
        /// Path of the file, relative to the folder of the file that refers to it.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
    /// A pattern of the selection matches nothing in the trace. The text is the message.
    Unmatched(String),
    /// The caller ended the replay, either while it received portions or with
    /// [`Progress::stop`](crate::names::progress::Progress::stop).
    Stopped,
}

impl Error {
    /// Creates the error of an invalid trace. `place` is `None` if no single line has the problem.
    #[must_use]
    #[doc(hidden)]
    pub fn invalid(problem: Problem, place: Option<Place>) -> Self {
        Error::new(ErrorKind::Invalid(problem), place)
    }

    #[doc(hidden)]
    pub fn new(kind: ErrorKind, place: Option<Place>) -> Self {
        Error(Box::new(Inner { kind, place, file: None, trace: None, at: 0 }))
    }

    /// Sets the byte offset of the error's line in all files together.
    #[doc(hidden)]
    pub fn of_line_at(mut self, at: u64) -> Self {
        self.0.at = at;
        self
    }

    /// Returns the byte offset of the error's line in all files together.
    #[doc(hidden)]
    pub fn at(&self) -> u64 {
        self.0.at
    }

    /// Sets the file of the error; `None` is the trace itself.
    #[doc(hidden)]
    pub fn in_file(mut self, file: Option<&Arc<Path>>) -> Self {
        match &mut self.0.place {
            Some(place) => place.file = file.cloned(),
            None => self.0.file = file.cloned(),
        }
        self
    }

    /// Sets the file of an error. `unreadable` converts an I/O error.
    #[doc(hidden)]
    pub fn in_whole_file(
        self,
        unreadable: impl FnOnce(io::Error) -> Error,
        file: Option<&Arc<Path>>,
    ) -> Self {
        match self.0.kind {
            ErrorKind::Io(error) => unreadable(error),
            _ => self.in_file(file),
        }
    }

    /// Replaces the position, if the error has one.
    #[doc(hidden)]
    pub fn moved(mut self, to: impl FnOnce(Option<&Path>, Position) -> Position) -> Self {
        if let Some(place) = &mut self.0.place {
            place.position = to(place.file.as_deref(), place.position);
        }
        self
    }

    /// Creates the error of a file that cannot be opened.
    #[doc(hidden)]
    pub fn of_file((file, error): (PathBuf, io::Error)) -> Self {
        Error::from(error).of_trace(&file)
    }

    /// Sets the path of the trace, which messages then show.
    #[doc(hidden)]
    pub fn of_trace(mut self, trace: &Path) -> Self {
        self.0.trace = Some(trace.into());
        self
    }

    /// Creates the error of a line that exceeds the limit.
    #[doc(hidden)]
    pub fn line_too_long(start: ByteOffset, limit: usize, line: u64) -> Self {
        let position = Position { byte: start, line, column: 1 };
        let place = Place { file: None, position, text: Vec::new() };
        Error::invalid(Problem::LineTooLong { bytes: limit as u64 }, Some(place))
    }

    #[doc(hidden)]
    pub fn stopped() -> Self {
        Error::new(ErrorKind::Stopped, None)
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the file of the error; `None` is the trace itself.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        let place = self.0.place.as_ref();
        place.and_then(|place| place.file.as_deref()).or(self.0.file.as_deref())
    }

    /// Returns the position in the file, if the error is in one line.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.0.place.as_ref().map(|place| place.position)
    }

    /// Returns the position of the error and the text of its line.
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

/// Shows the problem as a sentence, after `FILE:LINE:COLUMN: ` if `TraceReader` opened the trace. Without a path, FILE is `<reader>`.
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
            ErrorKind::Unmatched(message) => f.write_str(message),
            ErrorKind::Stopped => f.write_str("the replay was stopped"),
        }
    }
}

/// Shows the message, because a `main` that returns an error prints it in this form. `{:#?}` shows all contents.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() { self.0.fmt(f) } else { fmt::Display::fmt(self, f) }
    }
}

/// The source is the cause of a failed read. The message of the read itself is part of the error's own message.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Invalid(_) | ErrorKind::Unmatched(_) | ErrorKind::Stopped => None,
            ErrorKind::Io(error) | ErrorKind::File { error, .. } => error.source(),
        }
    }
}

/// A warning: its kind, the number of lines that cause it, and the first of these lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Kind of the warning.
    pub kind: WarningKind,
    /// Event of the lines; `None` if the warning is about a file.
    pub event: Option<EventName>,
    /// File of the first line; `None` is the trace itself.
    pub file: Option<Arc<Path>>,
    /// Number of that file in the order of reading, or 0 for the trace itself.
    pub file_number: u32,
    /// Number of the first line in that file, counted from 1. In a sorted trace, this is the line
    /// that is replayed first.
    pub first_line: u64,
    /// Number of lines.
    pub count: u64,
}

//! What ends a replay, and what is only worth telling.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paje_parser::error::shown;
use paje_parser::event::TypeNature;
use paje_parser::{FaultKind, LinkEnd, Position};

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

/// What an [`Error`] is about.
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
        Error(Box::new(Inner { kind, place, file: None }))
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

    pub(crate) fn stopped() -> Self {
        Error::new(ErrorKind::Stopped, None)
    }

    /// What it is about.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// A name, key or value as the trace spells it, without quotes.
pub type Word = Vec<u8>;

/// The ways in which a trace can be invalid. Its `Display` is one sentence that says what is wrong
/// and what would be right.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // Each variant's sentence is in `Display` below.
pub enum Problem {
    /// A line that is wrong by itself or with the definitions before it.
    Line {
        fault: FaultKind,
        word: Word,
    },
    EmptyTrace,
    LineTooLong {
        bytes: u64,
    },
    UnknownType {
        name: Word,
    },
    UnknownContainer {
        name: Word,
    },
    TypeExists {
        name: Word,
    },
    ContainerExists {
        name: Word,
    },
    ReservedType,
    ReservedContainer,
    NotAContainerType {
        name: Word,
        nature: TypeNature,
    },
    WrongNature {
        name: Word,
        expected: TypeNature,
        found: TypeNature,
    },
    NotChildType {
        name: Word,
        container: Word,
        container_type: Word,
    },
    WrongContainerType {
        container: Word,
        expected: Word,
        found: Word,
    },
    WrongLinkEnd {
        end: LinkEnd,
        container: Word,
        expected: Word,
        found: Word,
    },
    NoCommonAncestor {
        name: Word,
    },
    ValueOfType {
        name: Word,
        nature: TypeNature,
    },
    ValueExists {
        name: Word,
        type_: Word,
    },
    NotTimeOrdered {
        time: f64,
        last: f64,
    },
    DestroyedTooEarly {
        container: Word,
        time: f64,
        last: f64,
    },
    PopOnEmpty {
        container: Word,
        type_: Word,
    },
    VariableUnset {
        container: Word,
        type_: Word,
    },
    KeyReused {
        key: Word,
    },
    KeyRepeated {
        key: Word,
        end: LinkEnd,
    },
    LinkValuesDiffer {
        key: Word,
        value: Word,
        other: Word,
    },
    /// At most [`Problem::LISTED`] keys, and how many links there are.
    OpenLinks {
        container: Word,
        keys: Vec<Word>,
        count: u64,
    },
    FileCycle {
        name: Word,
    },
    /// A line of a file that the trace names, before any that makes sense.
    NotATrace,
}

impl Problem {
    /// How many open links a message lists.
    pub const LISTED: usize = 10;

    /// A short name for machines, stable from release to release.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Problem::Line { fault, .. } => fault.code(),
            Problem::EmptyTrace => "empty-trace",
            Problem::LineTooLong { .. } => "line-too-long",
            Problem::UnknownType { .. } => "unknown-type",
            Problem::UnknownContainer { .. } => "unknown-container",
            Problem::TypeExists { .. } => "type-exists",
            Problem::ContainerExists { .. } => "container-exists",
            Problem::ReservedType => "reserved-type",
            Problem::ReservedContainer => "reserved-container",
            Problem::NotAContainerType { .. } => "not-a-container-type",
            Problem::WrongNature { .. } => "wrong-nature",
            Problem::NotChildType { .. } => "not-child-type",
            Problem::WrongContainerType { .. } => "wrong-container-type",
            Problem::WrongLinkEnd { .. } => "wrong-link-end",
            Problem::NoCommonAncestor { .. } => "no-common-ancestor",
            Problem::ValueOfType { .. } => "value-of-type",
            Problem::ValueExists { .. } => "value-exists",
            Problem::NotTimeOrdered { .. } => "not-time-ordered",
            Problem::DestroyedTooEarly { .. } => "destroyed-too-early",
            Problem::PopOnEmpty { .. } => "pop-on-empty",
            Problem::VariableUnset { .. } => "variable-unset",
            Problem::KeyReused { .. } => "key-reused",
            Problem::KeyRepeated { .. } => "key-repeated",
            Problem::LinkValuesDiffer { .. } => "link-values-differ",
            Problem::OpenLinks { .. } => "open-links",
            Problem::FileCycle { .. } => "file-cycle",
            Problem::NotATrace => "not-a-trace",
        }
    }
}

/// The nature with its article.
const fn indefinite(nature: TypeNature) -> &'static str {
    match nature {
        TypeNature::Container => "a container",
        TypeNature::State => "a state",
        TypeNature::Variable => "a variable",
        TypeNature::Event => "an event",
        TypeNature::Link => "a link",
    }
}

const fn end_name(end: LinkEnd) -> &'static str {
    match end {
        LinkEnd::Start => "start",
        LinkEnd::End => "end",
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Line { fault, word } => f.write_str(&fault.sentence(word)),
            Problem::EmptyTrace => {
                f.write_str("the trace is empty; a trace begins with event definitions")
            }
            Problem::LineTooLong { bytes } => write!(f, "the line is longer than {bytes} bytes"),
            Problem::UnknownType { name } => {
                write!(f, "unknown type {}; a type must be defined before it is used", shown(name))
            }
            Problem::UnknownContainer { name } => write!(
                f,
                "unknown container {}; a container must be created before it is used",
                shown(name)
            ),
            Problem::TypeExists { name } => {
                write!(f, "type {} is already defined; types share one name space", shown(name))
            }
            Problem::ContainerExists { name } => write!(
                f,
                "container {} already exists; an identifier stays taken, also after PajeDestroyContainer",
                shown(name)
            ),
            Problem::ReservedType => {
                f.write_str("a type cannot be named '0', which is the root type")
            }
            Problem::ReservedContainer => {
                f.write_str("a container cannot be identified by '0', which is the root container")
            }
            Problem::NotAContainerType { name, nature } => write!(
                f,
                "{} is {} type; a container type is needed here",
                shown(name),
                indefinite(*nature)
            ),
            Problem::WrongNature { name, expected, found } => write!(
                f,
                "{} is {} type; this event needs {} type",
                shown(name),
                indefinite(*found),
                indefinite(*expected)
            ),
            Problem::NotChildType { name, container, container_type } => write!(
                f,
                "type {} is not a child of {}, the type of container {}",
                shown(name),
                shown(container_type),
                shown(container)
            ),
            Problem::WrongContainerType { container, expected, found } => write!(
                f,
                "container {} is of type {}, not {}",
                shown(container),
                shown(found),
                shown(expected)
            ),
            Problem::WrongLinkEnd { end, container, expected, found } => write!(
                f,
                "container {} is of type {}; the link type asks for {} at its {}",
                shown(container),
                shown(found),
                shown(expected),
                end_name(*end)
            ),
            Problem::NoCommonAncestor { name } => write!(
                f,
                "link type {} must be a child of a common ancestor of the types at its ends",
                shown(name)
            ),
            Problem::ValueOfType { name, nature } => write!(
                f,
                "{} is {} type, which has no named values; state, event and link types have",
                shown(name),
                indefinite(*nature)
            ),
            Problem::ValueExists { name, type_ } => {
                write!(f, "value {} of type {} is already defined", shown(name), shown(type_))
            }
            Problem::NotTimeOrdered { time, last } => write!(
                f,
                "time {time} is earlier than {last}, where this container and type already are; \
                 the events of each must be in time order"
            ),
            Problem::DestroyedTooEarly { container, time, last } => write!(
                f,
                "container {} ends at {time}, earlier than its last event at {last}",
                shown(container)
            ),
            Problem::PopOnEmpty { container, type_ } => write!(
                f,
                "no state of type {} is open in container {}; a pop needs a push before it",
                shown(type_),
                shown(container)
            ),
            Problem::VariableUnset { container, type_ } => write!(
                f,
                "variable {} of container {} has no value yet; set it before adding or subtracting",
                shown(type_),
                shown(container)
            ),
            Problem::KeyReused { key } => write!(
                f,
                "key {} was already used for another link of this container and type; keys are unique",
                shown(key)
            ),
            Problem::KeyRepeated { key, end } => write!(
                f,
                "a second {} with key {}; the link's other end is still missing",
                end_name(*end),
                shown(key)
            ),
            Problem::LinkValuesDiffer { key, value, other } => write!(
                f,
                "the link with key {} has value {} here and {} at its other end; they must be the same",
                shown(key),
                shown(value),
                shown(other)
            ),
            Problem::OpenLinks { container, keys, count } => {
                let links = if *count == 1 { "link is" } else { "links are" };
                write!(
                    f,
                    "{count} {links} incomplete at the end of container {} (-z drops such links); keys:",
                    shown(container)
                )?;
                for key in keys {
                    write!(f, " {}", shown(key))?;
                }
                if (keys.len() as u64) < *count {
                    write!(f, " …")?;
                }
                Ok(())
            }
            Problem::FileCycle { name } => write!(
                f,
                "file {} is this one, or one that leads to it by the files it names; it would never end",
                shown(name)
            ),
            Problem::NotATrace => f.write_str(
                "this is no line of a Pajé trace; of a file that a trace names, nothing is shown before \
                 a line makes sense",
            ),
        }
    }
}

/// Something that does not end the replay but should be known, told once for each kind and definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum WarningKind {
    /// Lines with more words than their definition has fields: the extra words are ignored.
    SurplusWords,
    /// Lines that end before a user-defined field: it is empty.
    MissingExtras,
    /// Events for a container that was destroyed: ignored.
    AfterDestroy,
    /// A byte order mark at the beginning of a file: passed over.
    ByteOrderMark,
    /// PajeTraceFile, or the Filename of a container, where named files are not read.
    FileNotRead,
}

impl WarningKind {
    /// A short name for machines, stable from release to release.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            WarningKind::SurplusWords => "surplus-words",
            WarningKind::MissingExtras => "missing-extras",
            WarningKind::AfterDestroy => "after-destroy",
            WarningKind::ByteOrderMark => "byte-order-mark",
            WarningKind::FileNotRead => "file-not-read",
        }
    }

    /// What it means for the result.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            WarningKind::SurplusWords => {
                "more words than the event's definition has fields; the extra ones are ignored"
            }
            WarningKind::MissingExtras => {
                "the line ends before its last user-defined fields; they are empty"
            }
            WarningKind::AfterDestroy => {
                "event for a container that was destroyed before; it is ignored"
            }
            WarningKind::ByteOrderMark => {
                "the file begins with a byte order mark, which is not part of the format; it is passed over"
            }
            WarningKind::FileNotRead => "the trace file named here is not read",
        }
    }
}

/// A kind of warning, how often it came, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is.
    pub kind: WarningKind,
    /// The number of the definition of the lines it is about; empty if it is about no event.
    pub event: Word,
    /// The file of the first line; `None` for the trace itself.
    pub file: Option<Arc<Path>>,
    /// Which of the trace's files it is, in the order in which they are read; 0 for the trace itself.
    pub file_number: u32,
    /// The first line in that file, 1-based; the first to be replayed if the trace was sorted.
    pub first_line: u64,
    /// How many lines.
    pub count: u64,
}

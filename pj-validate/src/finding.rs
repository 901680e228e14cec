//! Findings about a trace: errors and warnings.

pub mod kinds;

use std::fmt;
use std::path::PathBuf;

use paje_parser::Position;
use paje_parser::error::shown;
use paje_sim::error::{EventName, Named, Problem, WarningKind, Word};

use crate::excerpt::Excerpt;

/// Severity of a finding: an error makes the trace invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The trace is invalid.
    Error,
    /// The trace is valid, but doubtful.
    Warning,
}

impl Severity {
    /// Returns `error` or `warning`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// Subject of a finding. Its `Display` is one sentence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// A problem that ends a replay.
    Problem(Problem),
    /// A caution, which does not end a replay.
    Caution(Caution),
    /// A file that the trace names cannot be read.
    Unreadable {
        /// Name of the file, relative to the folder of the naming file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
}

impl Cause {
    /// Returns a short machine-readable name, which is stable across releases.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Cause::Problem(problem) => problem.code(),
            Cause::Caution(caution) => caution.code(),
            Cause::Unreadable { .. } => "unreadable-file",
        }
    }

    /// Returns the defined names in the sentence, in order, each with its role.
    #[must_use]
    pub fn names(&self) -> Vec<(&'static str, &Named)> {
        match self {
            Cause::Problem(problem) => problem.names(),
            Cause::Caution(caution) => caution.names(),
            Cause::Unreadable { .. } => Vec::new(),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Problem(problem) => problem.fmt(f),
            Cause::Caution(caution) => caution.fmt(f),
            Cause::Unreadable { path, reason } => {
                write!(f, "cannot read {}: {reason}", shown(path.as_os_str().as_encoded_bytes()))
            }
        }
    }
}

/// Kinds of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The format defines these names.
pub enum Thing {
    Type,
    Container,
    Value,
}

impl Thing {
    const fn name(self) -> &'static str {
        match self {
            Thing::Type => "type",
            Thing::Container => "container",
            Thing::Value => "value",
        }
    }
}

/// A doubtful fact that does not make a trace invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// A warning that a replay also reports.
    Replay {
        /// Kind of the warning.
        kind: WarningKind,
        /// Event of the line, or `None` for a file.
        event: Option<EventName>,
    },
    /// A name that is quoted here but not in its definition, or vice versa.
    OtherQuoting {
        /// Kind of the object with this name.
        thing: Thing,
        /// The name as messages show it.
        named: Named,
        /// Whether the name has quotes here.
        quoted: bool,
    },
    /// A line that ends inside quotes.
    UnclosedQuote,
    /// Event definitions that no line uses.
    UnusedEvents {
        /// The first unused definitions in file order, at most [`Problem::LISTED`].
        events: Vec<EventName>,
        /// Number of all unused definitions.
        count: u64,
    },
    /// Definitions that no event uses.
    Unused {
        /// Kind of the defined objects.
        thing: Thing,
        /// Type of the values, if values are unused.
        type_: Option<Named>,
        /// The first unused names in file order, at most [`Problem::LISTED`].
        names: Vec<Named>,
        /// Number of all unused definitions.
        count: u64,
    },
    /// States that are open at the end of the trace in containers that were not destroyed.
    NeverClosed {
        /// Type of the states.
        type_: Named,
        /// Container of the state that was opened first.
        container: Named,
        /// Number of open states.
        count: u64,
    },
    /// A link that ends before it starts.
    ReversedLink {
        /// Key of the link.
        key: Word,
        /// Start of the link in seconds.
        start: f64,
        /// End of the link in seconds.
        end: f64,
    },
}

impl Caution {
    /// Returns a short machine-readable name, which is stable across releases.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Caution::Replay { kind, .. } => kind.code(),
            Caution::OtherQuoting { .. } => "other-quoting",
            Caution::UnclosedQuote => "unclosed-quote",
            Caution::UnusedEvents { .. } => "unused-event",
            Caution::Unused { thing, .. } => match thing {
                Thing::Type => "unused-type",
                Thing::Container => "unused-container",
                Thing::Value => "unused-value",
            },
            Caution::NeverClosed { .. } => "never-closed",
            Caution::ReversedLink { .. } => "reversed-link",
        }
    }

    fn names(&self) -> Vec<(&'static str, &Named)> {
        match self {
            Caution::OtherQuoting { thing, named, .. } => vec![(thing.name(), named)],
            Caution::Unused { thing, type_, names, .. } => {
                let names = names.iter().map(|named| (thing.name(), named));
                names.chain(type_.iter().map(|type_| ("type", type_))).collect()
            }
            Caution::NeverClosed { type_, container, .. } => {
                vec![("type", type_), ("container", container)]
            }
            Caution::Replay { .. }
            | Caution::UnclosedQuote
            | Caution::UnusedEvents { .. }
            | Caution::ReversedLink { .. } => Vec::new(),
        }
    }
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caution::Replay { kind, event } => f.write_str(&kind.sentence(event.as_ref())),
            Caution::OtherQuoting { thing, named, quoted } => {
                let (here, there) = if *quoted { ("with", "without") } else { ("without", "with") };
                write!(
                    f,
                    "{} {named} is written {here} quotes here and {there} quotes before; \
                     readers that compare quotes take it for another",
                    thing.name()
                )
            }
            Caution::UnclosedQuote => {
                f.write_str("the line ends inside quotes; a closing `\"` is missing")
            }
            Caution::UnusedEvents { events, count } => {
                write_unused(f, "event definition", None, events, *count)
            }
            Caution::Unused { thing, type_, names, count } => {
                write_unused(f, thing.name(), type_.as_ref(), names, *count)
            }
            Caution::NeverClosed { type_, container, count } => {
                if *count == 1 {
                    write!(
                        f,
                        "a state of type {type_} in container {container} is still open at the end of the trace"
                    )
                } else {
                    write!(
                        f,
                        "{count} states of type {type_} are still open at the end of the trace, \
                         the first of them in container {container}"
                    )
                }
            }
            Caution::ReversedLink { key, start, end } => write!(
                f,
                "the link with key {} ends at {end}, before its start at {start}",
                shown(key)
            ),
        }
    }
}

fn write_unused(
    f: &mut fmt::Formatter<'_>,
    thing: &str,
    type_: Option<&Named>,
    names: &[impl fmt::Display],
    count: u64,
) -> fmt::Result {
    f.write_str(thing)?;
    if count > 1 {
        f.write_str("s")?;
    }
    for (i, name) in names.iter().enumerate() {
        write!(f, "{} {name}", if i == 0 { "" } else { "," })?;
    }
    let unlisted = count - names.len() as u64;
    if unlisted > 0 {
        write!(f, " and {unlisted} more")?;
    }
    if let Some(type_) = type_ {
        write!(f, " of type {type_}")?;
    }
    let verb = if count == 1 { "is" } else { "are" };
    write!(f, " {verb} defined but never used")
}

/// A finding, with its later occurrences.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Severity: an error makes the trace invalid.
    pub severity: Severity,
    /// Cause of the finding.
    pub cause: Cause,
    /// Index of the finding's file in [`Report::files`](crate::Report::files).
    pub file: usize,
    /// First position in the file, or `None` if no single line is at fault, for instance at the end
    /// of the trace.
    pub position: Option<Position>,
    /// Length of the offending text, in bytes.
    pub width: u64,
    /// Text around the position. Findings about earlier lines have no text at first, since the
    /// input is not kept.
    pub excerpt: Option<Excerpt>,
    /// Number of affected lines.
    pub count: u64,
    /// Index of the file with the last affected line, like `file`.
    pub last_file: usize,
    /// Number of the last affected line, 1-based.
    pub last_line: u64,
    /// Event of the line, if it has one.
    pub event: Option<EventName>,
    /// Number of lines that were not checked because of this problem.
    pub consequences: u64,
    /// Further help.
    pub note: Option<String>,
}

impl Finding {
    /// Returns a short machine-readable name, which is stable across releases.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.cause.code()
    }

    /// Returns whether the line may be shown, that is, whether it is certain to be part of a trace.
    pub(crate) const fn may_be_shown(&self) -> bool {
        !matches!(
            self.cause,
            Cause::Problem(Problem::NotATrace)
                | Cause::Caution(Caution::Replay { kind: WarningKind::ByteOrderMark, .. })
        )
    }

    /// Returns the line of the first occurrence, 1-based.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.position.map(|position| position.line)
    }
}

//! The ways in which a trace can be invalid, and what is said of each.

use std::fmt;

use paje_parser::error::shown;
use paje_parser::event::TypeNature;
use paje_parser::{FaultKind, LinkEnd};

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
        }
    }
}

use std::fmt;

use paje_parser::error::shown;
use paje_parser::event::TypeNature;
use paje_parser::{FaultKind, LinkEnd};

use super::named::{EventName, Named, Word};

/// The ways in which a trace can be invalid. `Display` shows a sentence that says what is wrong and what would be
/// valid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // Each variant's sentence is in `Display` below.
pub enum Problem {
    /// A line that is wrong, either alone or because of previous definitions.
    Line {
        fault: FaultKind,
        word: Word,
        event: Option<EventName>,
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
        known: Named,
    },
    ContainerExists {
        known: Named,
    },
    ReservedType,
    ReservedContainer,
    NotAContainerType {
        type_: Named,
        nature: TypeNature,
    },
    WrongNature {
        type_: Named,
        expected: TypeNature,
        found: TypeNature,
        event: Option<EventName>,
    },
    NotChildType {
        type_: Named,
        container: Named,
        container_type: Named,
    },
    WrongContainerType {
        container: Named,
        expected: Named,
        found: Named,
    },
    WrongLinkEnd {
        end: LinkEnd,
        container: Named,
        expected: Named,
        found: Named,
    },
    NoCommonAncestor {
        type_: Named,
    },
    ValueOfType {
        type_: Named,
        nature: TypeNature,
    },
    ValueExists {
        known: Named,
        type_: Named,
    },
    NotTimeOrdered {
        time: f64,
        last: f64,
        container: Named,
        type_: Named,
    },
    DestroyedTooEarly {
        container: Named,
        time: f64,
        last: f64,
    },
    PopOnEmpty {
        container: Named,
        type_: Named,
    },
    VariableUnset {
        container: Named,
        type_: Named,
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
        value: Named,
        other: Named,
    },
    /// Keys of the first links, at most [`Problem::LISTED`], and the number of all links.
    OpenLinks {
        container: Named,
        keys: Vec<Word>,
        count: u64,
    },
    FileCycle {
        name: Word,
    },
    /// The trace refers to a file whose first line does not belong to a trace.
    NotATrace,
}

impl Problem {
    /// Number of open links that a message lists.
    pub const LISTED: usize = 10;

    /// Adds the name of the line's event, if the message shows it. `name` reads the event from the line, because the
    /// lane that finds a problem does not know the event. It is called only if it is needed.
    #[must_use]
    pub fn of_event(mut self, name: impl FnOnce() -> Option<EventName>) -> Self {
        if let Problem::Line { fault: FaultKind::MissingField(_), event, .. }
        | Problem::WrongNature { event, .. } = &mut self
            && event.is_none()
        {
            *event = name();
        }
        self
    }

    /// Returns the names that the message contains, in order, each with the kind of its object.
    #[must_use]
    pub fn names(&self) -> Vec<(&'static str, &Named)> {
        match self {
            Problem::TypeExists { known: type_ }
            | Problem::NotAContainerType { type_, .. }
            | Problem::WrongNature { type_, .. }
            | Problem::NoCommonAncestor { type_ }
            | Problem::ValueOfType { type_, .. } => vec![("type", type_)],
            Problem::NotChildType { type_, container, container_type } => {
                let of = ("container_type", container_type);
                vec![("type", type_), of, ("container", container)]
            }
            Problem::WrongContainerType { container, expected, found }
            | Problem::WrongLinkEnd { container, expected, found, .. } => {
                let types = [("container_type", found), ("expected_type", expected)];
                [("container", container)].into_iter().chain(types).collect()
            }
            Problem::ValueExists { known, type_ } => vec![("value", known), ("type", type_)],
            Problem::NotTimeOrdered { container, type_, .. }
            | Problem::PopOnEmpty { container, type_ }
            | Problem::VariableUnset { container, type_ } => {
                vec![("type", type_), ("container", container)]
            }
            Problem::ContainerExists { known: container }
            | Problem::DestroyedTooEarly { container, .. }
            | Problem::OpenLinks { container, .. } => vec![("container", container)],
            Problem::LinkValuesDiffer { value, other, .. } => {
                vec![("value", value), ("other_value", other)]
            }
            Problem::Line { .. }
            | Problem::EmptyTrace
            | Problem::LineTooLong { .. }
            | Problem::UnknownType { .. }
            | Problem::UnknownContainer { .. }
            | Problem::ReservedType
            | Problem::ReservedContainer
            | Problem::KeyReused { .. }
            | Problem::KeyRepeated { .. }
            | Problem::FileCycle { .. }
            | Problem::NotATrace => Vec::new(),
        }
    }

    /// Returns a short name for programs, which stays the same in later releases.
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
            Problem::Line { fault: FaultKind::MissingField(field), event: Some(event), .. } => {
                write!(f, "the line of {event} ends before its field {}", field.name())
            }
            Problem::Line { fault, word, .. } => f.write_str(&fault.sentence(word)),
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
            Problem::TypeExists { known } => {
                write!(f, "type {known} is already defined; all types share one name space")
            }
            Problem::ContainerExists { known } => write!(
                f,
                "container {known} already exists; an identifier cannot be used again, even after PajeDestroyContainer"
            ),
            Problem::ReservedType => {
                f.write_str("a type cannot be named '0', which is the root type")
            }
            Problem::ReservedContainer => {
                f.write_str("a container cannot be identified by '0', which is the root container")
            }
            Problem::NotAContainerType { type_, nature } => write!(
                f,
                "{type_} is {} type; a container type is needed here",
                indefinite(*nature)
            ),
            Problem::WrongNature { type_, expected, found, event } => {
                let (found, expected) = (indefinite(*found), indefinite(*expected));
                write!(f, "{type_} is {found} type; ")?;
                match event {
                    Some(event) => write!(f, "{event} needs {expected} type"),
                    None => write!(f, "this event needs {expected} type"),
                }
            }
            Problem::NotChildType { type_, container, container_type } => write!(
                f,
                "type {type_} is not a child of {container_type}, the type of container {container}"
            ),
            Problem::WrongContainerType { container, expected, found } => {
                write!(f, "container {container} is of type {found}, not {expected}")
            }
            Problem::WrongLinkEnd { end, container, expected, found } => write!(
                f,
                "container {container} is of type {found}; the link type needs {expected} at its {}",
                end_name(*end)
            ),
            Problem::NoCommonAncestor { type_ } => write!(
                f,
                "link type {type_} must be a child of a common ancestor of the types at its ends"
            ),
            Problem::ValueOfType { type_, nature } => write!(
                f,
                "{type_} is {} type, which has no named values; only states, events and links have them",
                indefinite(*nature)
            ),
            Problem::ValueExists { known, type_ } => {
                write!(f, "value {known} of type {type_} is already defined")
            }
            Problem::NotTimeOrdered { time, last, container, type_ } => write!(
                f,
                "time {time} is earlier than {last}, the last time of type {type_} in container {container}; \
                 the events of a container and type must be in time order"
            ),
            Problem::DestroyedTooEarly { container, time, last } => {
                write!(
                    f,
                    "container {container} ends at {time}, earlier than its last event at {last}"
                )
            }
            Problem::PopOnEmpty { container, type_ } => write!(
                f,
                "no state of type {type_} is open in container {container}; a pop needs a push before it"
            ),
            Problem::VariableUnset { container, type_ } => write!(
                f,
                "variable {type_} of container {container} has no value yet; set it before adding or subtracting"
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
                "the link with key {} has value {value} here and {other} at its other end; they must be the same",
                shown(key)
            ),
            Problem::OpenLinks { container, keys, count } => {
                let links = if *count == 1 { "link is" } else { "links are" };
                write!(
                    f,
                    "{count} {links} incomplete at the end of container {container} (-z ignores such links); keys:"
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
                "file {} leads back to this file; the trace would never end",
                shown(name)
            ),
            Problem::NotATrace => f.write_str(
                "this is not a line of a Pajé trace; the text of a named file is only shown after a valid line",
            ),
        }
    }
}

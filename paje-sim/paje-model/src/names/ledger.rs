//! Words in which a ledger is told of a trace's lines.

use paje_parser::LinkEnd;

use super::ids::{ContainerId, TypeId, ValueId};

/// The remedy for a line of a damaged trace that blocks tell of as if it were sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineRemedy {
    /// The event is left out, or comes after its container's end.
    Skipped,
    /// A variable that has no value yet is changed as if that were 0.
    Unset,
    /// The other end of the link has this value, and the link with it.
    OtherValue(TypeId, ValueId),
    /// This container is made up for the event, and begins with it.
    Created(ContainerId),
    /// The event counts, though no sound trace can have it there.
    Kept,
}

/// The subject of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOf {
    /// Nothing: it is empty or a comment, or repeats what another file said.
    Nobody,
    /// The definition of an event, of which it is a part.
    Header,
    /// The type that it defines.
    Type,
    /// The value that it defines.
    Value(TypeId, ValueId),
    /// The container that it creates.
    Creation(ContainerId),
    /// The container that it destroys, perhaps a second time.
    Destruction(ContainerId),
    /// A file that holds more events.
    File,
    /// The container that it is an event of, perhaps after the container's end.
    Event(ContainerId),
}

/// The containers and types that an event names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    /// A value of its lane's type.
    Value(ValueId),
    /// The container at an end of a link.
    End(LinkEnd, ContainerId),
}

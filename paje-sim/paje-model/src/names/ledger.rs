//! Records of a ledger about the lines of a trace.

use paje_parser::LinkEnd;

use super::ids::{ContainerId, TypeId, ValueId};

/// Remedy for a line of a damaged trace in which decoding found no problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineRemedy {
    /// The event is left out, perhaps because it comes after its container's end.
    Skipped,
    /// The variable has no value yet, so it is changed as if it were 0.
    Unset,
    /// The link has the value of its other end.
    OtherValue(TypeId, ValueId),
    /// This container is made up for the event and begins at the same time.
    Created(ContainerId),
    /// The event is replayed, although a valid trace could not have the event at this place.
    Kept,
}

/// Object that a line concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOf {
    /// No object: the line is empty or a comment, or repeats a line of another file.
    Nobody,
    /// The event definition that the line is part of.
    Header,
    /// The type that the line defines.
    Type,
    /// The value that the line defines.
    Value(TypeId, ValueId),
    /// The container that the line creates.
    Creation(ContainerId),
    /// The container that the line destroys, perhaps a second time.
    Destruction(ContainerId),
    /// A file with more events.
    File,
    /// The container of the event. The event may come after the container's end.
    Event(ContainerId),
}

/// Values and containers that an event names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    /// A value of its lane's type.
    Value(ValueId),
    /// The container at an end of a link.
    End(LinkEnd, ContainerId),
}

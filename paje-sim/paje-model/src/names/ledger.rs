//! Records about the lines of a trace, which a ledger receives.

use paje_parser::LinkEnd;

use super::ids::{ContainerId, TypeId, ValueId};

/// Remedy for a line of a damaged trace in which decoding found no problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineRemedy {
    /// The event is left out, for example because it comes after its container's end.
    Skipped,
    /// The variable has no value yet, so its value is assumed to be 0.
    Unset,
    /// The link keeps the value of its other end.
    OtherValue(TypeId, ValueId),
    /// The container is made up for the event, and begins at the time of the event.
    Created(ContainerId),
    /// The event is replayed, although no valid trace could have it at this position.
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
    /// The container at one end of a link.
    End(LinkEnd, ContainerId),
}

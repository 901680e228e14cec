//! Records about the lines of a trace, which a ledger receives.

use super::ids::{ContainerId, TypeId, ValueId};

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

/// A value or a container that an event names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Used {
    /// A value of its lane's type.
    Value(ValueId),
    /// The container at one end of a link.
    End(ContainerId),
}

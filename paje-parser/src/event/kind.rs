//! The names of the format's events and fields.

/// The events of lang-paje 1.3.1, in the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are those of the format.
pub enum EventKind {
    DefineContainerType,
    DefineEventType,
    DefineStateType,
    DefineVariableType,
    DefineLinkType,
    DefineEntityValue,
    CreateContainer,
    DestroyContainer,
    NewEvent,
    SetState,
    PushState,
    PopState,
    ResetState,
    SetVariable,
    AddVariable,
    SubVariable,
    StartLink,
    EndLink,
    TraceFile,
}

use EventKind as E;
use FieldName as F;

impl EventKind {
    /// All kinds, in order.
    pub const ALL: [EventKind; 19] = [
        E::DefineContainerType,
        E::DefineEventType,
        E::DefineStateType,
        E::DefineVariableType,
        E::DefineLinkType,
        E::DefineEntityValue,
        E::CreateContainer,
        E::DestroyContainer,
        E::NewEvent,
        E::SetState,
        E::PushState,
        E::PopState,
        E::ResetState,
        E::SetVariable,
        E::AddVariable,
        E::SubVariable,
        E::StartLink,
        E::EndLink,
        E::TraceFile,
    ];

    /// Returns the name in a definition, such as `PajeSetState`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            E::DefineContainerType => "PajeDefineContainerType",
            E::DefineEventType => "PajeDefineEventType",
            E::DefineStateType => "PajeDefineStateType",
            E::DefineVariableType => "PajeDefineVariableType",
            E::DefineLinkType => "PajeDefineLinkType",
            E::DefineEntityValue => "PajeDefineEntityValue",
            E::CreateContainer => "PajeCreateContainer",
            E::DestroyContainer => "PajeDestroyContainer",
            E::NewEvent => "PajeNewEvent",
            E::SetState => "PajeSetState",
            E::PushState => "PajePushState",
            E::PopState => "PajePopState",
            E::ResetState => "PajeResetState",
            E::SetVariable => "PajeSetVariable",
            E::AddVariable => "PajeAddVariable",
            E::SubVariable => "PajeSubVariable",
            E::StartLink => "PajeStartLink",
            E::EndLink => "PajeEndLink",
            E::TraceFile => "PajeTraceFile",
        }
    }

    /// Returns the fields that a definition of this event must have.
    ///
    /// Source: lang-paje 1.3.1, tables of obligatory fields.
    #[must_use]
    pub const fn obligatory(self) -> &'static [FieldName] {
        match self {
            E::DefineContainerType
            | E::DefineEventType
            | E::DefineStateType
            | E::DefineVariableType
            | E::DefineEntityValue => &[F::Name, F::Type],
            E::DefineLinkType => &[F::Name, F::Type, F::StartContainerType, F::EndContainerType],
            E::CreateContainer => &[F::Time, F::Name, F::Type, F::Container],
            E::DestroyContainer => &[F::Time, F::Name, F::Type],
            E::NewEvent
            | E::SetState
            | E::PushState
            | E::SetVariable
            | E::AddVariable
            | E::SubVariable => &[F::Time, F::Type, F::Container, F::Value],
            E::PopState | E::ResetState => &[F::Time, F::Type, F::Container],
            E::StartLink => &[F::Time, F::Type, F::Container, F::Value, F::StartContainer, F::Key],
            E::EndLink => &[F::Time, F::Type, F::Container, F::Value, F::EndContainer, F::Key],
            E::TraceFile => &[F::Container, F::Type, F::Filename],
        }
    }

    /// Returns the standard fields that a definition may have.
    pub(crate) const fn optional(self) -> &'static [FieldName] {
        match self {
            E::DefineVariableType | E::DefineEntityValue => &[F::Alias, F::Color],
            E::DefineContainerType
            | E::DefineEventType
            | E::DefineStateType
            | E::DefineLinkType => &[F::Alias],
            E::CreateContainer => &[F::Alias, F::Filename],
            _ => &[],
        }
    }
}

/// The standard fields. A field with any other name is user-defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The names are those of the format.
pub enum FieldName {
    Time,
    Name,
    Type,
    Container,
    StartContainerType,
    EndContainerType,
    StartContainer,
    EndContainer,
    Value,
    Key,
    Alias,
    Color,
    Line,
    File,
    Filename,
}

impl FieldName {
    /// Number of field names.
    pub const COUNT: usize = 15;

    /// All names, in order.
    pub const ALL: [FieldName; Self::COUNT] = [
        F::Time,
        F::Name,
        F::Type,
        F::Container,
        F::StartContainerType,
        F::EndContainerType,
        F::StartContainer,
        F::EndContainer,
        F::Value,
        F::Key,
        F::Alias,
        F::Color,
        F::Line,
        F::File,
        F::Filename,
    ];

    /// Returns the name in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            F::Time => "Time",
            F::Name => "Name",
            F::Type => "Type",
            F::Container => "Container",
            F::StartContainerType => "StartContainerType",
            F::EndContainerType => "EndContainerType",
            F::StartContainer => "StartContainer",
            F::EndContainer => "EndContainer",
            F::Value => "Value",
            F::Key => "Key",
            F::Alias => "Alias",
            F::Color => "Color",
            F::Line => "Line",
            F::File => "File",
            F::Filename => "Filename",
        }
    }
}

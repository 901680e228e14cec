//! Kinds of events, their fields, and event definitions.

use crate::named::named;
use crate::rng::Rng;

named! {
    pub(super) Kind {
        ContainerType "PajeDefineContainerType",
        StateType "PajeDefineStateType",
        VariableType "PajeDefineVariableType",
        EventType "PajeDefineEventType",
        LinkType "PajeDefineLinkType",
        EntityValue "PajeDefineEntityValue",
        Create "PajeCreateContainer",
        Destroy "PajeDestroyContainer",
        SetState "PajeSetState",
        PushState "PajePushState",
        PopState "PajePopState",
        ResetState "PajeResetState",
        SetVariable "PajeSetVariable",
        AddVariable "PajeAddVariable",
        SubVariable "PajeSubVariable",
        NewEvent "PajeNewEvent",
        StartLink "PajeStartLink",
        EndLink "PajeEndLink",
    }
}

use Kind::*;

impl Kind {
    pub(super) fn obligatory(self) -> &'static [Field] {
        use Field::*;
        match self {
            ContainerType | StateType | VariableType | EventType | EntityValue => &[Name, Type],
            LinkType => &[Name, Type, StartContainerType, EndContainerType],
            Create => &[Time, Name, Type, Container],
            Destroy => &[Time, Name, Type],
            PopState | ResetState => &[Time, Type, Container],
            StartLink => &[Time, Type, Container, Value, StartContainer, Key],
            EndLink => &[Time, Type, Container, Value, EndContainer, Key],
            SetState | PushState | SetVariable | AddVariable | SubVariable | NewEvent => {
                &[Time, Type, Container, Value]
            }
        }
    }

    pub(super) fn names(self) -> bool {
        matches!(
            self,
            ContainerType | StateType | VariableType | EventType | LinkType | EntityValue | Create
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Time,
    Name,
    Type,
    StartContainerType,
    EndContainerType,
    Container,
    StartContainer,
    EndContainer,
    Value,
    Key,
    Alias,
    Color,
    Line,
    File,
    Extra(String),
}

impl Field {
    /// Returns the field's name in a definition. If `old` is true and the field has another name in
    /// older traces, returns that name.
    pub(super) fn spelling(&self, kind: Kind, old: bool) -> &str {
        match self {
            Self::Time => "Time",
            Self::Name => "Name",
            Self::Type if old && kind.names() => "ContainerType",
            Self::Type if old => "EntityType",
            Self::Type => "Type",
            Self::StartContainerType if old => "SourceContainerType",
            Self::StartContainerType => "StartContainerType",
            Self::EndContainerType if old => "DestContainerType",
            Self::EndContainerType => "EndContainerType",
            Self::Container => "Container",
            Self::StartContainer if old => "SourceContainer",
            Self::StartContainer => "StartContainer",
            Self::EndContainer if old => "DestContainer",
            Self::EndContainer => "EndContainer",
            Self::Value => "Value",
            Self::Key => "Key",
            Self::Alias => "Alias",
            Self::Color => "Color",
            Self::Line => "Line",
            Self::File => "File",
            Self::Extra(name) => name,
        }
    }

    /// Returns a type for the field. The replay ignores this type, so any type is possible.
    pub(super) fn declared(&self, rng: &mut Rng) -> &'static str {
        const ANY: [&str; 5] = ["string", "int", "hex", "double", "float"];
        match self {
            Self::Time if rng.percent(10) => "double",
            Self::Time => "date",
            Self::Color if rng.percent(90) => "color",
            Self::Line => "int",
            Self::Extra(_) => {
                rng.pick(&["string", "int", "hex", "double", "float", "color", "date"])
            }
            _ if rng.percent(10) => rng.pick(&ANY),
            _ => "string",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) kind: Kind,
    pub(super) number: String,
    pub(super) fields: Vec<Field>,
    pub(super) old_names: bool,
    pub(super) written: bool,
}

/// Largest number of fields. PajeNG reads only 20 words of a line, including the event number.
const MAX_FIELDS: usize = 19;

impl Definition {
    pub(super) fn random(kind: Kind, number: String, old_names: bool, rng: &mut Rng) -> Self {
        let mut fields = kind.obligatory().to_vec();
        if kind.names() && rng.percent(70) {
            fields.push(Field::Alias);
        }
        let coloured = matches!(kind, EntityValue | VariableType | EventType | StateType);
        if coloured && rng.percent(50) {
            fields.push(Field::Color);
        }
        if rng.percent(15) {
            fields.push(Field::Line);
        }
        if rng.percent(15) {
            fields.push(Field::File);
        }
        if rng.percent(10) && !fields.contains(&Field::Key) {
            fields.push(Field::Key);
        }
        if kind == PopState && rng.percent(10) {
            fields.push(Field::Value);
        }
        if rng.percent(30) {
            let extras = if rng.percent(10) { MAX_FIELDS } else { rng.between(1, 4) as usize };
            for extra in 0..extras.min(MAX_FIELDS - fields.len()) {
                fields.push(Field::Extra(format!(
                    "{}{extra}",
                    rng.pick(&["Size", "X", "Job_Id", "Params-"])
                )));
            }
        }
        if rng.percent(60) {
            rng.shuffle(&mut fields);
        }
        Self { kind, number, fields, old_names, written: false }
    }

    pub(super) fn has_alias(&self) -> bool {
        self.fields.contains(&Field::Alias)
    }
}

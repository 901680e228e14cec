//! The `%` headers of generated traces, in SimGrid's numbering and order of fields.

use std::io::{self, Write};

use crate::sink::Sink;

/// One event definition: number, name, and fields as `Name type`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Def(pub(crate) u32, pub(crate) &'static str, pub(crate) &'static [&'static str]);

pub(crate) const CONTAINER_TYPE: Def =
    Def(0, "PajeDefineContainerType", &["Alias string", "Type string", "Name string"]);
pub(crate) const VARIABLE_TYPE: Def = Def(
    1,
    "PajeDefineVariableType",
    &["Alias string", "Type string", "Name string", "Color color"],
);
pub(crate) const STATE_TYPE: Def =
    Def(2, "PajeDefineStateType", &["Alias string", "Type string", "Name string"]);
pub(crate) const EVENT_TYPE: Def =
    Def(3, "PajeDefineEventType", &["Alias string", "Type string", "Name string"]);
pub(crate) const LINK_TYPE: Def = Def(
    4,
    "PajeDefineLinkType",
    &[
        "Alias string",
        "Type string",
        "StartContainerType string",
        "EndContainerType string",
        "Name string",
    ],
);
pub(crate) const ENTITY_VALUE: Def =
    Def(5, "PajeDefineEntityValue", &["Alias string", "Type string", "Name string", "Color color"]);
pub(crate) const CREATE: Def = Def(
    6,
    "PajeCreateContainer",
    &["Time date", "Alias string", "Type string", "Container string", "Name string"],
);
pub(crate) const DESTROY: Def =
    Def(7, "PajeDestroyContainer", &["Time date", "Type string", "Name string"]);
pub(crate) const SET_VARIABLE: Def =
    Def(8, "PajeSetVariable", &["Time date", "Type string", "Container string", "Value double"]);
pub(crate) const ADD_VARIABLE: Def =
    Def(9, "PajeAddVariable", &["Time date", "Type string", "Container string", "Value double"]);
pub(crate) const SUB_VARIABLE: Def =
    Def(10, "PajeSubVariable", &["Time date", "Type string", "Container string", "Value double"]);
pub(crate) const SET_STATE: Def =
    Def(11, "PajeSetState", &["Time date", "Type string", "Container string", "Value string"]);
pub(crate) const PUSH_STATE: Def =
    Def(12, "PajePushState", &["Time date", "Type string", "Container string", "Value string"]);
pub(crate) const POP_STATE: Def =
    Def(13, "PajePopState", &["Time date", "Type string", "Container string"]);
pub(crate) const RESET_STATE: Def =
    Def(14, "PajeResetState", &["Time date", "Type string", "Container string"]);
pub(crate) const START_LINK: Def = Def(
    15,
    "PajeStartLink",
    &[
        "Time date",
        "Type string",
        "Container string",
        "Value string",
        "StartContainer string",
        "Key string",
    ],
);
pub(crate) const END_LINK: Def = Def(
    16,
    "PajeEndLink",
    &[
        "Time date",
        "Type string",
        "Container string",
        "Value string",
        "EndContainer string",
        "Key string",
    ],
);
pub(crate) const NEW_EVENT: Def =
    Def(17, "PajeNewEvent", &["Time date", "Type string", "Container string", "Value string"]);

/// All of the above.
pub(crate) const ALL: [Def; 18] = [
    CONTAINER_TYPE,
    VARIABLE_TYPE,
    STATE_TYPE,
    EVENT_TYPE,
    LINK_TYPE,
    ENTITY_VALUE,
    CREATE,
    DESTROY,
    SET_VARIABLE,
    ADD_VARIABLE,
    SUB_VARIABLE,
    SET_STATE,
    PUSH_STATE,
    POP_STATE,
    RESET_STATE,
    START_LINK,
    END_LINK,
    NEW_EVENT,
];

/// Writes `definitions`.
pub(crate) fn write<W: Write + ?Sized>(
    sink: &mut Sink<'_, W>,
    definitions: &[Def],
) -> io::Result<()> {
    for Def(number, name, fields) in definitions {
        sink.text("%EventDef ").text(name).text(" ").digits(u64::from(*number)).end()?;
        for field in *fields {
            sink.text("% ").text(field).end()?;
        }
        sink.text("%EndEventDef").end()?;
    }
    Ok(())
}

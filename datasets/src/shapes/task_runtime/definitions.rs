//! The header and the values of the task runtime's traces.

use crate::header::Def;

const TIMED: [&str; 4] = ["Time date", "Container string", "Type string", "Value string"];

/// StarPU's definitions: state events 10, 20, 21 and 26 differ in their user-defined fields only.
pub(super) const DEFINITIONS: [Def; 20] = [
    Def(1, "PajeDefineContainerType", &["Alias string", "Type string", "Name string"]),
    Def(2, "PajeDefineEventType", &["Alias string", "Type string", "Name string", "Color color"]),
    Def(3, "PajeDefineStateType", &["Alias string", "Type string", "Name string"]),
    Def(4, "PajeDefineVariableType", &["Alias string", "Type string", "Name string"]),
    Def(
        5,
        "PajeDefineLinkType",
        &[
            "Alias string",
            "Type string",
            "StartContainerType string",
            "EndContainerType string",
            "Name string",
        ],
    ),
    Def(6, "PajeDefineEntityValue", &["Alias string", "Type string", "Name string", "Color color"]),
    Def(
        7,
        "PajeCreateContainer",
        &["Time date", "Alias string", "Type string", "Container string", "Name string"],
    ),
    Def(8, "PajeDestroyContainer", &["Time date", "Name string", "Type string"]),
    Def(9, "PajeNewEvent", &["Time date", "Type string", "Container string", "Value string"]),
    Def(10, "PajeSetState", &TIMED),
    Def(11, "PajePushState", &TIMED),
    Def(12, "PajePopState", &["Time date", "Container string", "Type string"]),
    Def(13, "PajeSetVariable", &["Time date", "Container string", "Type string", "Value double"]),
    Def(14, "PajeAddVariable", &["Time date", "Type string", "Container string", "Value double"]),
    Def(
        18,
        "PajeStartLink",
        &[
            "Time date",
            "Type string",
            "Container string",
            "Value string",
            "StartContainer string",
            "Key string",
        ],
    ),
    Def(
        19,
        "PajeEndLink",
        &[
            "Time date",
            "Type string",
            "Container string",
            "Value string",
            "EndContainer string",
            "Key string",
        ],
    ),
    Def(
        20,
        "PajeSetState",
        &[
            "Time date",
            "Container string",
            "Type string",
            "Value string",
            "Size string",
            "Params string",
            "Footprint string",
            "Tag string",
            "JobId string",
            "SubmitOrder string",
            "Priority string",
            "GFlop string",
            "X string",
            "Y string",
            "Iteration string",
            "Subiteration string",
        ],
    ),
    Def(
        21,
        "PajeSetState",
        &[
            "Time date",
            "Container string",
            "Type string",
            "Value string",
            "Size string",
            "Params string",
            "Footprint string",
            "Tag string",
            "JobId string",
            "SubmitOrder string",
        ],
    ),
    Def(
        24,
        "PajeStartLink",
        &[
            "Time date",
            "Type string",
            "Container string",
            "Value string",
            "StartContainer string",
            "Key string",
            "Handle string",
            "HName string",
            "X string",
            "Y string",
        ],
    ),
    Def(
        26,
        "PajePushState",
        &["Time date", "Container string", "Type string", "Value string", "JobId string"],
    ),
];

/// State values: alias, name, colour.
pub(super) const STATES: [[&str; 3]; 8] = [
    ["Sc", "Scheduling", "\".7 .36 .0\""],
    ["B", "Overhead", "\".5 .18 .0\""],
    ["Fi", "FetchingInput", "\"1.0 .1 1.0\""],
    ["Po", "PushingOutput", "\"0.1 1.0 1.0\""],
    ["P", "Progressing", "\".1 .3 .1\""],
    ["I", "Idle", "\".9 .1 .0\""],
    ["C", "Callback", "\".0 .3 .8\""],
    ["Su", "\"Submitting task\"", "\".3 .09 .0\""],
];

/// Task kinds, defined as values only by their use.
pub(super) const TASKS: [&str; 4] = ["\"GEMM\"", "\"TRSM\"", "\"POTRF\"", "\"SYRK\""];

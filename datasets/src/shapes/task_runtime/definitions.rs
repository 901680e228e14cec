//! Header and values of the task runtime's traces.

use crate::header::Definition;

/// Event definitions of StarPU. The state events 10, 20, 21 and 26 differ only in their
/// user-defined fields.
pub(super) const DEFINITIONS: [Definition<'_>; 20] = [
    ("1", "DefineContainerType", "Alias Type Name"),
    ("2", "DefineEventType", "Alias Type Name Color:color"),
    ("3", "DefineStateType", "Alias Type Name"),
    ("4", "DefineVariableType", "Alias Type Name"),
    ("5", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
    ("6", "DefineEntityValue", "Alias Type Name Color:color"),
    ("7", "CreateContainer", "Time:date Alias Type Container Name"),
    ("8", "DestroyContainer", "Time:date Name Type"),
    ("9", "NewEvent", "Time:date Type Container Value"),
    ("10", "SetState", "Time:date Container Type Value"),
    ("11", "PushState", "Time:date Container Type Value"),
    ("12", "PopState", "Time:date Container Type"),
    ("13", "SetVariable", "Time:date Container Type Value:double"),
    ("14", "AddVariable", "Time:date Type Container Value:double"),
    ("18", "StartLink", "Time:date Type Container Value StartContainer Key"),
    ("19", "EndLink", "Time:date Type Container Value EndContainer Key"),
    (
        "20",
        "SetState",
        "Time:date Container Type Value Size Params Footprint Tag JobId SubmitOrder Priority GFlop \
         X Y Iteration Subiteration",
    ),
    (
        "21",
        "SetState",
        "Time:date Container Type Value Size Params Footprint Tag JobId SubmitOrder",
    ),
    ("24", "StartLink", "Time:date Type Container Value StartContainer Key Handle HName X Y"),
    ("26", "PushState", "Time:date Container Type Value JobId"),
];

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

pub(super) const TASKS: [&str; 4] = ["\"GEMM\"", "\"TRSM\"", "\"POTRF\"", "\"SYRK\""];

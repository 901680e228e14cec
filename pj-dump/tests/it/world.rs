//! Event definitions, types and containers that the tests' traces share, and functions that dump
//! these traces.

use std::process::{Command, Output};

use datasets::WORLD;
use testkit::Sandbox;
pub(crate) use testkit::said;

/// Events, each with the word that stands for its number in tests.
const EVENTS: [(&str, &str, &str); 23] = [
    ("ctype", "DefineContainerType", "Name Type Alias"),
    ("stype", "DefineStateType", "Name Type Alias"),
    ("vtype", "DefineVariableType", "Name Type Alias"),
    ("etype", "DefineEventType", "Name Type Alias"),
    ("ltype", "DefineLinkType", "Name Type StartContainerType EndContainerType Alias"),
    ("value", "DefineEntityValue", "Alias Type Name Color"),
    ("create", "CreateContainer", "Time Name Type Container"),
    ("create_as", "CreateContainer", "Time Name Type Container Alias"),
    ("destroy", "DestroyContainer", "Time Type Name"),
    ("event", "NewEvent", "Time Type Container Value"),
    ("set", "SetState", "Time Type Container Value"),
    ("push", "PushState", "Time Type Container Value"),
    ("pop", "PopState", "Time Type Container"),
    ("reset", "ResetState", "Time Type Container"),
    ("vset", "SetVariable", "Time Type Container Value"),
    ("vadd", "AddVariable", "Time Type Container Value"),
    ("vsub", "SubVariable", "Time Type Container Value"),
    ("from", "StartLink", "Time Type Container Value StartContainer Key"),
    ("to", "EndLink", "Time Type Container Value EndContainer Key"),
    ("file", "TraceFile", "Container Type Filename"),
    ("set_in", "SetState", "Time Type Container Value Size Tag"),
    ("push_in", "PushState", "Time Type Container Value Size Tag"),
    (
        "wide",
        "NewEvent",
        "A B C D E F G H I J K L M N O P Q R S T U V W X Time Type Container Value",
    ),
];

pub(crate) fn header() -> String {
    testkit::definitions(EVENTS)
}

pub(crate) fn trace(lines: &[u8]) -> Vec<u8> {
    [header().as_bytes(), WORLD.as_bytes(), lines].concat()
}

/// Returns the number of lines that precede the lines given to [`trace`].
pub(crate) fn lines_before() -> u64 {
    trace(b"").iter().filter(|byte| **byte == b'\n').count() as u64
}

pub(crate) fn dump(options: &[&str], trace: &[u8]) -> Output {
    testkit::fed(Command::new(env!("CARGO_BIN_EXE_pj_dump")).args(options), trace)
}

pub(crate) fn sandbox(files: &[(&str, &[u8])]) -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_pj_dump"), files)
}

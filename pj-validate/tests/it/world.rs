//! A small trace, to which tests add lines.

use testkit::Sandbox;

/// One definition of each event, with the numbers used below.
const EVENTS: [(&str, &str, &str); 21] = [
    ("0", "DefineContainerType", "Name Type"),
    ("1", "DefineContainerType", "Name Type Alias"),
    ("2", "DefineStateType", "Name Type"),
    ("3", "DefineVariableType", "Name Type"),
    ("4", "DefineEventType", "Name Type"),
    ("5", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ("6", "DefineEntityValue", "Alias Type Name Color"),
    ("7", "CreateContainer", "Time Name Type Container"),
    ("8", "DestroyContainer", "Time Type Name"),
    ("9", "NewEvent", "Time Type Container Value"),
    ("10", "SetState", "Time Type Container Value"),
    ("11", "PushState", "Time Type Container Value"),
    ("12", "PopState", "Time Type Container"),
    ("13", "ResetState", "Time Type Container"),
    ("14", "SetVariable", "Time Type Container Value"),
    ("15", "AddVariable", "Time Type Container Value"),
    ("16", "SubVariable", "Time Type Container Value"),
    ("17", "StartLink", "Time Type Container Value StartContainer Key"),
    ("18", "EndLink", "Time Type Container Value EndContainer Key"),
    ("19", "TraceFile", "Container Type Filename"),
    ("20", "SetState", "Time Type Container Value Size Rank"),
];

pub(crate) fn header() -> String {
    testkit::definitions(EVENTS)
}

pub(crate) const WORLD: &str = "\
0 Host 0
0 Process Host
2 State Process
3 Load Process
4 Mark Process
5 Message Host Process Process
7 0 h Host 0
7 0 p Process h
7 0 q Process h
";

/// A valid trace. It has an object of each nature and a destruction.
pub(crate) const SOUND: &str = "\
6 w State working \"0 1 0\"
10 0 State p w
11 1 State p wait
12 2 State p
13 3 State p
14 0 Load p 1.5
15 1 Load p 2
16 2 Load p 0x1p1
9 1 Mark q here
17 1 Message h data p k1
18 2 Message h data q k1
20 2 State q w 10 20 # a comment

8 4 Process p
8 5 Process q
";

pub(crate) fn trace(lines: &str) -> String {
    format!("{}{WORLD}{lines}", header())
}

/// Returns a trace in which these lines use all definitions, so that there is no warning.
pub(crate) fn used(lines: &str) -> String {
    let (text, unused) = (trace(lines), ["PajeDefineContainerType 1", "PajeTraceFile 19"]);
    let blocks = text.split_inclusive("%EndEventDef\n");
    blocks.filter(|block| !unused.iter().any(|event| block.contains(event))).collect()
}

pub(crate) fn sandbox(files: &[(&str, &[u8])]) -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_pj_validate"), files)
}

//! A small trace to which tests add what they are about.

/// One definition of each event; numbers are those of the lines below.
const EVENTS: [(&str, &str); 21] = [
    ("DefineContainerType", "Name Type"),
    ("DefineContainerType", "Name Type Alias"),
    ("DefineStateType", "Name Type"),
    ("DefineVariableType", "Name Type"),
    ("DefineEventType", "Name Type"),
    ("DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ("DefineEntityValue", "Alias Type Name Color"),
    ("CreateContainer", "Time Name Type Container"),
    ("DestroyContainer", "Time Type Name"),
    ("NewEvent", "Time Type Container Value"),
    ("SetState", "Time Type Container Value"),
    ("PushState", "Time Type Container Value"),
    ("PopState", "Time Type Container"),
    ("ResetState", "Time Type Container"),
    ("SetVariable", "Time Type Container Value"),
    ("AddVariable", "Time Type Container Value"),
    ("SubVariable", "Time Type Container Value"),
    ("StartLink", "Time Type Container Value StartContainer Key"),
    ("EndLink", "Time Type Container Value EndContainer Key"),
    ("TraceFile", "Container Type Filename"),
    ("SetState", "Time Type Container Value Size Rank"),
];

/// The definitions of all events.
pub(crate) fn header() -> String {
    let mut text = String::new();
    for (id, (event, fields)) in EVENTS.iter().enumerate() {
        text.push_str(&format!("%EventDef Paje{event} {id}\n"));
        for field in fields.split(' ') {
            text.push_str(&format!("% {field} string\n"));
        }
        text.push_str("%EndEventDef\n");
    }
    text
}

/// Types and containers: two processes `p` and `q` on a host `h`.
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

/// A sound trace with an object of each nature and a destruction.
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

/// The header, the world, and more lines.
pub(crate) fn trace(lines: &str) -> String {
    format!("{}{WORLD}{lines}", header())
}

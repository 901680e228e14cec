//! Event definitions that the tests' traces share, and runs of the program on two traces.

use testkit::Sandbox;

/// Events, each with the word that stands for its number in tests.
const EVENTS: [(&str, &str, &str); 14] = [
    ("ctype", "DefineContainerType", "Alias Type Name"),
    ("stype", "DefineStateType", "Alias Type Name"),
    ("vtype", "DefineVariableType", "Alias Type Name"),
    ("etype", "DefineEventType", "Alias Type Name"),
    ("ltype", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
    ("value", "DefineEntityValue", "Alias Type Name Color"),
    ("create", "CreateContainer", "Time Alias Type Container Name"),
    ("destroy", "DestroyContainer", "Time Type Name"),
    ("event", "NewEvent", "Time Type Container Value"),
    ("set", "SetState", "Time Type Container Value"),
    ("push", "PushState", "Time Type Container Value"),
    ("vset", "SetVariable", "Time Type Container Value"),
    ("from", "StartLink", "Time Type Container Value StartContainer Key"),
    ("to", "EndLink", "Time Type Container Value EndContainer Key"),
];

pub(crate) const WORLD: &str = "\
ctype P 0 Process
ctype Q P Queue
stype S P State
vtype V P Load
etype E P Mark
ltype L 0 P P Message
ltype M 0 P Q Request
value r S running 0,1,0
create 0 p1 P 0 one
create 0 p2 P 0 two
set 1 S p1 r
push 2 S p1 io
vset 1 V p1 1.5
vset 2 V p1 2.5
event 1.5 E p1 start
event 2.5 E p1 stop
from 1 L 0 data p1 k1
to 2 L 0 data p2 k1
set 3 S p1 idle
destroy 8 P p2
create 9 p3 P 0 three
";

pub(crate) fn trace(lines: &str) -> String {
    testkit::definitions(EVENTS) + lines
}

/// Returns the world with some texts replaced. Each replaced text must occur in it.
pub(crate) fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(WORLD.to_owned(), |world, (old, new)| {
        assert!(world.contains(old), "{old}");
        world.replace(old, new)
    })
}

pub(crate) fn pair(a: &str, b: &str) -> Sandbox {
    let (a, b) = (trace(a), trace(b));
    let files = [("a.trace", a.as_bytes()), ("b.trace", b.as_bytes())];
    Sandbox::new(env!("CARGO_BIN_EXE_pj_equals"), &files)
}

pub(crate) fn answer(other: &str, options: &[&str]) -> bool {
    let folder = pair(WORLD, other);
    let both = [options, &["a.trace", "b.trace"]].concat();
    let (status, stdout, stderr) = folder.run(&both);
    assert_eq!((status, stderr.as_str()), (0, ""));
    let back = folder.run(&[options, &["b.trace", "a.trace"]].concat());
    assert_eq!(back, (0, stdout.clone(), String::new()), "the answer should be symmetric");
    stdout == "1\n"
}

//! Valid traces with many open states, variables and links.

use crate::header::{Definition, definitions};
use crate::rng::Rng;

/// Events, each with the word that stands for its number in [`lively`] traces and in tests.
pub const EVENTS: [Definition<'_>; 23] = [
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

/// Types and containers of [`lively`] traces: two processes `p` and `q` on a host `h`.
pub const WORLD: &str = "\
ctype Host 0 H
ctype Process H P
stype State P S
vtype Load P V
etype Mark P E
ltype Message H P P L
create 0 h H 0
create 0 p P h
create 0 q P h
";

/// Returns a valid trace of a few hundred lines without warnings. It has nested states, variables,
/// links, comments, and containers that are created and destroyed.
pub fn lively(seed: u64) -> Vec<u8> {
    let rng = &mut Rng::new(seed);
    let mut lines = definitions(EVENTS) + WORLD;
    let (mut time, mut depths, mut has_value) = (0.0, [0_usize; 5], [false; 5]);
    let (mut lives, mut open, mut key) = ([true, true, false, false, false], Vec::new(), 0);
    let mut names = ["p", "q", "a0", "b0", "c0"].map(str::to_owned);
    for _ in 0..200 + rng.index(400) {
        time += [0.0, 0.001, 0.5][rng.index(3)];
        let who = rng.index(names.len());
        let (name, value) = (names[who].clone(), ["x", "y", "z"][rng.index(3)]);
        if !lives[who] {
            lines += &format!("create {time} {name} P h\n");
            lives[who] = true;
            continue;
        }
        lines += &match rng.index(60) {
            0 if who > 1 => {
                (lives[who], depths[who], has_value[who]) = (false, 0, false);
                names[who] += "0";
                format!("destroy {time} P {name}\n")
            }
            1..3 => {
                depths[who] = 1;
                format!("set {time} S {name} {value}\n")
            }
            3 => {
                depths[who] = 0;
                format!("reset {time} S {name}\n")
            }
            4..14 => {
                depths[who] += 1;
                format!("push {time} S {name} {value}\n")
            }
            14..17 => {
                depths[who] += 1;
                format!("push_in {time} S {name} {value} {key} \"a tag\"\n")
            }
            17..29 if depths[who] > 0 => {
                depths[who] -= 1;
                format!("pop {time} S {name}\n")
            }
            29..31 => {
                has_value[who] = true;
                format!("vset {time} V {name} {}\n", rng.index(1000) as f64 / 7.0)
            }
            31..37 if has_value[who] => {
                let add = ["vadd", "vsub"][rng.index(2)];
                format!("{add} {time} V {name} {}\n", rng.index(1000) as f64 / 7.0)
            }
            37..42 => format!("event {time} E {name} {value}\n"),
            42..49 => {
                key += 1;
                // Either end may come first.
                let ends = [("from", "to"), ("to", "from")][rng.index(4) / 3];
                open.push((ends.1, value, key));
                format!("{} {time} L h {value} {name} k{key}\n", ends.0)
            }
            49..56 if !open.is_empty() => {
                let (end, value, key) = open.swap_remove(rng.index(open.len()));
                format!("{end} {time} L h {value} {name} k{key}\n")
            }
            _ => "# a comment\n".to_owned(),
        };
    }
    for (end, value, key) in open {
        lines += &format!("{end} {time} L h {value} p k{key}\n");
    }
    lines.into_bytes()
}

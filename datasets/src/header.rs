//! Writes the `%` headers of generated traces.

use std::io;

use crate::sink::Sink;

/// An event definition: its number, its name without `Paje`, and its fields. Fields are strings
/// unless a type follows, as in `"Time:date Type Container"`.
pub type Definition<'d> = (&'d str, &'d str, &'d str);

/// Returns the header lines of event definitions.
///
/// ```
/// let text = datasets::definitions([("pop", "PopState", "Time:date Type Container")]);
/// let fields = "% Time date\n% Type string\n% Container string\n";
/// assert_eq!(text, format!("%EventDef PajePopState pop\n{fields}%EndEventDef\n"));
/// ```
pub fn definitions<'d>(events: impl IntoIterator<Item = Definition<'d>>) -> String {
    let mut text = String::new();
    for (number, event, fields) in events {
        text += &format!("%EventDef Paje{event} {number}\n");
        for field in fields.split(' ') {
            let (name, kind) = field.split_once(':').unwrap_or((field, "string"));
            text += &format!("% {name} {kind}\n");
        }
        text += "%EndEventDef\n";
    }
    text
}

const EVENTS: [Definition<'_>; 18] = [
    ("0", "DefineContainerType", "Alias Type Name"),
    ("1", "DefineVariableType", "Alias Type Name Color:color"),
    ("2", "DefineStateType", "Alias Type Name"),
    ("3", "DefineEventType", "Alias Type Name"),
    ("4", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
    ("5", "DefineEntityValue", "Alias Type Name Color:color"),
    ("6", "CreateContainer", "Time:date Alias Type Container Name"),
    ("7", "DestroyContainer", "Time:date Type Name"),
    ("8", "SetVariable", "Time:date Type Container Value:double"),
    ("9", "AddVariable", "Time:date Type Container Value:double"),
    ("10", "SubVariable", "Time:date Type Container Value:double"),
    ("11", "SetState", "Time:date Type Container Value"),
    ("12", "PushState", "Time:date Type Container Value"),
    ("13", "PopState", "Time:date Type Container"),
    ("14", "ResetState", "Time:date Type Container"),
    ("15", "StartLink", "Time:date Type Container Value StartContainer Key"),
    ("16", "EndLink", "Time:date Type Container Value EndContainer Key"),
    ("17", "NewEvent", "Time:date Type Container Value"),
];

pub(crate) fn write(sink: &mut Sink<'_>, numbers: &[usize]) -> io::Result<()> {
    sink.lines(definitions(numbers.iter().map(|number| EVENTS[*number])).as_bytes())
}

pub(crate) fn all() -> String {
    definitions(EVENTS)
}

/// Returns a time in microseconds as seconds with six decimals.
pub(crate) fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

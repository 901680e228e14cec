//! Definitions of events, in as few words as tests can say them.

/// The header lines of events, each given as the number or word that stands for it in the trace, its name without
/// `Paje`, and its fields. A field is a string unless it says what it is: `"Time:date Type Container"`.
///
/// ```
/// let text = testkit::definitions([("pop", "PopState", "Time:date Type Container")]);
/// let fields = "% Time date\n% Type string\n% Container string\n";
/// assert_eq!(text, format!("%EventDef PajePopState pop\n{fields}%EndEventDef\n"));
/// ```
pub fn definitions<'d>(events: impl IntoIterator<Item = (&'d str, &'d str, &'d str)>) -> String {
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

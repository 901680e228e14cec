//! Names with quotes, control characters, markup and invalid UTF-8.

use paje_sim::Trace;
use pj_convert::Format;

use crate::perfetto;
use crate::traces::{converted, options};

const HEADER: &str = "\
%EventDef PajeDefineContainerType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Alias string\n% Type string\n% Name string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef
%EventDef PajePushState 4\n% Time date\n% Type string\n% Container string\n% Value string\n% Note string\n%EndEventDef
%EventDef PajePopState 5\n% Time date\n% Type string\n% Container string\n%EndEventDef
";

fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b"\"\x1b[2J\x1b]0;title\x07\""[..],
        b"\"\xff\xfe invalid \xc3\"",
        b"a\"quote\"s",
        b"},{\\\"ph\\\":\"",
        b"\"=1+1,'\\u0000\\\"",
        b"\"</script><b>\"",
        b"\"tab\there\x0b\"",
        b"NaN",
        "\"\u{202e}\u{2028}\u{feff}\"".as_bytes(),
    ]
    .map(<[u8]>::to_vec)
    .into();
    names.push(vec![b'x'; 1 << 20]);
    names.push([&b"\""[..], &[0xc3; 1 << 20], b"\""].concat());
    names
}

fn trace(name: &[u8]) -> Vec<u8> {
    let mut text = HEADER.as_bytes().to_vec();
    let mut line = |words: &[&[u8]]| {
        text.extend_from_slice(&words.join(&b' '));
        text.push(b'\n');
    };
    line(&[b"1 H 0", name]);
    line(&[b"2 S H", name]);
    line(&[b"3 0 h H 0", name]);
    line(&[b"4 0 S h", name, name]);
    line(&[b"5 1 S h"]);
    text
}

#[test]
fn hostile_names_stay_text() {
    for name in names() {
        let text = trace(&name);
        let given = Trace::read(&text[..], &options()).expect("a valid trace");
        let shown = given.states().next().expect("a state").value_name().to_string();
        let about: String = shown.chars().take(40).collect();

        let read = perfetto::read(&converted(&text, Format::Perfetto), &[]);
        let key = (shown.clone(), shown.clone());
        assert_eq!(read.shown.states.get(&key), Some(&(1, 1_000_000_000)), "{about}");
        assert_eq!(read.annotations, [(shown.clone(), "Note".into(), shown.clone())]);

        let file = converted(&text, Format::Chrome);
        let file: serde_json::Value = serde_json::from_slice(&file).expect("JSON");
        let events = file["traceEvents"].as_array().expect("a list");
        let slice = events.iter().find(|event| event["ph"] == "X").expect("a slice");
        assert_eq!(slice["name"], shown.as_str());
        assert_eq!(slice["args"]["Note"], shown.as_str());

        let file = String::from_utf8(converted(&text, Format::Pipit)).expect("UTF-8");
        assert_eq!(file.split_terminator('\n').count(), 3, "{about}");
        assert!(file.contains(&shown.replace('"', "\"\"")), "{about}");

        let normal = converted(&text, Format::Paje);
        let again = Trace::read(&normal[..], &options()).expect("a valid trace");
        let same =
            |trace: &Trace| trace.states().next().expect("a state").value_name().text.to_vec();
        assert!(same(&given) == same(&again), "{about}");
    }
}

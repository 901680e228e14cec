//! Chrome's trace events, parsed as JSON and compared with the rows.

use std::collections::HashMap;

use paje_sim::Trace;
use pj_convert::{Format, Losses};
use serde_json::Value;

use crate::perfetto::links;
use crate::rows::Shown;
use crate::traces::{all, converted_with, options};

fn nanoseconds(value: &Value) -> i64 {
    (value.as_f64().expect("a number") * 1000.0).round() as i64
}

fn read(file: &[u8], links: &[String]) -> Shown {
    let file: Value = serde_json::from_slice(file).expect("JSON");
    let text = |event: &Value, key: &str| event[key].as_str().expect("a text").to_owned();
    let (mut threads, mut processes) = (HashMap::new(), HashMap::new());
    let mut shown = Shown::default();
    let mut flows = HashMap::new();
    let events = file["traceEvents"].as_array().expect("a list");
    for event in events.iter().filter(|event| event["ph"] == "M") {
        let name = event["args"]["name"].as_str().unwrap_or_default().to_owned();
        let pid = event["pid"].as_u64().expect("a number");
        match event["name"].as_str().expect("a name") {
            "process_name" => {
                let last = name.rsplit(" / ").next().unwrap_or_default().to_owned();
                processes.insert(pid, if last.is_empty() { "0".to_owned() } else { last });
            }
            "thread_name" => {
                threads.insert(event["tid"].as_u64().expect("a number"), name);
            }
            _ => {}
        }
    }
    for event in events.iter().filter(|event| event["ph"] != "M") {
        let thread = &threads[&event["tid"].as_u64().expect("a number")];
        let container = processes[&event["pid"].as_u64().expect("a number")].clone();
        let (name, at) = (text(event, "name"), nanoseconds(&event["ts"]));
        match event["ph"].as_str().expect("a kind") {
            "X" if links.contains(thread) => {}
            "X" => {
                let (count, sum) = shown.states.entry((thread.clone(), name)).or_default();
                *count += 1;
                *sum += nanoseconds(&event["dur"]);
            }
            "i" => shown.events.push((container, thread.clone(), at, name)),
            "C" => {
                let value = event["args"]["value"].as_f64().expect("a number");
                shown.variables.push((container, name, at, value));
            }
            "s" => assert!(flows.insert(event["id"].as_u64().expect("a number"), at).is_none()),
            "f" => {
                let start = flows.remove(&event["id"].as_u64().expect("a number"));
                assert!(start.expect("the start precedes the end") <= at);
                shown.links += 1;
            }
            kind => panic!("no such kind: {kind}"),
        }
    }
    assert!(flows.is_empty());
    shown.in_order()
}

#[test]
fn every_row_is_written() {
    for (name, text) in all() {
        let trace = Trace::read(&text[..], &options()).expect("valid");
        let expected = Shown::of(&trace);
        let links = links(&trace);
        if links.iter().any(|link| expected.states.keys().any(|(type_, _)| type_ == link)) {
            continue;
        }
        let (file, losses) = converted_with(&text, Format::Chrome, options(), 1);
        let shown = read(&file, &links);
        let is_long = |at: i64| at.abs() > 1 << 50;
        let too_long = expected.states.values().any(|(_, sum)| is_long(*sum))
            || expected.events.iter().any(|event| is_long(event.2))
            || expected.variables.iter().any(|variable| is_long(variable.2));
        if losses == Losses::default() && !too_long {
            assert_eq!(shown, expected, "{name}");
        } else {
            assert_eq!(shown.links, expected.links, "{name}");
        }
    }
}

#[test]
fn a_trace_without_rows_is_valid_json() {
    let text = b"%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef\n";
    let (file, _) = converted_with(text, Format::Chrome, options(), 1);
    let value: Value = serde_json::from_slice(&file).expect("JSON");
    assert_eq!(value["traceEvents"], Value::Array(Vec::new()));
}

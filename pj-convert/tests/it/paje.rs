//! Normalised traces have the rows of the originals and are sorted by time.

use paje_sim::{Trace, TypeNature};
use pj_convert::Format;
use pj_equals::exact::{Rules, compare};

use crate::traces::{all, converted, converted_with, each_annotated, options};

fn difference_of(a: &Trace, b: &Trace) -> String {
    let rules = Rules::default();
    let found = compare([a, b], &rules, 3);
    let mut text = Vec::new();
    if !found.is_none() {
        found.write([a, b], &rules, ["given", "normalised"], &mut text).expect("memory");
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn normalised_traces_equal_the_originals() {
    for (name, text) in all() {
        let normal = converted(&text, Format::Paje);
        let given = Trace::read(&text[..], &options()).expect("valid");
        // The default options must suffice to read the converted trace.
        let mut options = options();
        options.field_names = paje_sim::FieldNames::Strict;
        options.ignore_incomplete_links = false;
        let again = match Trace::read(&normal[..], &options) {
            Ok(again) => again,
            Err(error) => panic!("{name}: {error}\n{}", String::from_utf8_lossy(&normal)),
        };
        let difference = difference_of(&given, &again);
        assert_eq!(difference, "", "{name}:\n{}", String::from_utf8_lossy(&normal));
        let is_wild = name.starts_with("seed");
        assert!(is_wild || again.warnings().is_empty(), "{name}: {:?}", again.warnings());
    }
}

#[test]
fn user_defined_fields_and_colours_are_kept() {
    for (name, text) in all() {
        let given = Trace::read(&text[..], &options()).expect("valid");
        let normal = converted(&text, Format::Paje);
        let again = Trace::read(&normal[..], &options()).expect("valid");
        // Rows with their fields and the colours of their values, sorted.
        let rows = |trace: &Trace| {
            let mut rows = Vec::new();
            each_annotated(trace, |lane, start, value, all, i| {
                if lane.nature() == TypeNature::Variable {
                    return;
                }
                let mut row = format!("{} {} {start}", lane.container_name(), lane.type_name());
                for (field, text) in all.of(i) {
                    let text = paje_parser::Field::new(text).bare();
                    row.push_str(&format!(" {field}={}", String::from_utf8_lossy(text)));
                }
                if let Some(value) = value.filter(|_| lane.nature() == TypeNature::State) {
                    let color = trace.types().value_color(lane.type_id(), value);
                    row.push_str(&format!(" {} {color:?}", lane.value_name(value)));
                }
                rows.push(row);
            });
            rows.sort();
            rows
        };
        assert_eq!(rows(&given), rows(&again), "{name}");
    }
}

#[test]
fn lines_are_sorted_by_time() {
    let text = include_bytes!("../../../datasets/examples/unsorted.trace");
    let mut sorted = options();
    sorted.sort = true;
    let normal = converted_with(text, Format::Paje, sorted, 1).0;
    let normal = String::from_utf8(normal).expect("text");
    let mut definitions: Vec<Vec<&str>> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    let mut seen = 0;
    for line in normal.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "%EventDef" => definitions.push(Vec::new()),
            "%" => definitions.last_mut().expect("a definition").push(words[1]),
            "%EndEventDef" => {}
            number => {
                let fields = &definitions[number.parse::<usize>().expect("a number")];
                if fields[0] == "Time" {
                    let time: f64 = words[1].parse().expect("a time");
                    assert!(time >= last, "{line}");
                    (last, seen) = (time, seen + 1);
                }
            }
        }
    }
    assert!(seen > 10);
}

#[test]
fn a_value_set_after_the_end_of_its_container_is_kept() {
    let text = "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeDefineVariableType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeCreateContainer 2\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef\n\
         %EventDef PajeDestroyContainer 3\n% Time date\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeSetVariable 4\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
         0 H 0 Host\n1 V H load\n1 W H heat\n2 0 h H 0 host\n4 1 V h 10\n4 5 V h 20\n4 3 W h 1\n3 3 H h\n";
    let normal = converted(text.as_bytes(), Format::Paje);
    let [given, again] =
        [text.as_bytes(), &normal[..]].map(|text| Trace::read(text, &options()).expect("valid"));
    assert_eq!((given.counts().variables, again.counts().variables), (3, 3));
    assert!(again.warnings().is_empty(), "{}", String::from_utf8_lossy(&normal));
}

#[test]
fn leading_comments_are_kept() {
    let text = include_bytes!("../../../datasets/examples/mpi.trace");
    let commented = [b"#one\n# two\n", &text[..]].concat();
    let normal = converted(&commented, Format::Paje);
    assert!(normal.starts_with(b"# one\n# two\n"), "{}", String::from_utf8_lossy(&normal[..100]));
}

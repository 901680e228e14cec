//! Tests traces with thousands of values that are used once or twice. See `Decoder::is_crowded`.

use std::collections::HashSet;

use paje_sim::{Limits, Options, Progress, Source, Trace, ValueNames};

const EVENTS: [(&str, &str, &str); 10] = [
    ("0", "DefineContainerType", "Name Type"),
    ("1", "DefineStateType", "Name Type"),
    ("2", "DefineEventType", "Name Type"),
    ("3", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ("4", "DefineEntityValue", "Alias Type Name"),
    ("5", "CreateContainer", "Time:date Name Type Container"),
    ("6", "SetState", "Time:date Type Container Value"),
    ("7", "NewEvent", "Time:date Type Container Value"),
    ("8", "StartLink", "Time:date Type Container Value StartContainer Key"),
    ("9", "EndLink", "Time:date Type Container Value EndContainer Key"),
];

const WORLD: &str = "\
0 P 0
1 S P
2 E P
3 L 0 P P
5 0 p P 0
5 0 q P 0
";

/// Returns the text of the value in use `i`, and the value's name.
fn value(i: u32) -> (String, String) {
    match i % 5 {
        0 => (format!("a{i}"), format!("Task {i}")),
        1 => (format!("v{i}"), format!("v{i}")),
        2 => (format!("\"w {i}\""), format!("w {i}")),
        3 => (format!("a-name-of-more-than-sixteen-bytes-{i}"), format!("Long {i}")),
        // The same value is used again some lines later.
        _ => (format!("again{}", i / 50), format!("again{}", i / 50)),
    }
}

/// Returns a trace that uses values `uses` times, and the names of the used values for states, events and links.
fn trace(uses: u32) -> (String, [Vec<String>; 3]) {
    let mut text = testkit::definitions(EVENTS) + WORLD;
    let mut names = [const { Vec::new() }; 3];
    let mut defined = HashSet::new();
    for i in 0..uses {
        // In the middle of the trace, a few values are used many times.
        let few = (uses / 2..uses / 2 + uses / 4).contains(&i);
        let (word, name) = value(if few { i % 7 } else { i });
        if word.trim_matches('"') != name && defined.insert(word.clone()) {
            for type_ in ["S", "E", "L"] {
                text += &format!("4 {word} {type_} \"{name}\"\n");
            }
        }
        let (nature, at) = ((i / 3 % 3) as usize, i / 4);
        match nature {
            0 => text += &format!("6 {at} S p {word}\n"),
            1 => text += &format!("7 {at} E q {word}\n"),
            _ => {
                text += &format!("8 {at} L 0 {word} p k{i}\n");
                text += &format!("9 {at} L 0 {word} q k{i}\n");
            }
        }
        names[nature].push(name);
    }
    (text, names)
}

#[test]
fn each_use_has_its_name() {
    // This is enough for decoders to restart many times.
    let (text, names) = trace(30_000);
    for (threads, block, value_names) in [
        (1, 1 << 15, ValueNames::Bare),
        (1, 1 << 12, ValueNames::AsWritten),
        (3, 1 << 13, ValueNames::Bare),
        (2, 1 << 15, ValueNames::AsWritten),
    ] {
        let workers = testkit::team(threads);
        let mut options = Options::default();
        options.limits = Limits { block, ..Limits::default() };
        options.decoder_symbols = 1000;
        options.value_names = value_names;
        let source = Source::stream(text.as_bytes());
        let trace = Trace::read_with(source, &options, &workers, &Progress::default()).unwrap();
        let found: [Vec<String>; 3] = [
            trace.states().map(|row| row.value_name().to_string()).collect(),
            trace.events().map(|row| row.value_name().to_string()).collect(),
            trace.links().map(|row| row.value_name().to_string()).collect(),
        ];
        assert!(found == names, "{threads} threads, blocks of {block}");
    }
}

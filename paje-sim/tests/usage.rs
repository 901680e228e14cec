//! Usage of a trace's definitions.

use std::ops::ControlFlow;

use paje_sim::{Limits, Options, Progress, Source, Trace};
use paje_workers::Workers;
use testkit::{definitions, teams};

const EVENTS: [(&str, &str, &str); 10] = [
    ("0", "DefineContainerType", "Name Type"),
    ("1", "DefineStateType", "Name Type"),
    ("2", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ("3", "DefineEntityValue", "Name Type Color:color"),
    ("4", "CreateContainer", "Time:date Name Type Container"),
    ("5", "SetState", "Time:date Type Container Value"),
    ("6", "PopState", "Time:date Type Container"),
    ("7", "ResetState", "Time:date Type Container"),
    ("8", "StartLink", "Time:date Type Container Value StartContainer Key"),
    ("9", "EndLink", "Time:date Type Container Value EndContainer Key"),
];

const WORLD: &str = "\
0 H 0
1 S H
2 L 0 H H
3 used L \"0 0 0\"
3 used S \"0 0 0\"
3 never S \"0 0 0\"
4 0 h H 0
4 0 \"other host\" H 0
5 2 S h used
5 3 S \"other host\" new
7 4 S h
";

fn trace(lines: &str) -> String {
    format!("{}{WORLD}{lines}", definitions(EVENTS))
}

/// Replays a trace in portions and with several sizes of blocks, and checks that the results are equal. Returns the
/// last trace.
fn replayed(text: &str, teams: &[Workers]) -> Trace {
    let mut last: Option<Trace> = None;
    for workers in teams {
        for (block, portion) in [(64, 300), (1 << 17, 1 << 24), (200, 1 << 24)] {
            let mut options = Options::default();
            options.usage = true;
            options.limits = Limits { block, ..options.limits };
            options.decoder_symbols = 4;
            let (source, progress) = (Source::stream(text.as_bytes()), Progress::default());
            let mut show = |_: &paje_sim::Portion<'_>| ControlFlow::Continue(());
            let trace =
                Trace::read_in_portions(source, &options, workers, &progress, portion, &mut show);
            let trace = trace.expect("a sound trace");
            if let Some(last) = &last {
                assert_eq!(format!("{:?}", last.usage()), format!("{:?}", trace.usage()), "{text}");
            }
            last = Some(trace);
        }
    }
    last.expect("a team")
}

#[test]
fn used_and_unused_definitions() {
    let text = trace("");
    let trace = replayed(&text, &teams::<3>());
    let usage = trace.usage().expect("usage is kept");
    let used: Vec<usize> = (0..EVENTS.len()).filter(|def| usage.is_event_used(*def)).collect();
    assert_eq!(used, [0, 1, 2, 3, 4, 5, 7]);
    let types = trace.types();
    let states = types.find(b"S").expect("the type of states");
    let used: Vec<&[u8]> = types
        .values(states)
        .filter(|value| usage.is_value_used(states, *value))
        .map(|value| types.value_name(states, value).text)
        .collect();
    assert_eq!(used, [&b"used"[..], b"new"]);
    assert_eq!((usage.first_time(), usage.open_states(), usage.definitions()), (Some(0.0), 1, 3));
    let begin = |line: &str| text.find(line).expect("line exists") as u64;
    let (type_, value) = (begin("2 L 0 H"), begin("3 never"));
    assert_eq!((usage.definitions_to(), usage.values_to()), (type_ + 1, value + 1));
    assert!(usage.ends_with_newline());
    assert!(!usage.is_doubtful());
    let options = Options::default();
    assert!(Trace::read(text.as_bytes(), &options).expect("a sound trace").usage().is_none());
}

#[test]
fn doubtful_traces() {
    let teams = teams::<2>();
    let is_doubtful =
        |lines: &str| replayed(&trace(lines), &teams).usage().expect("usage is kept").is_doubtful();
    let link = "8 5 L 0 used h k\n9 6 L 0 used h k\n";
    assert!(!is_doubtful(link));
    for lines in [
        "5 5 \"S\" h used\n",
        "5 5 S \"h\" used\n",
        "5 5 S h \"unclosed\n",
        "5 5 S h used more\n",
        "4 5 again \"H\" 0\n",
        "4 5 again H \"0\"\n",
        "3 again \"S\" \"0 0 0\"\n",
        "8 7 L 0 used \"h\" l\n9 8 L 0 used h l\n",
        "8 7 L 0 used h k\n9 8 L 0 used h k\n",
    ] {
        assert!(is_doubtful(&format!("{link}{lines}")), "{lines}");
    }
    let open = format!("{link}5 5 S h new\n5 6 S h \"new\"\n");
    let open = replayed(&trace(&open), &teams);
    let usage = open.usage().expect("usage is kept");
    assert!(usage.has_open_spellings() && !usage.is_doubtful() && !open.is_plain());
}

/// Events whose values are quoted differently than in their definition are counted, but do not make a trace doubtful.
#[test]
fn values_in_other_quotes() {
    let lines = "8 5 L 0 used h k\n9 6 L 0 used h k\n5 6 S h \"used\"\n5 6 S h used\n5 7 S h \"used\"\n8 7 L 0 \"used\" h l\n9 8 L 0 \"used\" h l\n";
    let text = trace(lines);
    let trace = replayed(&text, &teams::<2>());
    let usage = trace.usage().expect("usage is kept");
    assert!(!usage.is_doubtful());
    let types = trace.types();
    let found: Vec<_> = usage
        .other_quoting()
        .map(|(type_, events)| (types.name(type_).text, events.count, events.first))
        .collect();
    let line = |line: &str| text.find(line).expect("line exists") as u64;
    assert_eq!(found, [(&b"S"[..], 2, line("5 6 S")), (b"L", 2, line("8 7 L"))]);
}

//! Tests long lines of events with unused fields. Only the heads of such lines are decoded, unless
//! the fields are kept. Both ways must give the same result.

use paje_sim::{Options, Progress, Row, Source, Trace};
use testkit::Rng;

const EVENTS: [(&str, &str, &str); 9] = [
    ("0", "DefineContainerType", "Name Type"),
    ("1", "DefineStateType", "Name Type"),
    ("2", "DefineVariableType", "Name Type"),
    ("3", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
    ("4", "CreateContainer", "Time:date Name Type Container"),
    ("5", "SetState", "Time:date Type Container Value A:string B:string C:int D:string E:string"),
    ("6", "SetVariable", "Time:date Type Container Value A:string"),
    ("7", "StartLink", "Time:date Type Container Value StartContainer Key A:string"),
    ("8", "EndLink", "Time:date Type Container Value EndContainer Key A:string B:string"),
];

const WORLD: &str = "0 P 0\n1 S P\n2 V P\n3 L 0 P P\n4 0 p P 0\n4 0 q P 0\n";

const LONG: &str = "a-field-that-is-by-itself-as-long-as-most-lines-are-in-all";

/// Returns a trace of valid lines. Each line is slightly different, and most lines are long.
fn trace(lines: u64) -> String {
    let mut text = testkit::definitions(EVENTS) + WORLD;
    let mut rng = Rng::new(14);
    for i in 0..lines {
        let mut gap = || ["\t", " ", " ", "  "][rng.index(4)];
        let (one, two) = (gap(), gap());
        let (container, value) = (["p", "q"][i as usize % 2], i % 5);
        let quoted = ["v", "\"v w\"", "name-of-more-than-sixteen-bytes"][i as usize % 3];
        let long = &LONG[..(i as usize * 7) % LONG.len() + 1];
        text += &match i % 4 {
            0 => format!("5 {i}.5{one}S {container} {quoted} {long} \"\" {i}{two}\"x y\" z\n"),
            1 => format!("6 {i} V{two}{container} {value}.25 {LONG}\n"),
            2 => format!("7 {i}{one}L 0 {value} p k{} {LONG}{two}\n", i / 4),
            _ => format!("8 {i} L 0 {} q k{}{one}{long} {LONG}\r\n", (i - 1) % 5, i / 4),
        };
    }
    text
}

fn rows(trace: &Trace) -> Vec<String> {
    let row = |row: Row<'_>| {
        let (lane, start, end) = (row.lane()?.container(), row.start(), row.end());
        match row {
            Row::State(it) => Some(format!("{lane:?} {start} {end} {:?}", it.value_name())),
            Row::Variable(it) => Some(format!("{lane:?} {start} {}", it.value)),
            Row::Link(it) => Some(format!("{lane:?} {start} {end} {:?}", it.value_name())),
            Row::Container(_) | Row::Event(_) => None,
        }
    };
    trace.rows().filter_map(row).collect()
}

/// Returns the rows and the warnings, or the problem and its position.
fn replay(text: &str, user_defined: bool) -> Result<(Vec<String>, String), String> {
    let mut options = Options::default();
    options.user_defined = user_defined;
    let (source, progress) = (Source::stream(text.as_bytes()), Progress::default());
    let trace = Trace::read_with(source, &options, &paje_workers::Workers::one(), &progress);
    let trace = trace.map_err(|error| error.to_string())?;
    Ok((rows(&trace), format!("{:?}", trace.warnings())))
}

#[test]
fn heads_are_enough() {
    let text = trace(4000);
    let (rows, warnings) = replay(&text, false).unwrap();
    // There are two lines for each link.
    assert_eq!(rows.len(), 4000 / 4 * 3);
    assert_eq!(replay(&text, true), Ok((rows, warnings)));
}

#[test]
fn all_fields_must_be_there() {
    let text = trace(400);
    for (number, line) in text.lines().enumerate().skip(350) {
        let (head, last) = line.trim_end().rsplit_once([' ', '\t']).unwrap();
        for changed in [head.to_owned(), format!("{line} {last}"), format!("{head}  # {last}")] {
            let lines = text.lines().enumerate();
            let lines = lines.map(|(at, line)| if at == number { &changed } else { line });
            let text = lines.fold(String::new(), |text, line| text + line + "\n");
            assert_eq!(replay(&text, false), replay(&text, true), "{changed:?}");
        }
    }
}

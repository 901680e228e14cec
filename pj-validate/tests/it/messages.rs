//! Every message, as it is shown. `PAJE_BLESS=1 cargo test -p pj-validate` writes the
//! file of expected messages anew.

use std::collections::BTreeSet;
use std::path::Path;

use pj_validate::report::{Human, Styles};
use pj_validate::{Options, Report, Rules, check, kinds};
use testkit::assert_recorded;

use crate::world::{SOUND, header, trace};

/// Cases: the subject of each, and the lines that follow the world of `world.rs`.
const CASES: &[(&str, &str)] = &[
    ("a sound trace", SOUND),
    // The line by itself.
    ("an event number without a definition", "99 0 State p w\n99 1 State p w\n"),
    ("a line that ends too early", "10 0 State\n10 0 State\n11 1\n"),
    (
        "a time that is none",
        "10 zz State p w\n10 1.5abc State p w\n10 inf State p w\n10 nan State p w\n",
    ),
    (
        "a value that is no number",
        "14 0 Load p junk\n14 0 Load p NA\n14 1 Load p NA\n14 2 Load p nan\n",
    ),
    ("a colour that is none", "6 a State A purple\n6 b State B \"1 0\"\n6 c State C ff00ff\n"),
    ("more words than fields", "10 0 State p w too many\n10 1 State p w again\n8 2 Process p\n"),
    ("fewer words than fields", "20 0 State p w 1\n20 1 State p w\n8 2 Process p\n"),
    ("a quote that is not closed", "10 0 State p \"work in progress\n8 2 Process p\n"),
    // Definitions of events.
    ("a stray percent line", "% Time date\n%EndEventDef\n"),
    ("a definition without a number", "%EventDef PajeSetState\n% Time date\n%EndEventDef\n"),
    (
        "an event that the format does not know",
        "%EventDef PajeSetStatus 50\n% Time date\n%EndEventDef\n50 1\n50 2\n",
    ),
    (
        "a number defined twice",
        "%EventDef PajeSetState 10\n% Time date\n%EndEventDef\n10 0 State p w\n13 9 State p\n",
    ),
    (
        "a definition inside a definition",
        "%EventDef PajePopState 51\n% Time date\n% Type string\n% Container string\n%EventDef PajePopState 52\n% Time date\n% Type string\n% Container string\n%EndEventDef\n11 0 State p w\n11 0 State p v\n51 1 State p\n52 2 State p\n",
    ),
    (
        "a field without a type",
        "%EventDef PajePopState 53\n% Time date\n% Type\n% Container string\n%EndEventDef\n11 0 State p w\n53 1 State p\n",
    ),
    (
        "a field of unknown type",
        "%EventDef PajePopState 54\n% Time dated\n% Type string\n% Container string\n%EndEventDef\n11 0 State p w\n54 1 State p\n",
    ),
    (
        "a field without a name",
        "%EventDef PajePopState 54\n% \"\" string\n% Time date\n% Type string\n% Container string\n%EndEventDef\n11 0 State p w\n54 x 1 State p\n",
    ),
    (
        "a name that begins like the end of a definition",
        "%EventDef PajePopState 56\n% \"EndEventDef x\" dated\n% Time date\n% Type string\n\
         % Container string\n%EndEventDef\n11 0 State p w\n56 x 1 State p\n",
    ),
    (
        "a field named twice",
        "%EventDef PajePopState 55\n% Time date\n% Time date\n% Type string\n% Container string\n%EndEventDef\n11 0 State p w\n55 1 1 State p\n",
    ),
    (
        "a definition that lacks a field",
        "%EventDef PajePopState 56\n% Time date\n% EntityType string\n% Container string\n%EndEventDef\n56 1 State p\n",
    ),
    (
        "an event inside a definition",
        "%EventDef PajePopState 57\n% Time date\n% Type string\n% Container string\n11 0 State p w\n57 1 State p\n",
    ),
    ("the end of the trace inside a definition", "%EventDef PajePopState 58\n% Time date\n"),
    // Types and values.
    (
        "an unknown type",
        "10 0 Status p w\n10 1 Status p w\n2 Mode Machine\n10 2 Mode p w\n5 Flow Host Process Task\n",
    ),
    ("a type defined twice", "2 State Process\n2 Host 0\n"),
    ("a type named 0", "2 0 Process\n1 Zero Process 0\n"),
    (
        "a type in a type that is no container type",
        "2 Mode State\n5 Flow Host Process Load\n7 0 s State p\n10 0 State s w\n",
    ),
    (
        "an event with a type of another nature",
        "14 0 State p 1\n14 1 State p 1\n10 0 Mark p w\n10 0 Process p w\n17 0 State h w p k\n",
    ),
    (
        "a link type without a common ancestor",
        "0 Disk Host\n5 Copy Disk Process Process\n5 Move Host Disk Process\n",
    ),
    ("a value of a type that has none", "6 v Load high ff0000\n6 v Process high ff0000\n"),
    (
        "a value defined twice",
        "6 v State high ff0000\n6 v State higher ff0000\n10 0 State p used\n6 used State late ff0000\n13 1 State p\n",
    ),
    // Containers.
    (
        "an unknown container",
        "10 0 State r w\n10 1 State r w\n10 0 State P w\n7 0 t Process host\n10 0 State t w\n8 1 Process nobody\n13 1 State t\n17 0 Message h w nobody k\n",
    ),
    ("a container created twice", "7 0 p Process h\n"),
    ("a container named 0", "7 0 0 Process h\n"),
    (
        "a type that does not belong to the container",
        "10 0 State h w\n10 1 State h w\n7 0 r Process p\n10 0 State r w\n13 1 State r\n",
    ),
    ("a container destroyed as of another type", "8 1 Host p\n"),
    (
        "a container at the wrong end of a link",
        "17 0 Message h data h k1\n18 0 Message h data h k1\n",
    ),
    (
        "a container destroyed before its last event",
        "10 5 State p w\n8 4 Process p\n8 4.5 Process p\n10 6 State p w\n",
    ),
    (
        "events for a destroyed container",
        "8 1 Process p\n10 2 State p w\n10 3 State p w\n8 3 Process p\n7 2 r Process h\n8 3 Host h\n10 4 State r w\n",
    ),
    // Lanes.
    (
        "events that are not in time order",
        "10 5 State p w\n10 4 State p w\n10 3 State p w\n14 5 Load p 1\n14 4 Load p 1\n9 5 Mark q here\n9 4 Mark q here\n8 6 Process p\n",
    ),
    ("a pop without a push", "12 0 State p\n11 1 State p w\n12 2 State p\n12 3 State p\n"),
    ("a pop that is also too early", "11 5 State p w\n12 6 State p\n12 3 State p\n"),
    (
        "the last row counts for the order",
        "11 1 State p a\n11 2 State p b\n12 3 State p\n12 4 State p\n11 3.5 State p c\n12 3.6 State p\n11 3.5 State p d\n",
    ),
    ("a variable that is not set", "15 0 Load p 1\n16 1 Load p 1\n16 0 Load q 1\n"),
    (
        "a key used again",
        "17 0 Message h d p k\n18 1 Message h d q k\n17 2 Message h d p k\n18 3 Message h d q k\n",
    ),
    (
        "a key started twice",
        "17 0 Message h d p k\n17 1 Message h d p k\n18 2 Message h d q k\n18 0 Message h d p l\n18 1 Message h d p l\n17 2 Message h d q l\n",
    ),
    ("a link whose ends differ in value", "17 0 Message h d p k\n18 1 Message h e q k\n"),
    (
        "links that are not in time order",
        "17 0 Message h d p k\n18 5 Message h d q k\n17 0 Message h d p l\n18 4 Message h d q l\n",
    ),
    ("a link that ends before it starts", "17 5 Message h d p k\n18 3 Message h d q k\n"),
    ("links open at the end of the trace", "17 0 Message h d p b\n17 1 Message h d p a\n"),
    (
        "a link open at the end of its container",
        "17 0 Message h d p k\n8 1 Host h\n18 2 Message h d q k\n",
    ),
    (
        "more open links than are listed",
        "17 0 Message h d p 1\n17 0 Message h d p 2\n17 0 Message h d p 3\n17 0 Message h d p 4\n17 0 Message h d p 5\n17 0 Message h d p 6\n17 0 Message h d p 7\n17 0 Message h d p 8\n17 0 Message h d p 9\n17 0 Message h d p 10\n17 0 Message h d p 11\n",
    ),
    (
        "names and aliases",
        "%EventDef PajeCreateContainer 70\n% Time date\n% Name string\n% Alias string\n% Type string\n% Container string\n%EndEventDef\n\
         %EventDef PajeDefineStateType 71\n% Name string\n% Alias string\n% Type string\n%EndEventDef\n\
         %EventDef PajeDefineEntityValue 72\n% Name string\n% Alias string\n% Type string\n% Color color\n%EndEventDef\n\
         71 \"MPI state\" 9 Process\n71 Same Same Process\n72 PMPI_Init 1 9 ff0000\n70 1 rank-1 33 Process h\n70 1 rank-1 33 Process h\n70 2 same same Process h\n\
         71 Again 9 Process\n71 Again Same Process\n72 Again 1 9 ff0000\n12 2 9 33\n12 2 Same same\n14 3 9 33 1\n10 3 9 h 1\n8 3 Host 33\n17 3 Message h w h k\n\
         10 4 9 33 1\n10 3 9 33 1\n10 4 9 33 \"1\"\n16 4 Load 33 1\n8 3 Process 33\n11 5 9 same 1\n11 5 9 33 w x\n10 5 9\n",
    ),
    // Findings that are only worth knowing.
    ("a file that is not read", "19 p Process part.trace\n"),
    (
        "names whose quotes come and go",
        "10 0 \"State\" \"p\" w\n10 1 State q \"w\"\n10 2 State \"q\" \"w\"\n8 3 Process p\n8 3 Process q\n",
    ),
    ("states that are never closed", "10 0 State p w\n11 1 State q w\n11 2 State q w\n"),
    ("definitions that nothing uses", "6 v State high ff0000\n6 u State higher ff0000\n"),
];

fn shown(trace: &[u8], options: &Options, unused: bool) -> (Report, String) {
    let report = check(trace, options).expect("memory can be read");
    let mut text = Vec::new();
    let mut human = Human::new(&mut text, vec!["t".into()], Styles::default());
    for finding in &report.findings {
        if unused || !finding.code().starts_with("unused") {
            human.finding(finding).expect("memory can be written");
        }
    }
    human.remarks(&report).expect("memory can be written");
    human.hint(&report).expect("memory can be written");
    human.finish().expect("memory can be written");
    let text = String::from_utf8(text).expect("reports are UTF-8");
    (report, text)
}

/// Every case with what is told of it.
fn all() -> (String, BTreeSet<&'static str>) {
    let mut text = String::from(
        "Every message of pj_validate, as tests/it/messages.rs makes it. Lines count from the beginning\n\
         of a trace with the definitions and the world of tests/it/world.rs.\n",
    );
    let mut codes = BTreeSet::new();
    let mut add = |title: &str, lines: &str, trace: &[u8], options: &Options| {
        let unused = title.contains("nothing uses");
        let (report, told) = shown(trace, options, unused);
        codes.extend(report.findings.iter().map(|finding| finding.code()));
        text.push_str(&format!("\n=== {title}\n{lines}---\n{told}"));
    };
    for (title, lines) in CASES {
        add(title, lines, trace(lines).as_bytes(), &Options::default());
    }
    add("an empty trace", "", b"", &Options::default());
    add("only definitions", "", header().as_bytes(), &Options::default());
    let mut short = Options::default();
    short.longest_line = 100;
    let long = format!("10 0 State p {}\n10 zz State p w\n", "w".repeat(100));
    add("a line that is too long", "", trace(&long).as_bytes(), &short);
    add(
        "not a trace at all",
        "",
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\n",
        &Options::default(),
    );
    let marked = [b"\xef\xbb\xbf", trace("").as_bytes()].concat();
    add("a byte order mark", "", &marked, &Options::default());
    let mut few = Options::default();
    few.max_findings = 2;
    add("more than was asked for", "", trace("98\n97\n96\n96\n95\n").as_bytes(), &few);
    (text, codes)
}

#[test]
fn every_message() {
    let (text, _) = all();
    assert_recorded(&text, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/messages.txt"));
}

#[test]
fn every_code_has_a_message() {
    // These need files.
    let of_files = ["unreadable-file", "file-cycle", "not-a-trace"];
    let known = kinds::ERRORS.into_iter().chain(kinds::WARNINGS);
    let wanted: BTreeSet<&str> = known.filter(|code| !of_files.contains(code)).collect();
    assert_eq!(all().1, wanted);
}

#[test]
fn a_replay_asks_for_less() {
    let lines = "0 Disk Host\n5 Copy Disk Process Process\n20 0 State p w 1\n";
    let mut options = Options::default();
    let strict = check(trace(lines).as_bytes(), &options).unwrap();
    assert_eq!(strict.errors, 2);
    options.rules = Rules::Replay;
    let replay = check(trace(lines).as_bytes(), &options).unwrap();
    assert!(replay.is_valid());
    assert!(replay.findings.iter().any(|f| f.code() == "missing-extras"));
}

#[test]
fn incomplete_links_can_be_passed_over() {
    let lines = "17 0 Message h d p k\n17 0 Message h d p l\n8 1 Host h\n";
    let mut options = Options::default();
    assert_eq!(check(trace(lines).as_bytes(), &options).unwrap().errors, 1);
    options.ignore_incomplete_links = true;
    assert!(check(trace(lines).as_bytes(), &options).unwrap().is_valid());
}

#[test]
fn old_field_names_are_read_if_asked_for() {
    let text = trace("").replace("% Type string", "% EntityType string");
    let mut options = Options::default();
    let report = check(text.as_bytes(), &options).unwrap();
    assert_eq!(report.first_error().unwrap().code(), "missing-obligatory-field");
    options.field_names = paje_parser::FieldNames::Old;
    assert!(check(text.as_bytes(), &options).unwrap().is_valid());
}

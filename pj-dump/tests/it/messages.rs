//! Every way in which a trace can be invalid, as the program tells it. `PAJE_BLESS=1 cargo test -p
//! pj-dump --test it` writes the file of expected messages anew.

use std::collections::BTreeSet;
use std::path::Path;

use paje_sim::{ErrorKind, Options, Trace};
use pj_validate::kinds;
use testkit::assert_recorded;

use crate::world::{dump, lines_before, said, trace};

/// Code of each problem, and the lines that follow the world of `world.rs`.
const CASES: &[(&str, &str)] = &[
    // Definitions of events.
    ("expected-eventdef", "% Time date\n"),
    ("expected-eventdef", "%EndEventDef\n"),
    ("expected-eventdef", "%EventDef PajeSetState\n"),
    ("unknown-event", "%EventDef PajeSetStatus 50\n% Time date\n%EndEventDef\n"),
    ("redefined-id", "%EventDef PajeSetState set\n% Time date\n%EndEventDef\n"),
    ("nested-definition", "%EventDef PajePopState 51\n% Time date\n%EventDef PajePopState 52\n"),
    ("missing-field-type", "%EventDef PajePopState 53\n% Time\n%EndEventDef\n"),
    ("unknown-field-type", "%EventDef PajePopState 54\n% Time dated\n%EndEventDef\n"),
    ("unknown-field-type", "%EventDef PajePopState 54\n% Type string\"\n%EndEventDef\n"),
    ("unnamed-field", "%EventDef PajePopState 54\n% \"\"  string\n%EndEventDef\n"),
    ("unknown-event", "%EventDef PajePopState\" 54\n"),
    ("repeated-field", "%EventDef PajePopState 55\n% Time date\n% Time date\n%EndEventDef\n"),
    (
        "missing-obligatory-field",
        "%EventDef PajePopState 56\n% Time date\n% EntityType string\n% Container string\n%EndEventDef\n",
    ),
    ("unfinished-definition", "%EventDef PajePopState 57\n% Time date\nset 0 S p a\n"),
    ("unfinished-definition", "%EventDef PajePopState 58\n% Time date\n"),
    // Lines by themselves.
    ("unknown-id", "\n# a comment\n  99 0 S p a\n"),
    ("missing-field", "set 0 S p # the value is missing\n"),
    ("bad-time", "set 1.5abc S p a\n"),
    ("bad-time", "set nan S p a\n"),
    ("bad-number", "vset 1 V p 3x\n"),
    ("bad-color", "value a S A \"1 0\"\n"),
    // Types and values.
    ("unknown-type", "set 0 Status p a\n"),
    ("unknown-type", "stype Mode Machine M\n"),
    ("type-exists", "stype Other P S\n"),
    ("reserved-type", "ctype Root P 0\n"),
    ("not-a-container-type", "stype Mode S M\n"),
    ("wrong-nature", "vset 0 S p 1\n"),
    ("wrong-nature", "set 0 P p a\n"),
    ("value-of-type", "value a V A 1,0,0\n"),
    ("value-exists", "set 0 S p a\nvalue a S A 1,0,0\n"),
    // Containers.
    ("unknown-container", "set 0 S \"nobody here\" a\n"),
    ("container-exists", "destroy 0 P p\ncreate 1 p P h\n"),
    ("reserved-container", "create_as 0 zero P h 0\n"),
    ("not-child-type", "set 0 S h a\n"),
    ("not-child-type", "create 0 r P p\n"),
    ("wrong-container-type", "destroy 0 H p\n"),
    ("destroyed-too-early", "set 5 S p a\ndestroy 4 P p\n"),
    // Lanes.
    ("not-time-ordered", "set 5 S p a\n\tset\t4\tS\tp\tb\n"),
    ("not-time-ordered", "event 5 E p a\nevent 4 E p b\n"),
    ("not-time-ordered", "vset 5 V p 1\nvadd 4 V p 1\n"),
    ("pop-on-empty", "push 0 S p a\npop 1 S p\npop 2 S p\n"),
    ("variable-unset", "vsub 0 V p 1\n"),
    // Links.
    ("wrong-link-end", "from 0 L h x h k\n"),
    ("wrong-link-end", "to 0 L h x h k\n"),
    ("not-time-ordered", "from 0 L h x p k\nto 5 L h x q k\nfrom 1 L h x p l\nto 4 L h x q l\n"),
    ("key-reused", "from 0 L h x p k\nto 1 L h x q k\nfrom 2 L h x p k\n"),
    ("key-repeated", "from 0 L h x p k\nfrom 1 L h x p k\n"),
    ("key-repeated", "to 0 L h x p k\nto 1 L h x p k\n"),
    ("link-values-differ", "from 0 L h x p k\nto 1 L h y p k\n"),
    ("open-links", "from 0 L h x p k\ndestroy 1 H h\n"),
    ("open-links", "from 0 L h x p k\nto 1 L h x q l\n"),
    // The line as it is shown.
    ("unknown-type", "set 0 \x1b[31m\u{202e}red p a\n"),
    (
        "unknown-container",
        "event 0 E nobody long_long_long_long_long_long_long_long_long_long_long_long_long_long_long_long_long_long\n",
    ),
    (
        "bad-number",
        "vset 0         V         p                                                                               x\n",
    ),
];

/// Codes that no trace of a few lines can have in a replay.
const ELSEWHERE: [&str; 3] = [
    // Lines of gigabytes: the engine's own tests set a lower limit.
    "line-too-long",
    // Checked by `pj_validate` only.
    "missing-extras",
    "no-common-ancestor",
];

fn code(trace: &[u8]) -> Option<&'static str> {
    match Trace::read(trace, &Options::default()).err()?.kind() {
        ErrorKind::Invalid(problem) => Some(problem.code()),
        _ => None,
    }
}

#[test]
fn every_message() {
    let mut text = format!(
        "Every message of pj_dump about an invalid trace, as tests/it/messages.rs makes it. The lines\n\
         follow the {} of the definitions and the world of tests/it/world.rs.\n",
        lines_before()
    );
    let mut add = |wanted: &str, lines: &str, trace: &[u8]| {
        let output = dump(&[], trace);
        let told = said(&output);
        assert_eq!(code(trace), Some(wanted), "{lines}{told}");
        assert_eq!(output.status.code(), Some(1), "{wanted}: {told}");
        assert!(output.stdout.is_empty(), "{wanted}: rows of an invalid trace");
        assert!(told.chars().all(|c| c == '\n' || !c.is_control()), "{told:?}");
        text.push_str(&format!("\n=== {wanted}\n{}---\n{told}", lines.escape_default_lines()));
    };
    for (code, lines) in CASES {
        add(code, lines, &trace(lines.as_bytes()));
    }
    add("empty-trace", "", b"");
    assert_recorded(&text, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/messages.txt"));
}

/// Lines fit for a file that people read.
trait EscapeLines {
    fn escape_default_lines(&self) -> String;
}

impl EscapeLines for str {
    fn escape_default_lines(&self) -> String {
        let shown = |c: char| match c {
            '\n' => "\n".to_string(),
            c if c.is_control() || c == '\u{202e}' => c.escape_default().to_string(),
            c => c.to_string(),
        };
        self.chars().map(shown).collect()
    }
}

#[test]
fn every_code_has_a_case() {
    // These need files.
    let of_files = ["unreadable-file", "file-cycle", "not-a-trace"];
    let all = kinds::ERRORS.into_iter().filter(|code| !of_files.contains(code));
    let mut cases: BTreeSet<&str> = CASES.iter().map(|(code, _)| *code).collect();
    cases.insert("empty-trace");
    cases.extend(ELSEWHERE);
    assert_eq!(cases, all.collect());
}

#[test]
fn planted_faults_are_reported_at_their_line() {
    for fault in datasets::invalid::Fault::ALL {
        for seed in 0..8 {
            let invalid = datasets::invalid::trace(fault, seed);
            let output = dump(&[], &invalid.bytes);
            let told = said(&output);
            assert_eq!(output.status.code(), Some(1), "{fault}, seed {seed}: {told}");
            assert!(output.stdout.is_empty(), "{fault}, seed {seed}");
            if let Some(line) = invalid.line {
                let place = format!("pj_dump: <stdin>:{line}:");
                assert!(told.contains(&place), "{fault}, seed {seed}, line {line}: {told}");
            }
        }
    }
}

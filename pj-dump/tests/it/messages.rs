//! All problems of traces, and their messages. `PAJE_BLESS=1 cargo test -p pj-dump --test it`
//! updates the expected ones.

use std::collections::BTreeSet;
use std::path::Path;

use paje_sim::{ErrorKind, Options, Trace};
use pj_validate::kinds;
use testkit::check_cases;

use crate::world::{dump, said, trace};

/// Codes of problems that do not occur in the replay of a short trace.
const ELSEWHERE: [&str; 6] = [
    // This problem needs a line of gigabytes. The engine's own tests set a lower limit.
    "line-too-long",
    // Only `pj_validate` checks for these problems.
    "missing-extras",
    "no-common-ancestor",
    // These need files.
    "unreadable-file",
    "file-cycle",
    "not-a-trace",
];

fn code(trace: &[u8]) -> Option<&'static str> {
    match Trace::read(trace, &Options::default()).err()?.kind() {
        ErrorKind::Invalid(problem) => Some(problem.code()),
        _ => None,
    }
}

/// The title of each case is the code of the problem. The lines of the case follow the common head.
#[test]
fn every_message_is_as_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/messages.txt");
    let mut codes = BTreeSet::new();
    check_cases(&path, |title, lines| {
        let lines = lines
            .replace("\\t", "\t")
            .replace("\\u{1b}", "\u{1b}")
            .replace("\\u{202e}", "\u{202e}");
        let trace = if title == "empty-trace" { Vec::new() } else { trace(lines.as_bytes()) };
        let output = dump(&[], &trace);
        assert_eq!(code(&trace), Some(title), "{lines}");
        assert_eq!(output.status.code(), Some(1), "{title}");
        assert!(output.stdout.is_empty(), "{title}: rows of an invalid trace");
        let message = said(&output);
        assert!(message.chars().all(|c| c == '\n' || !c.is_control()), "{message:?}");
        codes.insert(title.to_owned());
        message
    });
    codes.extend(ELSEWHERE.map(String::from));
    assert_eq!(codes, kinds::ERRORS.map(String::from).into());
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

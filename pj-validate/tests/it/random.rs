//! No input causes a panic. All reports have some properties in common.

use std::io::Read;

use datasets::mutate::{Change, mutated};
use pj_validate::{Disorder, Options, Report, Severity, check};
use proptest::prelude::*;

use crate::world::{SOUND, trace};

struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(1);
        (&mut self.0).take(count as u64).read(buffer)
    }
}

fn report(trace: &[u8], limit: usize) -> Report {
    let mut options = Options::default();
    options.max_findings = limit;
    check(trace, &options).unwrap()
}

fn holds(trace: &[u8]) {
    let all = report(trace, 0);
    let lines: Vec<&[u8]> = trace.split(|byte| *byte == b'\n').collect();
    for finding in &all.findings {
        assert!(!finding.cause.to_string().is_empty());
        let Some(position) = finding.position else {
            continue;
        };
        let line = lines[position.line as usize - 1];
        let before: usize =
            lines[..position.line as usize - 1].iter().map(|line| line.len() + 1).sum();
        assert_eq!(position.byte.0, before as u64 + position.column - 1, "{finding:?}");
        assert!(position.column as usize <= line.len() + 1, "{finding:?}");
        assert!(finding.last_line >= position.line && finding.count > 0);
        if let Some(excerpt) = &finding.excerpt {
            let _ = excerpt.shown(position.column, finding.width);
            assert!(line[excerpt.skipped as usize..].starts_with(&excerpt.text));
        }
    }
    let bytes = |finding: &pj_validate::Finding| finding.position.map(|p| p.byte);
    let placed: Vec<_> = all.findings.iter().filter_map(bytes).collect();
    assert!(placed.is_sorted());
    let sum = |severity| -> u64 {
        let of = all.findings.iter().filter(|finding| finding.severity == severity);
        of.map(|finding| finding.count).sum()
    };
    assert_eq!((sum(Severity::Error), sum(Severity::Warning)), (all.errors, all.warnings));
    assert_eq!(all.is_valid(), all.first_error().is_none());
    let early = all.findings.iter().filter(|finding| finding.code() == "not-time-ordered");
    let lanes = early.clone().count() as u64;
    let events = early.map(|finding| finding.count).sum();
    assert_eq!(all.disorder, Disorder { events, lanes });

    // A limit hides findings, but changes neither the counts nor the first error.
    let few = report(trace, 1);
    assert_eq!((few.errors, few.warnings), (all.errors, all.warnings));
    assert_eq!(few.disorder, all.disorder);
    assert_eq!(
        few.first_error().map(|f| (f.position, f.code())),
        all.first_error().map(|f| (f.position, f.code()))
    );
    let listed: u64 = few.findings.iter().map(|finding| finding.count).sum();
    assert_eq!(listed + few.unlisted_errors + few.unlisted_warnings, all.errors + all.warnings);

    let slow = check(Slow(trace), &Options::default()).unwrap();
    assert_eq!(format!("{slow:?}"), format!("{:?}", report(trace, Options::MAX_FINDINGS)));
}

proptest! {
    #[test]
    fn any_bytes_can_be_checked(trace in proptest::collection::vec(any::<u8>(), 0..600)) {
        holds(&trace);
    }

    #[test]
    fn likely_bytes_can_be_checked(trace in "(%|%EventDef|%EndEventDef|PajeSetState|PajeDefineStateType|Name|Type|string|date|[0-3]|\"|#|[ \n]){0,80}") {
        holds(trace.as_bytes());
    }

    #[test]
    fn changed_traces_can_be_checked(changes in proptest::collection::vec(any::<(u8, u16, u16)>(), 1..12)) {
        let change = |(what, line, number)| Change { what, line, number };
        let changes: Vec<Change> = changes.into_iter().map(change).collect();
        holds(&mutated(trace(SOUND).as_bytes(), &changes));
    }
}

#[test]
fn the_unchanged_trace_is_sound() {
    assert!(report(trace(SOUND).as_bytes(), 0).is_valid());
}

//! Verdicts of the replay and the checker on a trace. The fuzzer uses them too.

#![allow(unreachable_pub, reason = "the fuzzer's crate exports them")]

use paje_sim::{Error, ErrorKind, Options, Progress, Source, Trace};
use paje_workers::Workers;
use pj_dump::output::Style;
use pj_dump::output::export::{Written, write_rows};
use pj_validate::{Rules, Severity, check};

/// The first error: line, column, code and sentence.
pub type Verdict = Result<(), (Option<(u64, u64)>, &'static str, String)>;

/// Returns the verdict of the checker.
pub fn checked(trace: &[u8], options: &Options, rules: Rules) -> Verdict {
    let mut all = pj_validate::Options::default();
    all.rules = rules;
    all.field_names = options.field_names;
    all.ignore_incomplete_links = options.ignore_incomplete_links;
    let report = check(trace, &all).expect("memory can be read");
    match report.findings.iter().find(|finding| finding.severity == Severity::Error) {
        None => Ok(()),
        Some(first) => {
            let place = first.position.map(|at| (at.line, at.column));
            Err((place, first.code(), first.cause.to_string()))
        }
    }
}

/// Returns the trace and the verdict of the replay.
pub fn replayed(trace: &[u8], options: &Options, workers: &Workers) -> (Option<Trace>, Verdict) {
    let source = Source::stream(trace);
    verdict(Trace::read_with(source, options, workers, &Progress::default()))
}

pub fn verdict(result: Result<Trace, Error>) -> (Option<Trace>, Verdict) {
    match result {
        Ok(trace) => (Some(trace), Ok(())),
        Err(error) => {
            let ErrorKind::Invalid(problem) = error.kind() else {
                panic!("memory can be read: {error}");
            };
            let place = error.position().map(|at| (at.line, at.column));
            (None, Err((place, problem.code(), problem.to_string())))
        }
    }
}

/// Returns the rows of a trace.
pub fn rows(trace: &Trace, style: Style, workers: &Workers) -> Vec<u8> {
    let mut out = Vec::new();
    write_rows(trace, style, workers, &mut out, &Written::default())
        .expect("memory can be written");
    out
}

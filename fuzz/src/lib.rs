//! What the targets share.

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use paje_sim::{ErrorKind, FieldNames, Options, Progress, Source, Trace};
use paje_validate::{Rules, Severity, check};
use workers::{Pin, Workers};

/// What is wrong first: line, column, code and sentence.
pub type Verdict = Result<(), (Option<(u64, u64)>, &'static str, String)>;

/// Options drawn from a byte of the input.
pub fn options(byte: u8) -> Options {
    let mut options = Options::default();
    if byte & 1 != 0 {
        options.field_names = FieldNames::Old;
    }
    options.ignore_incomplete_links = byte & 2 != 0;
    options.user_defined = byte & 4 != 0;
    options.no_imbrication = byte & 8 != 0;
    options
}

/// What the checker says, by the rules of a replay.
pub fn checked(trace: &[u8], options: &Options) -> Verdict {
    let mut rules = paje_validate::Options::default();
    rules.rules = Rules::Replay;
    rules.field_names = options.field_names;
    rules.ignore_incomplete_links = options.ignore_incomplete_links;
    let report = check(trace, &rules).expect("memory can be read");
    match report.findings.iter().find(|finding| finding.severity == Severity::Error) {
        None => Ok(()),
        Some(first) => {
            let place = first.position.map(|at| (at.line, at.column));
            Err((place, first.code(), first.cause.to_string()))
        }
    }
}

/// Three workers, started once.
pub fn team() -> &'static Workers {
    static TEAM: LazyLock<Workers> = LazyLock::new(|| {
        Workers::new(NonZeroUsize::new(3), &Pin::None).expect("three threads can be started")
    });
    &TEAM
}

/// What the replay says.
pub fn replayed(trace: &[u8], options: &Options, workers: &Workers) -> (Option<Trace>, Verdict) {
    let source = Source::stream(trace);
    match Trace::read_with(source, options, workers, &Progress::default()) {
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

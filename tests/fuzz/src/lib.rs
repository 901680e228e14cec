//! Common parts of the targets: traces made of a fuzzer's bytes, and properties that must hold of each.

pub mod agree;
pub mod pieces;
pub mod reports;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use datasets::mutate::{Change, mutated};
use datasets::random;
use pj_dump::output::export::{Written, write_rows};
use pj_dump::output::stream::RowStream;
use pj_dump::output::{Quotes, Style};
use paje_sim::{Error, ErrorKind, FieldNames, Options, Portion, Progress, Source, Trace};
use pj_validate::{Rules, Severity, check};
use paje_workers::{Pin, Workers};

/// First error: line, column, code and sentence.
pub type Verdict = Result<(), (Option<(u64, u64)>, &'static str, String)>;

/// A trace made of a fuzzer's bytes: a random one of the datasets, with some damage. The first byte is for
/// the options, the second tells how many changes follow; what comes behind them decides on all else.
pub fn structured(bytes: &[u8]) -> Vec<u8> {
    let [_, count, rest @ ..] = bytes else { return Vec::new() };
    let wanted = usize::from(count % 8);
    let (changes, choices) = rest.split_at(rest.len().min(wanted * Change::BYTES));
    let changes = changes.as_chunks().0.iter().map(|bytes| Change::from_bytes(*bytes));
    mutated(&random::from_choices(choices).bytes, &changes.collect::<Vec<_>>())
}

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

/// Verdict of the checker.
pub fn checked(trace: &[u8], options: &Options, by: Rules) -> Verdict {
    let mut rules = pj_validate::Options::default();
    rules.rules = by;
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

/// Trace and verdict of the replay.
pub fn replayed(trace: &[u8], options: &Options, workers: &Workers) -> (Option<Trace>, Verdict) {
    let source = Source::stream(trace);
    told(Trace::read_with(source, options, workers, &Progress::default()))
}

fn told(result: Result<Trace, Error>) -> (Option<Trace>, Verdict) {
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

/// Style of rows, drawn from a byte of the input.
pub fn style(byte: u8) -> Style {
    let quotes = [Quotes::Auto, Quotes::Keep, Quotes::Strip][usize::from(byte >> 4) % 3];
    Style {
        quotes,
        precision: usize::from(byte % 12),
        as_released: quotes == Quotes::Strip,
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    }
}

/// The rows of a trace.
pub fn rows(trace: &Trace, style: Style, workers: &Workers) -> Vec<u8> {
    let mut out = Vec::new();
    write_rows(trace, style, workers, &mut out, &Written::default())
        .expect("memory can be written");
    out
}

/// The rows that are written while the trace is read, in portions of so many bytes, and the verdict.
pub fn streamed(
    trace: &[u8],
    options: &Options,
    style: Style,
    workers: &Workers,
    bytes: u64,
) -> (Vec<u8>, Verdict) {
    let (mut out, written) = (Vec::new(), Written::default());
    let mut stream = RowStream::new(style, false, workers, &mut out, &written);
    let mut show = |portion: &Portion<'_>| -> ControlFlow<()> { stream.show(portion) };
    let (source, progress) = (Source::stream(trace), Progress::default());
    let result = Trace::read_in_portions(source, options, workers, &progress, bytes, &mut show);
    stream.finish().expect("memory can be written");
    (out, told(result).1)
}

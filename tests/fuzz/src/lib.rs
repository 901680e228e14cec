//! Contains the common parts of the targets.

pub mod agree;
pub mod pieces;
pub mod reports;
pub mod targets;
#[path = "../../../pj-dump/tests/it/verdict.rs"]
mod verdict;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use datasets::mutate::{Change, mutated};
use datasets::random;
use pj_dump::output::export::Written;
use pj_dump::output::stream::RowStream;
use pj_dump::output::{Quotes, Style};
use paje_sim::{FieldNames, Options, Portion, Progress, Selection, Source, Trace};
use paje_workers::{Pin, Workers};

pub use verdict::{Verdict, checked, replayed, rows};
use verdict::verdict;

/// Returns a damaged random trace. The first byte is for options. The second is the number of
/// changes, and the changes follow. The remaining bytes determine the trace.
pub fn structured(bytes: &[u8]) -> Vec<u8> {
    let [_, count, rest @ ..] = bytes else { return Vec::new() };
    let wanted = usize::from(count % 8);
    let (changes, choices) = rest.split_at(rest.len().min(wanted * Change::BYTES));
    let changes = changes.as_chunks().0.iter().map(|bytes| Change::from_bytes(*bytes));
    mutated(&random::from_choices(choices).bytes, &changes.collect::<Vec<_>>())
}

/// Returns options from a byte of the input.
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

/// Returns three workers, which are started once.
pub fn team() -> &'static Workers {
    static TEAM: LazyLock<Workers> = LazyLock::new(|| {
        Workers::new(NonZeroUsize::new(3), &Pin::None).expect("three threads can be started")
    });
    &TEAM
}

/// Returns a style of rows from a byte of the input.
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

/// Returns the rows that are written while the trace is read, in portions of `bytes`, and the
/// verdict.
pub fn streamed(
    trace: &[u8],
    options: &Options,
    style: Style,
    workers: &Workers,
    bytes: u64,
) -> (Vec<u8>, Verdict) {
    let (mut out, written) = (Vec::new(), Written::default());
    let all = Selection::default();
    let mut stream = RowStream::new(style, false, &all, workers, &mut out, &written);
    let mut show = |portion: &Portion<'_>| -> ControlFlow<()> { stream.show(portion) };
    let (source, progress) = (Source::stream(trace), Progress::default());
    let result = Trace::read_in_portions(source, options, workers, &progress, bytes, &mut show);
    stream.finish().expect("memory can be written");
    (out, verdict(result).1)
}

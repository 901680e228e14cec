//! Traces for the tests, and their conversion.

use std::convert::Infallible;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use datasets::random;
use paje_console::Quotes;
use paje_sim::{
    Annotations, Events, FieldNames, LaneView, Links, Options, Progress, Source, States, Trace,
    ValueId, Variables, Visitor,
};
use paje_workers::{Pin, Workers};
use pj_convert::{Conversion, Format, Losses, convert};

pub(crate) fn options() -> Options {
    let mut options = Options::default();
    options.field_names = FieldNames::Old;
    options.ignore_incomplete_links = true;
    options.user_defined = true;
    options
}

pub(crate) fn all() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "trace") {
            let text = fs::read(&path).expect("readable");
            all.push((path.file_stem().expect("a name").to_string_lossy().into_owned(), text));
        }
    }
    let count = std::env::var("PAJE_SEEDS").map_or(150, |seeds| seeds.parse().expect("a number"));
    for seed in 0..count {
        let trace = random::trace(seed);
        if trace.is_valid() {
            all.push((format!("seed {seed}"), trace.bytes));
        }
    }
    all.retain(|(_, text)| Trace::read(&text[..], &options()).is_ok());
    assert!(all.len() > 50);
    all
}

pub(crate) fn converted(text: &[u8], format: Format) -> Vec<u8> {
    converted_with(text, format, options(), 1).0
}

pub(crate) fn converted_with(
    text: &[u8],
    format: Format,
    options: Options,
    threads: usize,
) -> (Vec<u8>, Losses) {
    let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("threads");
    let conversion = Conversion { format, quotes: Quotes::Auto, options };
    let source = Source::stream(text);
    let converted = convert(source, &conversion, &workers, &Progress::default(), Vec::new());
    let (_, out, losses) = converted.expect("a valid trace");
    (out, losses)
}

/// Calls `see` for each row that can have user-defined fields. Its arguments are the row's lane,
/// its start in seconds, its value, the annotations, and the row's index in them.
pub(crate) fn each_annotated(
    trace: &Trace,
    see: impl FnMut(LaneView<'_>, f64, Option<ValueId>, &Annotations<'_>, usize),
) {
    let mut rows = Rows(see);
    for lane in trace.lanes() {
        let Ok(()) = lane.visit(&mut rows);
    }
}

struct Rows<F>(F);

impl<F: FnMut(LaneView<'_>, f64, Option<ValueId>, &Annotations<'_>, usize)> Visitor for Rows<F> {
    type Error = Infallible;

    fn states(&mut self, lane: LaneView<'_>, states: States<'_>) -> Result<(), Infallible> {
        for (i, (start, value)) in states.start.iter().zip(states.value).enumerate() {
            self.0(lane, *start, Some(*value), &states.user_defined, i);
        }
        Ok(())
    }

    fn variables(
        &mut self,
        lane: LaneView<'_>,
        variables: Variables<'_>,
    ) -> Result<(), Infallible> {
        for (i, start) in variables.start.iter().enumerate() {
            self.0(lane, *start, None, &variables.user_defined, i);
        }
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, events: Events<'_>) -> Result<(), Infallible> {
        for (i, (time, value)) in events.time.iter().zip(events.value).enumerate() {
            self.0(lane, *time, Some(*value), &events.user_defined, i);
        }
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, links: Links<'_>) -> Result<(), Infallible> {
        for (i, (start, value)) in links.start.iter().zip(links.value).enumerate() {
            self.0(lane, *start, Some(*value), &links.user_defined, i);
        }
        Ok(())
    }
}

//! Dumped rows with their containers.

use std::path::PathBuf;
use std::sync::Arc;

use paje_sim::{ContainerId, FieldNames, Options, Progress, Source, Trace};
use paje_workers::Workers;
use pj_dump::output::Style;
use pj_dump::output::export::write_rows;
use splitter::{Folders, Input};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) of: String,
    pub(crate) about: bool,
    pub(crate) text: String,
}

pub(crate) fn options() -> Options {
    let mut options = Options::default();
    options.field_names = FieldNames::Old;
    options.ignore_incomplete_links = true;
    options.user_defined = true;
    options
}

/// Returns the rows of a trace, as `pj_dump -nzul 9` prints them.
pub(crate) fn dump(trace: &[u8]) -> Vec<Row> {
    rows(&Trace::read(trace, &options()).expect("a valid trace"))
}

pub(crate) fn dump_files(files: &[PathBuf], options: &Options, threads: usize) -> Vec<Row> {
    let workers = testkit::team(threads);
    let (first, others) = files.split_first().expect("there are files");
    let input = Input::open(Some(first)).expect("it is there");
    let folders = Folders::of(files.iter().map(PathBuf::as_path));
    let source = Source::from(input).reading_files(Some(first.clone()), folders);
    let source = source.followed_by(others.to_vec());
    let trace = Trace::read_with(source, options, &workers, &Progress::default());
    rows(&trace.unwrap_or_else(|error| panic!("{error:?} in {files:?}")))
}

pub(crate) fn rows(trace: &Trace) -> Vec<Row> {
    let style = Style { precision: 9, ..Style::DEFAULT };
    let mut text = Vec::new();
    write_rows(trace, style, &Workers::one(), &mut text, &Arc::default()).expect("memory");
    let text = String::from_utf8_lossy(&text).into_owned();
    let owner = |row: paje_sim::Row<'_>| match (row, row.lane()) {
        (paje_sim::Row::Container(container), _) => (container.id(), true),
        (_, lane) => (lane.expect("only containers have none").container(), false),
    };
    let mut owners = std::iter::once((ContainerId::ROOT, true)).chain(trace.rows().map(owner));
    let rows = text.split_terminator('\n').map(|text| {
        let (id, about) = owners.next().expect("every row has an owner");
        let of = String::from_utf8_lossy(trace.containers().identifier(id).text).into_owned();
        Row { of, about, text: text.into() }
    });
    let rows = rows.collect();
    assert!(owners.next().is_none());
    rows
}

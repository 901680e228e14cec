//! Dumped rows with their containers.

use std::convert::Infallible;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;

use paje_sim::{
    ContainerId, Events, FieldNames, LaneView, Links, Options, Progress, Source, States, Trace,
    Variables, Visitor,
};
use paje_workers::Workers;
use pj_dump::output::export::write_rows;
use pj_dump::output::{Quotes, Style};
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

#[derive(Default)]
struct Owners(Vec<(String, bool)>);

impl Owners {
    fn lane(&mut self, lane: LaneView<'_>, rows: usize) {
        let of = lane.trace().containers().identifier(lane.container());
        let of = String::from_utf8_lossy(of.text).into_owned();
        self.0.extend((0..rows).map(|_| (of.clone(), false)));
    }
}

impl Visitor for Owners {
    type Error = Infallible;

    fn container(&mut self, trace: &Trace, id: ContainerId) -> Result<(), Infallible> {
        let of = String::from_utf8_lossy(trace.containers().identifier(id).text).into_owned();
        self.0.push((of, true));
        Ok(())
    }

    fn states(&mut self, lane: LaneView<'_>, rows: States<'_>) -> Result<(), Infallible> {
        self.lane(lane, rows.value.len());
        Ok(())
    }

    fn variables(&mut self, lane: LaneView<'_>, rows: Variables<'_>) -> Result<(), Infallible> {
        self.lane(lane, rows.value.len());
        Ok(())
    }

    fn events(&mut self, lane: LaneView<'_>, rows: Events<'_>) -> Result<(), Infallible> {
        self.lane(lane, rows.value.len());
        Ok(())
    }

    fn links(&mut self, lane: LaneView<'_>, rows: Links<'_>) -> Result<(), Infallible> {
        self.lane(lane, rows.value.len());
        Ok(())
    }
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
    let mut out = tempfile::tempfile().expect("a file");
    write_rows(trace, style, &Workers::one(), out.try_clone().expect("one"), &Arc::default())
        .expect("the file is writable");
    let mut text = Vec::new();
    out.rewind().expect("a file");
    out.read_to_end(&mut text).expect("the file is readable");
    let mut owners = Owners::default();
    match trace.visit(Quotes::Auto.order(), &mut owners) {
        Ok(()) => {}
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    let rows: Vec<&str> = text.split_terminator('\n').collect();
    assert_eq!(rows.len(), owners.0.len());
    let row =
        |((of, about), text): ((String, bool), &&str)| Row { of, about, text: (*text).into() };
    owners.0.into_iter().zip(&rows).map(row).collect()
}

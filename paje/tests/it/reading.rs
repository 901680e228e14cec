//! Reading from files and readers, and showing rows to visitors.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::sync::Arc;

use paje::{
    ContainerId, ErrorKind, Lane, Links, Nature, Pin, Progress, Selection, States, TimeUnit, Trace,
    TraceReader, VisitError, Visitor,
};
use testkit::otf2::Archive;
use testkit::otf2::Given::{N, T};
use testkit::{COMPRESSIONS, pack};

use crate::examples::example;

/// Everything that several threads may share.
#[test]
fn traces_and_rows_can_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Trace>();
    shared::<TraceReader>();
    shared::<paje::Row<'_>>();
    shared::<paje::RowsByTime<'_>>();
    shared::<paje::Container<'_>>();
    shared::<paje::Lane<'_>>();
    shared::<paje::Selected>();
    shared::<paje::Error>();
    shared::<VisitError<paje::Error>>();
    shared::<paje::analysis::Refusal>();
}

/// The complete rows that a visitor received.
#[derive(Default)]
struct Seen {
    containers: u64,
    states: u64,
    links: u64,
    until: f64,
    fails_at: Option<u64>,
}

impl Visitor for Seen {
    type Error = String;

    fn container(&mut self, _: &Trace, _: ContainerId) -> Result<(), String> {
        self.containers += 1;
        Ok(())
    }

    fn states(&mut self, _: Lane<'_>, states: States<'_>) -> Result<(), String> {
        self.states += states.start.len() as u64;
        assert!(states.end.iter().all(|end| !end.is_nan()));
        self.until = states.end.iter().copied().fold(self.until, f64::max);
        match self.fails_at {
            Some(most) if self.states > most => Err("enough".into()),
            _ => Ok(()),
        }
    }

    fn links(&mut self, _: Lane<'_>, links: Links<'_>) -> Result<(), String> {
        self.links += links.start.len() as u64;
        Ok(())
    }
}

#[test]
fn visitors_receive_each_row_once() {
    for shape in [datasets::Shape::Mpi, datasets::Shape::Deep, datasets::Shape::TaskRuntime] {
        let text = datasets::generate(shape, 300_000, 3);
        let whole = TraceReader::new().parse(&text).expect("valid trace");
        for (bytes, threads) in [(1000, 1), (50_000, 3), (u64::MAX, 2)] {
            let mut seen = Seen::default();
            let reader = TraceReader::new().portion(bytes).threads(threads);
            let input = Cursor::new(text.clone());
            let warnings = reader.visit_reader(input, &mut seen).expect("valid trace");
            assert_eq!(warnings, whole.warnings());
            let counts = whole.counts();
            assert_eq!(
                (seen.states, seen.links, seen.containers),
                // The root ends, too.
                (counts.states, counts.links, counts.containers + 1)
            );
        }
    }
}

#[test]
fn visitors_can_fail_and_cannot_recover() {
    let mut seen = Seen { fails_at: Some(5), ..Seen::default() };
    let failed = TraceReader::new().visit(example("mpi.trace"), &mut seen);
    assert!(matches!(failed, Err(VisitError::Visitor(why)) if why == "enough"));
    let refused = TraceReader::new().recover(true).visit(example("mpi.trace"), &mut seen);
    assert!(refused.expect_err("refused").to_string().contains("recovery"));
    let selection = Selection::default().of_type("nothing").expect("a pattern");
    let unmatched = TraceReader::new().select(selection).visit(example("mpi.trace"), &mut seen);
    assert!(matches!(unmatched, Err(VisitError::Trace(error)) if is_unmatched(&error)));
}

fn is_unmatched(error: &paje::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unmatched(_))
}

#[test]
fn any_input_gives_the_same_trace() {
    let path = example("mpi.trace");
    let text = fs::read(&path).expect("readable");
    let counts = TraceReader::new().parse(&text).expect("valid trace").counts();
    let folder = tempfile::tempdir().expect("a folder");
    for kind in COMPRESSIONS {
        let bytes = pack(kind, &text);
        let file = folder.path().join(kind);
        fs::File::create(&file).and_then(|mut file| file.write_all(&bytes)).expect("written");
        let opened = TraceReader::new().threads(2).open(&file).expect(kind);
        let read = TraceReader::new().read(Cursor::new(bytes)).expect(kind);
        assert_eq!((opened.counts(), read.counts()), (counts, counts), "{kind}");
    }
    let pinned = TraceReader::new().threads(1).pin(Pin::Compact).open(&path);
    assert_eq!(pinned.expect("valid trace").counts(), counts);
}

#[test]
fn errors_have_a_kind_and_a_position() {
    let text = fs::read_to_string(example("mpi.trace")).expect("readable");
    let wrong = text + "99 nonsense\n";
    let error = TraceReader::new().parse(&wrong).expect_err("invalid");
    assert!(matches!(error.kind(), ErrorKind::Invalid(_)), "{error}");
    assert_eq!(error.position().expect("a position").line as usize, wrong.lines().count());
    // A `main` that returns an error prints its Debug form.
    assert_eq!(format!("{error:?}"), error.to_string());
    let trace = TraceReader::new().recover(true).parse(&wrong).expect("recovered");
    assert_eq!(trace.recovered().problems.len(), 1);
    let missing = TraceReader::new().open("no such file").expect_err("missing");
    assert!(missing.to_string().starts_with("no such file: "), "{missing}");
    let selection = Selection::default().inside("rnak-0").expect("a pattern");
    let error = TraceReader::new().select(selection).open(example("mpi.trace"));
    let error = error.expect_err("no such container");
    assert!(is_unmatched(&error) && error.to_string().contains("did you mean 'rank-0'"), "{error}");
}

#[derive(Debug)]
struct Lost(io::Error);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is lost")
    }
}

impl Error for Lost {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl Read for Lost {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(Lost(io::Error::other("the cable is cut"))))
    }
}

/// Regression test: programs that print an error with its sources repeated the message.
#[test]
fn sources_do_not_repeat_the_message() {
    let chain = |error: paje::Error| {
        let first: &(dyn Error + 'static) = &error;
        let errors = std::iter::successors(Some(first), |error| (*error).source());
        errors.map(ToString::to_string).collect::<Vec<_>>()
    };
    let missing = TraceReader::new().open("no such file").expect_err("missing");
    assert_eq!(chain(missing).len(), 1);
    let pinned = TraceReader::new().pin(Pin::List(vec![9999])).open(example("mpi.trace"));
    assert_eq!(chain(pinned.expect_err("no such CPU")).len(), 1);
    let read = TraceReader::new().read(Lost(io::Error::other(""))).expect_err("it fails");
    assert_eq!(chain(read), ["<reader>: the connection is lost", "the cable is cut"]);
}

#[test]
fn options_have_their_effect() {
    let reader = TraceReader::new();
    let selection = Selection::default().of_natures([Nature::Link]);
    let trace = reader.clone().select(selection).open(example("mpi.trace")).expect("valid trace");
    assert_eq!((trace.states().count(), trace.counts().states), (0, 0));
    let trace = reader.clone().time_unit(TimeUnit::Milliseconds).open(example("mpi.trace"));
    let trace = trace.expect("valid trace");
    assert_eq!(trace.time_scale().unit(), TimeUnit::Milliseconds);
    assert!(trace.states().all(|it| it.seconds() == trace.seconds(it.duration())));
    assert_eq!(trace.seconds(1500.0), 1.5);
    let cut = reader.clone().stop_at(0.01).ignore_incomplete_links(true);
    assert_eq!(cut.open(example("mpi.trace")).expect("valid trace").end(), 0.01);
    assert!(reader.open(example("unsorted.trace")).is_err());
    assert!(reader.clone().sort(true).open(example("unsorted.trace")).is_ok());
    assert!(reader.clone().old_names(true).open(example("old-names.trace")).is_ok());
    let open = example("open-links.trace");
    assert!(reader.open(&open).is_err());
    assert!(reader.clone().ignore_incomplete_links(true).open(&open).is_ok());
    assert!(reader.clone().longest_line(10).open(example("mpi.trace")).is_err());
    let progress = Arc::new(Progress::default());
    progress.stop();
    let stopped = reader.progress(progress).open(example("mpi.trace")).expect_err("stopped");
    assert!(matches!(stopped.kind(), ErrorKind::Stopped));
}

#[test]
fn a_memory_limit_does_not_change_the_rows() {
    let text = datasets::generate(datasets::Shape::Mpi, 2_000_000, 1);
    let folder = tempfile::tempdir().expect("a folder");
    let limited = TraceReader::new().memory_limit(0, folder.path()).parse(&text).expect("valid");
    let whole = TraceReader::new().parse(&text).expect("valid");
    assert!(
        limited
            .rows()
            .map(|row| row.end().to_bits())
            .eq(whole.rows().map(|row| row.end().to_bits()))
    );
}

/// Regression test: recovery did not apply to archives.
#[test]
fn the_intact_part_of_an_archive_can_be_recovered() {
    let mut archive = Archive::default();
    archive.define("ClockProperties", &[N(1000), N(0), N(0), N(0)]);
    archive.define("String", &[N(0), T("main")]);
    archive.define("SystemTreeNode", &[N(0), N(0), N(0), N(u64::MAX)]);
    let region = [N(0), N(0), N(0), N(0), N(0), N(1), N(2), N(0), N(1), N(1), N(0)];
    archive.define("Region", &region);
    archive.define("LocationGroup", &[N(0), N(0), N(1), N(0)]);
    archive.define("Location", &[N(0), N(0), N(1), N(0), N(0)]);
    for call in 0..10 {
        archive.event(0, 2 * call, "Enter", &[N(0)]);
        archive.event(0, 2 * call + 1, "Leave", &[N(0)]);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let anchor = archive.write(folder.path());
    let events = folder.path().join("run/0.evt");
    let bytes = fs::read(&events).expect("events");
    fs::write(&events, &bytes[..bytes.len() - 20]).expect("a file");
    TraceReader::new().open(&anchor).expect_err("it is damaged");
    let trace = TraceReader::new().recover(true).open(&anchor).expect("the intact part");
    assert!((1..10).contains(&trace.counts().states), "{}", trace.counts().states);
    assert!(!trace.recovered().problems.is_empty());
}

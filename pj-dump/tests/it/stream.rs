//! Tests of `-o`, which prints rows in portions.

use datasets::Shape;
use paje_sim::{Error, Options, Progress, Selection, Source, Trace};
use paje_workers::Workers;
use pj_dump::output::Style;
use pj_dump::output::export::Written;
use pj_dump::output::stream::RowStream;

use crate::agree::in_portions;
use crate::select::lines;
use crate::world::trace;

const STYLE: Style = Style::DEFAULT;

fn streamed(text: &[u8], bytes: u64, workers: &Workers) -> (Vec<u8>, Result<Trace, Error>) {
    let (options, all) = (Options::default(), Selection::default());
    in_portions(Source::stream(text), &options, bytes, true, STYLE, &all, workers)
}

fn dumped(text: &[u8]) -> Vec<u8> {
    let trace = Trace::read(text, &Options::default()).expect("a generated trace is valid");
    crate::agree::rows(&trace, &Workers::one())
}

fn rows(text: &[u8]) -> Vec<&[u8]> {
    let natures = ["Container, Parent, ", "State, Container, ", "Variable, Container, "];
    let natures = natures.into_iter().chain(["Event, Container, ", "Link, Container, "]);
    let headers: Vec<&str> = natures.collect();
    let is_header = |line: &&[u8]| headers.iter().any(|head| line.starts_with(head.as_bytes()));
    lines(text).into_iter().filter(|line| !is_header(line)).collect()
}

#[test]
fn every_row_is_printed_once_for_all_portions_and_workers() {
    let team = testkit::team(3);
    // The unsorted shape is left out because it is invalid.
    for shape in Shape::ALL.into_iter().filter(|shape| *shape != Shape::Unsorted) {
        let text = datasets::generate(shape, 60_000, 3);
        let whole = dumped(&text);
        for bytes in [500, 20_000, 1 << 30] {
            let (out, trace) = streamed(&text, bytes, &Workers::one());
            trace.expect("a generated trace is valid");
            assert!(out == streamed(&text, bytes, &team).0, "{shape:?}");
            let (mut found, mut wanted) = (rows(&out), lines(&whole));
            if bytes == 1 << 30 {
                assert!(found == wanted, "{shape:?}: one portion is the whole dump");
            }
            found.sort_unstable();
            wanted.sort_unstable();
            assert!(found == wanted, "{shape:?}, portions of {bytes}");
        }
    }
}

/// Without imbrication, a push ends the state below, which stays on the stack and is shown later.
#[test]
fn states_without_imbrication_keep_their_ends() {
    let between = "vset 3 V p 1\n".repeat(1000);
    let events = format!("push 1 S p a\npush 2 S p b\n{between}pop 4 S p\npop 5 S p\n");
    let text = trace(events.as_bytes());
    let mut options = Options::default();
    options.no_imbrication = true;
    options.limits.block = 300;
    let rows = |bytes| {
        let (source, workers) = (Source::stream(&text[..]), Workers::one());
        let all = Selection::default();
        let (out, trace) = in_portions(source, &options, bytes, false, STYLE, &all, &workers);
        trace.expect("a valid trace");
        let mut states: Vec<String> = lines(&out)
            .into_iter()
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .filter(|line| line.starts_with("State"))
            .collect();
        states.sort_unstable();
        states
    };
    let found = rows(1);
    assert_eq!(found, rows(1 << 20));
    let times = ["1.000000, 2.000000", "2.000000, 4.000000", "4.000000, 5.000000"];
    for time in times {
        assert_eq!(found.iter().filter(|row| row.contains(time)).count(), 1, "{found:?}");
    }
}

#[test]
fn portions_before_a_problem_are_read() {
    let mut text = datasets::generate(Shape::Mpi, 60_000, 3);
    let (whole, _) = streamed(&text, 1000, &Workers::one());
    text.extend(b"nonsense\n");
    let (out, trace) = streamed(&text, 1000, &Workers::one());
    assert!(trace.is_err());
    assert!(out.len() > whole.len() / 2 && whole.starts_with(&out));
}

/// Output that fails after this many bytes.
struct Narrow(usize);

impl std::io::Write for Narrow {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        match self.0.checked_sub(buffer.len()) {
            Some(left) => {
                self.0 = left;
                Ok(buffer.len())
            }
            None => Err(std::io::Error::other("full")),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failing_output_ends_the_stream() {
    let text = datasets::generate(Shape::Mpi, 60_000, 3);
    let (workers, written) = (Workers::one(), Written::default());
    let (all, out) = (Selection::default(), Narrow(10_000));
    let mut stream = RowStream::new(STYLE, false, &all, &workers, out, &written);
    let mut show = |portion: &paje_sim::Portion<'_>| stream.show(portion);
    let (source, options) = (Source::stream(&text[..]), Options::default());
    let progress = Progress::default();
    let trace = Trace::read_in_portions(source, &options, &workers, &progress, 5000, &mut show);
    assert!(matches!(trace.expect_err("stopped").kind(), paje_sim::ErrorKind::Stopped));
    assert_eq!(stream.finish().expect_err("the output's own error").to_string(), "full");
}

//! Compares the lines and uses that a ledger receives with the lines themselves.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Mutex;

use datasets::{Shape, random};
use paje_parser::{Event, Line, LineDecoder};
use paje_sim::{
    BlockLines, ErrorKind, FieldNames, LaneId, Ledger, LineOf, Options, Progress, Source, Trace,
    Used,
};
use paje_workers::{Pin, Workers};

/// Start of a block, its lines, and what the events of each lane use.
type Reported = (u64, Vec<(usize, LineOf)>, Vec<(LaneId, Used)>);

#[derive(Default)]
struct Book(Mutex<Vec<Reported>>);

impl Ledger for Book {
    fn enter(&self, _: usize, block: &BlockLines<'_>) -> ControlFlow<()> {
        let mut uses = Vec::new();
        block.uses(|lane, used| uses.push((lane, used)));
        self.0.lock().expect("no panic").push((block.start().0, block.lines().collect(), uses));
        ControlFlow::Continue(())
    }
}

/// The subject of each line, and what events use: lane, and value or container. All are texts.
type Lines = (Vec<(usize, String)>, BTreeSet<(String, String, String)>);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn told(input: &[u8], options: &Options, workers: &Workers) -> Lines {
    let book = Book::default();
    let (source, progress) = (Source::stream(input), Progress::default());
    let trace =
        Trace::read_into_ledger(source, options, workers, &progress, 5000, &book).expect("valid");
    let mut blocks = book.0.into_inner().expect("no panic");
    blocks.sort_by_key(|(start, ..)| *start);
    let (mut lines, mut uses, mut at) = (Vec::new(), BTreeSet::new(), 0);
    let lanes: Vec<_> = trace.lanes().map(|lane| (lane.container(), lane.type_id())).collect();
    let container = |id| text(trace.containers().identifier(id).text);
    let type_ = |id| text(trace.types().identifier(id).text);
    for (start, block, used) in blocks {
        assert_eq!(start, at);
        for (len, line) in block {
            at += len as u64;
            let value = |type_, value| text(trace.types().value_identifier(type_, value).text);
            let about = match line {
                LineOf::Value(of, id) => format!("value {} {}", type_(of), value(of, id)),
                LineOf::Creation(id) => format!("creation {}", container(id)),
                LineOf::Destruction(id) => format!("destruction {}", container(id)),
                LineOf::Event(id) => format!("event {}", container(id)),
                other => format!("{other:?}"),
            };
            lines.push((len, about));
        }
        for (lane, used) in used {
            let (owner, of) = lanes[lane.index()];
            let used = match used {
                Used::Value(value) => text(trace.types().value_identifier(of, value).text),
                Used::End(_, id) => format!("end {}", container(id)),
            };
            uses.insert((container(owner), type_(of), used));
        }
    }
    assert_eq!(at, input.len() as u64);
    (lines, uses)
}

fn plain(input: &[u8], options: &Options) -> Lines {
    let mut decoder = LineDecoder::new(options.field_names);
    let mut uses = BTreeSet::new();
    let mut about = |line: &[u8]| match decoder.line(line).expect("valid") {
        Line::Event(event) => match event.decode().expect("valid") {
            Event::DefineType { .. } | Event::DefineLinkType { .. } => "Type".into(),
            Event::DefineValue { name, alias, type_, .. } => {
                format!("value {} {}", text(type_.bare()), text(alias.unwrap_or(name).bare()))
            }
            Event::CreateContainer { name, alias, .. } => {
                format!("creation {}", text(alias.unwrap_or(name).bare()))
            }
            Event::DestroyContainer { name, .. } => format!("destruction {}", text(name.bare())),
            Event::Entity { op, type_, container, value, .. } => {
                let nature = op.nature();
                if let Some(value) = value
                    && nature != paje_sim::TypeNature::Variable
                    && !matches!(
                        op,
                        paje_parser::EntityOp::PopState | paje_parser::EntityOp::ResetState
                    )
                {
                    let (container, type_) = (text(container.bare()), text(type_.bare()));
                    uses.insert((container, type_, text(value.bare())));
                }
                format!("event {}", text(container.bare()))
            }
            Event::Link { type_, container, value, at, .. } => {
                let (container, type_) = (text(container.bare()), text(type_.bare()));
                uses.insert((container.clone(), type_.clone(), text(value.bare())));
                uses.insert((container.clone(), type_, format!("end {}", text(at.bare()))));
                format!("event {container}")
            }
            _ => "File".into(),
        },
        Line::Blank => "Nobody".into(),
        Line::Header => "Header".into(),
    };
    let lines = input.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| (line.len(), about(line.strip_suffix(b"\n").unwrap_or(line))));
    (lines.collect(), uses)
}

fn assert_told(name: &str, input: &[u8], options: &Options) {
    let wanted = plain(input, options);
    for (threads, block) in [(1, 1 << 20), (1, 300), (2, 1), (3, 900), (4, 4096)] {
        let mut options = options.clone();
        options.limits.block = block;
        options.decoder_symbols = 4;
        let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("a few threads");
        let found = told(input, &options, &workers);
        let about = format!("{name}, {threads} threads, blocks of {block}");
        for (number, (found, wanted)) in found.0.iter().zip(&wanted.0).enumerate() {
            assert_eq!(found, wanted, "{about}, line {}", number + 1);
        }
        assert_eq!(found.0.len(), wanted.0.len(), "{about}");
        assert_eq!(found.1, wanted.1, "{about}");
    }
}

#[test]
fn shapes() {
    for shape in Shape::ALL.into_iter().filter(|shape| shape.is_sorted()) {
        assert_told(shape.name(), &datasets::generate(shape, 30_000, 1), &Options::default());
    }
}

#[test]
fn random_traces() {
    let mut compared = 0;
    for seed in 0..200 {
        let trace = random::trace(seed);
        if !trace.is_valid() {
            continue;
        }
        let mut options = Options::default();
        options.field_names = FieldNames::Old;
        options.ignore_incomplete_links = true;
        assert_told(&format!("seed {seed}"), &trace.bytes, &options);
        compared += 1;
    }
    assert!(compared > 100);
}

#[test]
fn breaking_ledgers_stop_the_replay() {
    struct Breaks;
    impl Ledger for Breaks {
        fn enter(&self, _: usize, _: &BlockLines<'_>) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let input = datasets::generate(Shape::Mpi, 300_000, 1);
    let (source, progress) = (Source::stream(&input[..]), Progress::default());
    let options = Options::default();
    let stopped =
        Trace::read_into_ledger(source, &options, &Workers::one(), &progress, 5000, &Breaks);
    assert!(matches!(stopped.unwrap_err().kind(), ErrorKind::Stopped));
}

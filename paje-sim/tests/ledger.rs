//! Compares the lines and uses that a ledger receives with the lines themselves.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Mutex;

use datasets::{Shape, random};
use paje_parser::{EntityOp, Event, Line, LineDecoder, TypeNature, number};
use paje_sim::{
    BlockLines, ContainerId, ErrorKind, FieldNames, LaneChange, LaneId, Ledger, LineOf, Options,
    Progress, Source, Trace, Used,
};
use paje_workers::Workers;

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
                Used::End(id) => format!("end {}", container(id)),
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
                    && nature != TypeNature::Variable
                    && !matches!(op, EntityOp::PopState | EntityOp::ResetState)
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
        let workers = testkit::team(threads);
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

/// Events of a lane, each with its byte, its time and its change.
type OfLane = Vec<(u64, f64, String)>;

#[derive(Default)]
struct Events(Mutex<Vec<(LaneId, ContainerId, OfLane)>>);

impl Ledger for Events {
    fn enter(&self, _: usize, block: &BlockLines<'_>) -> ControlFlow<()> {
        let (start, block_text) = (block.start().0, block.text());
        let (mut keys, mut others) = (HashMap::new(), BTreeSet::new());
        for lane in block.lane_events() {
            let bounds =
                lane.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), event| {
                    (low.min(event.time), high.max(event.time))
                });
            assert_eq!((lane.times(), lane.is_empty()), (bounds, false));
            // The events of a link lane may be distributed by their keys.
            let is_link = lane.iter().any(|event| matches!(event.change, LaneChange::Link { .. }));
            assert!(is_link || others.insert(lane.lane.index()));
            // Each event is in one part of the block.
            let (third, half) = (block_text.len() / 3, block_text.len() / 2);
            let parts = [0..third, third..half, half..half, half..usize::MAX];
            let events = parts.iter().flat_map(|part| {
                let events = lane.within(part).iter();
                events.inspect(|event| assert!(part.contains(&event.start)))
            });
            let mut listed = Vec::new();
            for event in events {
                let change = match event.change {
                    LaneChange::Entity(op) => format!("{op:?}"),
                    LaneChange::Variable(op, number) => format!("{op:?} {number:?}"),
                    LaneChange::Link { key, hash } => {
                        let key = text(&block_text[key.0..key.1]);
                        assert_eq!(*keys.entry(key.clone()).or_insert(hash), hash);
                        format!("link {key}")
                    }
                };
                listed.push((start + event.start as u64, event.time, change));
            }
            self.0.lock().expect("no panic").push((lane.lane, lane.container, listed));
        }
        ControlFlow::Continue(())
    }
}

/// The events of each lane, by the names of its container and type.
type Lanes = BTreeMap<(String, String), OfLane>;

fn lane_events(input: &[u8], options: &Options, threads: usize) -> Lanes {
    let (events, progress) = (Events::default(), Progress::default());
    let workers = testkit::team(threads);
    let source = Source::stream(input);
    let trace = Trace::read_into_ledger(source, options, &workers, &progress, 5000, &events);
    let trace = trace.expect("valid");
    let names: Vec<_> = trace.lanes().map(|lane| (lane.container(), lane.type_id())).collect();
    let mut lanes = Lanes::new();
    for (lane, container, events) in events.0.into_inner().expect("no panic") {
        let (owner, of) = names[lane.index()];
        assert_eq!(owner, container);
        let owner = text(trace.containers().identifier(owner).text);
        let of = text(trace.types().identifier(of).text);
        lanes.entry((owner, of)).or_default().extend(events);
    }
    lanes.values_mut().for_each(|events| events.sort_by_key(|(at, ..)| *at));
    lanes
}

/// Computes the events of lanes from each line alone.
fn plain_events(input: &[u8], options: &Options) -> Lanes {
    let mut decoder = LineDecoder::new(options.field_names);
    let (mut lanes, mut start) = (Lanes::new(), 0);
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        if let Line::Event(event) = decoder.line(line).expect("valid") {
            let event = event.decode().expect("valid");
            let (container, type_, change) = match event {
                Event::Entity { op, type_, container, value: Some(value), .. }
                    if op.nature() == TypeNature::Variable =>
                {
                    let number = number::parse_f64(value.bare()).expect("a number");
                    (container, type_, format!("{op:?} {number:?}"))
                }
                Event::Entity { op, type_, container, .. } => (container, type_, format!("{op:?}")),
                Event::Link { type_, container, key, .. } => {
                    (container, type_, format!("link {}", text(key.bare())))
                }
                _ => {
                    start += line.len() as u64;
                    continue;
                }
            };
            let lane = (text(container.bare()), text(type_.bare()));
            let time = event.time().expect("these events have a time");
            lanes.entry(lane).or_default().push((start, time, change));
        }
        start += line.len() as u64;
    }
    lanes
}

#[test]
fn lanes_have_the_events_of_their_lines() {
    let shapes = Shape::ALL.into_iter().filter(|shape| shape.is_sorted());
    let shapes = shapes.map(|shape| datasets::generate(shape, 30_000, 2));
    let random = (0..100).map(random::trace).filter(random::RandomTrace::is_valid);
    for (turn, input) in shapes.chain(random.map(|trace| trace.bytes)).enumerate() {
        let mut options = Options::default();
        options.field_names = FieldNames::Old;
        options.ignore_incomplete_links = true;
        options.limits.block = [1 << 20, 900, 300][turn % 3];
        let (found, expected) =
            (lane_events(&input, &options, 1 + turn % 2), plain_events(&input, &options));
        assert!(found.keys().eq(expected.keys()), "{:?} {:?}", found.keys(), expected.keys());
        for (lane, events) in found {
            assert_eq!(events, expected[&lane], "{lane:?}");
        }
    }
}

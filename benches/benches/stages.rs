//! Measures the stages of a dump, each separately and on one thread.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datasets::{Shape, generate};
use paje_parser::scan::{Scanner, Spans};
use paje_parser::token;
use paje_sim::{Options, Trace};
use paje_workers::Workers;
use pj_dump::output::Style;
use pj_dump::output::export::{Written, write_rows};

/// Size of a trace: several blocks, and larger than the last-level cache of small machines.
const SIZE: u64 = 8 << 20;
const SEED: u64 = 1;

/// Shapes of three kinds: short lines, long lines with tabs, and long lines with many quotes.
const LINES: [Shape; 3] = [Shape::Mpi, Shape::TaskRuntime, Shape::Quoted];

/// Shapes of typical traces, and of traces with mostly states, links, variables or containers.
const REPLAYS: [Shape; 6] = [
    Shape::Mpi,
    Shape::TaskRuntime,
    Shape::ManyContainers,
    Shape::OneContainer,
    Shape::AllLinks,
    Shape::Variables,
];

/// Number of fields and a digest of their positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    fields: u64,
    places: u64,
}

impl Found {
    fn add(&mut self, spans: &[token::Span]) {
        self.fields += spans.len() as u64;
        for span in spans {
            self.places =
                self.places.wrapping_mul(31).wrapping_add(u64::from(span.start + span.end));
        }
    }
}

fn found_by_scanner(text: &[u8], scanner: &mut Scanner, spans: &mut Spans) -> Found {
    let mut found = Found::default();
    // The programs use this block size, because the masks of a block then stay in the second-level
    // cache.
    for block in blocks(text) {
        scanner.scan(block);
        let mut start = 0;
        while start < block.len() {
            let end = scanner.fields(block, start, spans);
            found.add(spans.as_slice());
            start = end + 1;
        }
    }
    found
}

fn found_bytewise(text: &[u8]) -> Found {
    let (mut found, mut spans) = (Found::default(), Vec::new());
    for block in blocks(text) {
        let mut start = 0;
        while start < block.len() {
            spans.clear();
            start = token::fields(block, start, &mut spans) + 1;
            found.add(&spans);
        }
    }
    found
}

/// Splits a text into blocks of whole lines, about as large as the programs' blocks.
fn blocks(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let size = splitter::Limits::default().block;
    let mut rest = text;
    std::iter::from_fn(move || {
        let at_most = rest.len().min(size);
        let newline = rest[..at_most].iter().rposition(|byte| *byte == b'\n');
        let (block, after) = rest.split_at(newline.map_or(rest.len(), |at| at + 1));
        rest = after;
        (!block.is_empty()).then_some(block)
    })
}

fn tokenise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tokenise");
    for shape in LINES {
        let text = generate(shape, SIZE, SEED);
        let expected = found_bytewise(&text);
        group.throughput(Throughput::Bytes(text.len() as u64));
        let (mut scanner, mut spans) = (Scanner::default(), Spans::default());
        group.bench_function(BenchmarkId::new("masks", shape), |bencher| {
            bencher.iter(|| {
                let found = found_by_scanner(black_box(&text), &mut scanner, &mut spans);
                assert_eq!(found, expected);
            });
        });
        group.bench_function(BenchmarkId::new("bytewise", shape), |bencher| {
            bencher.iter(|| assert_eq!(found_bytewise(black_box(&text)), expected));
        });
    }
    group.finish();
}

fn replay(text: &[u8]) -> Trace {
    Trace::read(text, &Options::default()).expect("a generated trace is valid")
}

fn event_lines(text: &[u8]) -> u64 {
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter(|line| line.first().is_some_and(|byte| byte.is_ascii_digit())).count() as u64
}

fn decode_and_replay(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode+replay");
    for shape in REPLAYS {
        let text = generate(shape, SIZE, SEED);
        let (lines, counts) = (event_lines(&text), replay(&text).counts());
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(shape.name(), |bencher| {
            bencher.iter(|| {
                let trace = replay(black_box(&text));
                assert_eq!((trace.event_lines(), trace.counts()), (lines, counts));
                trace
            });
        });
    }
    group.finish();
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    bytes: u64,
}

impl Write for &mut Tally {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.bytes += black_box(text).len() as u64;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn dump(trace: &Trace, out: impl Write + Send) {
    let style = Style::DEFAULT;
    write_rows(trace, style, &Workers::one(), out, &Written::default())
        .expect("the output never fails");
}

fn rows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rows");
    for shape in REPLAYS {
        let trace = replay(&generate(shape, SIZE, SEED));
        let mut text = Vec::new();
        dump(&trace, &mut text);
        let counts = trace.counts();
        // The root is a row too.
        let objects = 1 + counts.containers + counts.states + counts.variables;
        let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(lines, objects + counts.events + counts.links);
        let expected = Tally { bytes: text.len() as u64 };
        group.throughput(Throughput::Bytes(expected.bytes));
        group.bench_function(shape.name(), |bencher| {
            bencher.iter(|| {
                let mut tally = Tally::default();
                dump(black_box(&trace), &mut tally);
                assert_eq!(tally, expected);
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = stages;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(3));
    targets = tokenise, decode_and_replay, rows
}
criterion_main!(stages);

//! Measures the conversion of text to numbers inside lines, as the decoder does it.

use std::hint::black_box;
use std::ops::Range;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datasets::Rng;
use paje_parser::number::{PADDING, parse_f32_at, parse_f64, parse_f64_at};

const COUNT: usize = 20_000;

type Kind = (&'static str, fn(&mut Rng) -> String);

const KINDS: [Kind; 7] = [
    ("6 decimals", |numbers| format!("{:.6}", numbers.below(1_000_000_000) as f64 / 1e6)),
    ("9 decimals", |numbers| format!("{:.9}", numbers.below(1_000_000_000_000) as f64 / 1e9)),
    ("integers", |numbers| {
        let limit = [10, 1_000, 1_000_000][numbers.index(3)];
        numbers.below(limit).to_string()
    }),
    ("negative", |numbers| format!("{:.6}", numbers.below(100_000_000) as f64 / 1e6 - 150.0)),
    ("exponent", |numbers| {
        let text = format!("{:.13e}", numbers.below(1_000_000_000) as f64 / 1e7);
        let (mantissa, exponent) = text.split_once('e').expect("`e` was asked for");
        let exponent: i32 = exponent.parse().expect("an integer");
        format!("{mantissa}e{exponent:+03}")
    }),
    ("17 digits", |numbers| format!("{:.14}", numbers.below(1_000_000_000) as f64 / 1e6)),
    ("mixed", |numbers| match numbers.below(4) {
        0 => "0".into(),
        1 => format!("{:.6}", numbers.below(1_000_000_000) as f64 / 1e6),
        2 => format!("{:.9}", numbers.below(1_000_000_000) as f64 / 1e7),
        _ => numbers.below(100_000).to_string(),
    }),
];

struct Block {
    text: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl Block {
    fn new(write: fn(&mut Rng) -> String) -> Self {
        let mut numbers = Rng::new(1);
        let mut block = Block { text: vec![b'\n'; 16], places: Vec::new() };
        for i in 0..COUNT {
            block.text.extend_from_slice(b"12 ");
            let start = block.text.len();
            block.text.extend_from_slice(write(&mut numbers).as_bytes());
            block.places.push(start..block.text.len());
            block.text.extend_from_slice(if i % 2 == 0 { b" \"w12\" S\n" } else { b" 3\n" });
        }
        block.text.extend([b'\n'; PADDING]);
        block
    }

    fn bytes(&self) -> u64 {
        self.places.iter().map(|place| place.len() as u64).sum()
    }

    fn digest(&self, parse: impl Fn(&[u8], Range<usize>) -> Option<u64>) -> u64 {
        let text = black_box(&self.text[..]);
        self.places.iter().fold(0, |sum: u64, place| {
            sum.wrapping_add(parse(text, place.clone()).expect("a number"))
        })
    }
}

fn std_f64(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("number");
    for (kind, write) in KINDS {
        let block = Block::new(write);
        group.throughput(Throughput::Bytes(block.bytes()));
        let wide = block.digest(|text, at| std_f64(&text[at]).map(f64::to_bits));
        let mut bench = |name: &str, expected, parse: fn(&[u8], Range<usize>) -> Option<u64>| {
            group.bench_function(BenchmarkId::new(name, kind), |bencher| {
                bencher.iter(|| assert_eq!(block.digest(parse), expected));
            });
        };
        bench("parse_f64_at", wide, |text, at| {
            parse_f64_at(text, at.start, at.end).map(f64::to_bits)
        });
        bench("parse_f64", wide, |text, at| parse_f64(&text[at]).map(f64::to_bits));
        bench("fast_float2", wide, |text, at| {
            fast_float2::parse::<f64, _>(&text[at]).ok().map(f64::to_bits)
        });
        bench("std", wide, |text, at| std_f64(&text[at]).map(f64::to_bits));
        let single = block.digest(|text, at| {
            let value: f32 = std::str::from_utf8(&text[at]).ok()?.parse().ok()?;
            Some(u64::from(value.to_bits()))
        });
        bench("parse_f32_at", single, |text, at| {
            parse_f32_at(text, at.start, at.end).map(|value| u64::from(value.to_bits()))
        });
    }
    group.finish();
}

criterion_group! {
    name = number;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(1))
        .warm_up_time(Duration::from_millis(500));
    targets = parse
}
criterion_main!(number);

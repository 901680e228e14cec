//! Measures the conversion of numbers to text, with a separator after each, in bytes of text per
//! second.

use std::hint::black_box;
use std::io::Write;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use datasets::Rng;
use paje_decimal::{fixed_room, put_fixed, write_fixed, write_general};

const COUNT: usize = 20_000;

type Kind = (&'static str, fn(&mut Rng) -> f64);

const KINDS: [Kind; 5] = [
    ("times, 6 digits", |numbers| numbers.below(1_000_000_000) as f64 / 1e6),
    ("times, 9 digits", |numbers| numbers.below(1_000_000_000_000) as f64 / 1e9),
    ("durations", |numbers| numbers.below(10_000_000) as f64 / 1e9),
    ("integers", |numbers| numbers.below(100_000) as f64),
    ("mixed", |numbers| match numbers.below(3) {
        0 => 0.0,
        1 => numbers.below(10_000_000) as f64 / 1e9,
        _ => numbers.below(1_000_000_000) as f64 / 1e6,
    }),
];

/// Formats with the standard library, whose `{:.*}` is exact and rounds ties to even like C's `%f`.
fn by_std(values: &[f64], precision: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for value in values {
        write!(text, "{value:.precision$},").expect("memory never fails");
    }
    text
}

fn fixed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decimal");
    for (kind, make) in KINDS {
        let mut numbers = Rng::new(1);
        let values: Vec<f64> = (0..COUNT).map(|_| make(&mut numbers)).collect();
        for precision in [6, 9] {
            let expected = by_std(&values, precision);
            group.throughput(Throughput::Bytes(expected.len() as u64));
            let name = |what: &str| BenchmarkId::new(format!("{what} {precision}"), kind);

            let mut buffer = vec![0; expected.len() + fixed_room(precision)];
            let mut put = || {
                let mut at = 0;
                for value in black_box(&values) {
                    at = put_fixed(&mut buffer, at, *value, precision);
                    buffer[at] = b',';
                    at += 1;
                }
                assert_eq!(at, expected.len());
                black_box(&buffer);
            };
            group.bench_function(name("put_fixed"), |bencher| bencher.iter(&mut put));
            put();
            assert!(buffer.starts_with(&expected));

            let mut text = Vec::new();
            let write = |text: &mut Vec<u8>| {
                text.clear();
                for value in black_box(&values) {
                    write_fixed(text, *value, precision);
                    text.push(b',');
                }
                assert_eq!(text.len(), expected.len());
            };
            write(&mut text);
            assert_eq!(text, expected);
            group.bench_function(name("write_fixed"), |bencher| bencher.iter(|| write(&mut text)));

            if kind == "mixed" {
                group.bench_function(name("std"), |bencher| {
                    bencher.iter(|| {
                        assert_eq!(by_std(black_box(&values), precision).len(), expected.len());
                    });
                });
            }
        }
    }
    group.finish();
}

/// Measures the conversion like `%g`, which is used for the times of containers.
fn general(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("general");
    let mut numbers = Rng::new(1);
    let values: Vec<f64> = (0..COUNT).map(|_| numbers.below(1_000_000_000) as f64 / 1e6).collect();
    let write = |text: &mut Vec<u8>| {
        text.clear();
        for value in black_box(&values) {
            write_general(text, *value);
            text.push(b',');
        }
    };
    let mut text = Vec::new();
    write(&mut text);
    for (field, value) in text.split(|byte| *byte == b',').zip(&values) {
        let field = std::str::from_utf8(field).expect("digits");
        let shown: f64 = field.parse().expect("a number");
        assert!((shown - value).abs() <= value * 1e-5, "{field} for {value}");
    }
    let length = text.len();
    group.throughput(Throughput::Bytes(length as u64));
    group.bench_function("write_general", |bencher| {
        bencher.iter(|| {
            write(&mut text);
            assert_eq!(text.len(), length);
        });
    });
    group.finish();
}

criterion_group! {
    name = decimal;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(1))
        .warm_up_time(Duration::from_millis(500));
    targets = fixed, general
}
criterion_main!(decimal);

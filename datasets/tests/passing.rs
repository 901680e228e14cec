//! Tests that runs of message-passing programs never change, and that each trace closes all states
//! and links that it opens.

use datasets::passing::{Case, Parameters, random};

#[path = "../src/testing.rs"]
mod testing;

use testing::fnv;

#[test]
fn the_bytes_never_change() {
    let all: Vec<u8> = (0..100).flat_map(|seed| random(seed, 50).bytes).collect();
    assert_eq!(fnv(&all), 8352215818275748334);
    let parameters = Parameters { ranks: 4, work: 3_000, late: 700, transfer: 100 };
    let cases = Case::ALL.into_iter();
    let all: Vec<u8> = cases.flat_map(|case| case.trace(&parameters).bytes).collect();
    assert_eq!(fnv(&all), 11446957617623488238);
}

#[test]
fn everything_opened_is_closed() {
    for seed in 0..200 {
        let run = random(seed, 60);
        let text = String::from_utf8(run.bytes).expect("text");
        let count = |number: &str| text.lines().filter(|line| line.starts_with(number)).count();
        assert_eq!(count("12 "), count("13 "), "seed {seed}");
        assert_eq!(count("15 "), count("16 "), "seed {seed}");
        assert_eq!((count("6 "), count("7 ")), (run.ranks, run.ranks), "seed {seed}");
    }
}

//! Runs of message-passing programs: the same bytes for ever, everything closed.

use datasets::passing::{Case, Parameters, random};

/// 64-bit FNV-1a.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const START: u64 = 0xcbf2_9ce4_8422_2325;

#[test]
fn the_bytes_never_change() {
    let all = (0..100).fold(START, |hash, seed| fnv(hash, &random(seed, 50).bytes));
    assert_eq!(all, 8352215818275748334);
    let parameters = Parameters { ranks: 4, work: 3_000, late: 700, transfer: 100 };
    let cases = Case::ALL.into_iter();
    let all = cases.fold(START, |hash, case| fnv(hash, &case.trace(&parameters).bytes));
    assert_eq!(all, 11446957617623488238);
}

#[test]
fn what_is_opened_is_closed() {
    for seed in 0..200 {
        let run = random(seed, 60);
        let text = String::from_utf8(run.bytes).expect("text");
        let count = |number: &str| text.lines().filter(|line| line.starts_with(number)).count();
        assert_eq!(count("12 "), count("13 "), "seed {seed}");
        assert_eq!(count("15 "), count("16 "), "seed {seed}");
        assert_eq!((count("6 "), count("7 ")), (run.ranks, run.ranks), "seed {seed}");
    }
}

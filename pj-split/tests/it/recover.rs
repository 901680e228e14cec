//! `--recover`: the pieces of a damaged trace give what is dumped of it, and are sound where they are said
//! to be.

use std::fs;
use std::num::NonZeroUsize;

use clap::Parser;
use datasets::invalid::{self, Fault};
use paje_sim::{Options, Progress, Source, Trace};
use paje_split::cli::Cli;
use paje_split::run::{Made, split};
use splitter::{Input, Limits};
use workers::{Pin, Workers};

use crate::rows::{Row, rows};
use crate::splitting::{Place, said};

/// How the whole and its pieces are dumped.
fn options(recover: bool) -> Options {
    let mut options = Options::default();
    options.user_defined = true;
    options.recover = recover;
    options
}

fn shown(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.text.as_str()).collect()
}

/// Splits a damaged trace, and compares; returns what is said of the pieces.
fn check(bytes: &[u8], count: &str, block: usize, threads: usize) -> Made {
    let about = || format!("{count} pieces, blocks of {block}\n{}", String::from_utf8_lossy(bytes));
    let whole = Trace::read(bytes, &options(true));
    let whole = whole.unwrap_or_else(|error| panic!("{error}\n{}", about()));
    let place = Place::new(bytes);
    let (trace, output) = (place.path("t"), place.path("d"));
    let words = ["pj_split", "--recover", "-q", "-p", count, "--threads", &threads.to_string()]
        .map(std::ffi::OsString::from);
    let words = words.into_iter().chain(["-o".into(), output.clone().into(), trace.into()]);
    let limits = Limits { block, ..Limits::default() };
    let made = split(&Cli::parse_from(words), limits);
    let made = made.unwrap_or_else(|failure| panic!("{failure:?}\n{}", about()));
    assert_eq!(made.was_sound, whole.recovered().problems.is_empty(), "{}", about());
    let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("a few threads");
    let read = |path: std::path::PathBuf| {
        let input = Input::open(Some(&path)).expect("it was written");
        let source = Source::from(input).reading_files(Some(path.clone()));
        let options = options(!made.are_sound);
        let trace = Trace::read_with(source, &options, &workers, &Progress::default());
        trace.unwrap_or_else(|error| {
            let place = error.position();
            let text = fs::read(&path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            panic!("{error} {place:?}\n{}\n{}\n{text}", path.display(), about())
        })
    };
    let together = read(output.join("root.trace"));
    let (found, wanted) = (rows(&together), rows(&whole));
    assert_eq!(shown(&found), shown(&wanted), "{}", about());
    for entry in fs::read_dir(&output).expect("it is there") {
        let path = entry.expect("readable").path();
        if !path.ends_with("root.trace") {
            read(path);
        }
    }
    made
}

/// Small random numbers.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        for (left, by) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << by } else { self.0 >> by };
        }
        (self.0 >> 16) as usize % limit.max(1)
    }
}

/// Takes lines away, repeats, moves and mixes them, and changes bytes.
fn damage(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=dice.below(8) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(7) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 | 4 => {
                // A word of another line in place of one.
                let words = |line: &[u8]| -> Vec<Vec<u8>> {
                    line.split(|byte| byte.is_ascii_whitespace()).map(<[u8]>::to_vec).collect()
                };
                let (mut mixed, others) = (words(&lines[at]), words(&lines[other]));
                let (from, to) = (dice.below(others.len()), dice.below(mixed.len()));
                mixed[to] = others[from].clone();
                lines[at] = mixed.join(&b' ');
                lines[at].push(b'\n');
            }
            5 => {
                let place = dice.below(lines[at].len());
                lines[at][place] = b"0123456789 #\"%\nxyz-."[dice.below(20)];
            }
            _ => {
                let many = dice.below(6).min(lines.len() - at);
                drop(lines.drain(at..at + many));
            }
        }
    }
    let mut all = lines.concat();
    if dice.below(4) == 0 {
        all.truncate(dice.below(all.len()));
    }
    all
}

const COUNTS: [&str; 3] = ["1", "3", "100"];

#[test]
fn every_fault() {
    for seed in 0..3 {
        for (turn, fault) in Fault::ALL.into_iter().enumerate() {
            let bytes = invalid::trace(fault, seed).bytes;
            if !bytes.is_empty() {
                let made = check(&bytes, COUNTS[turn % 3], 300, 1 + turn % 3);
                assert!(!made.was_sound, "{fault}");
            }
        }
    }
}

/// `PAJE_SEEDS=100000 cargo test --release -p pj-split --test it damaged_in_any_way` tries more.
#[test]
fn damaged_in_any_way() {
    let seeds = std::env::var("PAJE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let first = std::env::var("PAJE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let (mut mended, mut sound) = (0, 0);
    for seed in first..first + seeds.unwrap_or(300) {
        let mut dice = Dice::new(seed);
        let whole = match seed % 2 {
            0 => datasets::random::trace(seed).bytes,
            _ => invalid::trace(Fault::ALL[dice.below(Fault::ALL.len())], seed).bytes,
        };
        let bytes = damage(&whole, &mut dice);
        if bytes.is_empty() {
            continue;
        }
        println!("seed {seed}");
        let count = COUNTS[seed as usize % 3];
        let block = [100, 64, 1 << 17][seed as usize / 3 % 3];
        let made = check(&bytes, count, block, 1 + seed as usize % 2);
        mended += u32::from(!made.was_sound);
        sound += u32::from(!made.was_sound && made.are_sound);
    }
    println!("{mended} mended, {sound} of them to sound pieces");
    assert!(sound * 2 > mended, "{sound} of {mended}");
}

/// The status, and what is told, are those of pj_dump.
#[test]
fn what_is_told() {
    let bytes = invalid::trace(Fault::PopOnEmptyStack, 1).bytes;
    let place = Place::new(&bytes);
    assert_eq!(place.run(&["t", "-o", "d"]).status.code(), Some(1));
    let output = place.run(&["--recover", "-q", "t", "-o", "d"]);
    assert_eq!(output.status.code(), Some(1));
    let told = said(&output);
    assert!(told.contains(": skipped: no state of type"), "{told}");
    assert!(told.contains("1 problem of 1 kind; the rest was split"), "{told}");
    assert_eq!(place.names(), ["d", "t"]);
    let output = place.run(&["-q", "-z", "d/piece-000.trace", "-o", "e"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

//! Compares random traces with changed copies, by Debian's PajeNG 1.3.6 and by this program. The
//! answers must be equal.
//!
//! PajeNG's program is the one that `PAJENG_PJ_EQUALS` names, or `/usr/bin/pj_equals`. If there is
//! no such program, the test is skipped with a message. The number of pairs is `PAJE_SEEDS` divided
//! by four, since each pair takes four runs (500 pairs if it is unset). `PAJE_SEED` is the seed of
//! the
//! first pair (0 if unset).

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use datasets::mutate::{Change, mutated};
use datasets::random;
use paje_sim::{FieldNames, Options, Trace};
use testkit::pajeng::{pj_equals, skipped};
use testkit::{Rng, number};

/// Last lines of each trace, later than all times of random traces. They are needed because PajeNG
/// loses rows at the very end, and rows later than the last line.
const END: &str = "
%EventDef PajeDefineContainerType 900001
% Name string
% Type string
%EndEventDef
%EventDef PajeCreateContainer 900002
% Time date
% Name string
% Type string
% Container string
%EndEventDef
900001 TheVeryEnd 0
900002 4000000000000000 the_very_end TheVeryEnd 0
";

#[test]
fn pairs_are_equal_for_pajeng_and_for_us() {
    let Some(pajeng) = pj_equals() else { return skipped("pj_equals") };
    let count = number("PAJE_SEEDS").map_or(500, |seeds| seeds.div_ceil(4));
    let first = number("PAJE_SEED").unwrap_or(0);
    println!("{count} pairs from PAJE_SEED={first} on, against {}", pajeng.display());
    let folder = tempfile::Builder::new().prefix("paje-differential-").tempdir().expect("a folder");
    let paths = ["a.trace", "b.trace"].map(|name| folder.path().join(name));
    let (mut answers, mut refused) = ([0, 0], 0);
    for seed in (0..count).map(|i| first.wrapping_add(i)) {
        let (traces, options) = pair(seed);
        for (path, trace) in paths.iter().zip(&traces) {
            fs::write(path, trace).expect("the folder is writable");
        }
        let run = |program: &Path, more: &[&str]| {
            let mut command = Command::new(program);
            outcome(command.args(&options).args(more).args(&paths))
        };
        let ours = run(Path::new(env!("CARGO_BIN_EXE_pj_equals")), &[]);
        let theirs = run(&pajeng, &[]);
        // If only one program refuses a trace, pj_dump's tests report it.
        let (Some(theirs), Some(ours)) = (answer(&theirs), answer(&ours)) else {
            refused += 1;
            continue;
        };
        let quietly = run(Path::new(env!("CARGO_BIN_EXE_pj_equals")), &["-q"]);
        let same = theirs == ours
            && quietly.status.code() == run(&pajeng, &["-q"]).status.code()
            && quietly.stdout.is_empty();
        if !same {
            let kept = env::temp_dir().join(format!("paje-differential-{seed}"));
            fs::create_dir_all(&kept).expect("the folder for temporary files is writable");
            for (path, trace) in ["a.trace", "b.trace"].iter().zip(&traces) {
                fs::write(kept.join(path), trace).expect("writable");
            }
            panic!("seed {seed}, {options:?}: PajeNG {theirs}, ours {ours}: {}", kept.display());
        }
        answers[usize::from(ours)] += 1;
    }
    println!("{} are equal, {} are not; {refused} were refused", answers[1], answers[0]);
    assert!(count < 100 || answers.iter().all(|answers| *answers > count / 20));
}

/// Returns a random trace and a changed copy, both ending with [`END`], and options for the
/// comparison.
fn pair(seed: u64) -> ([Vec<u8>; 2], Vec<String>) {
    let mut random = Rng::new(seed);
    // Only seeds of valid traces are used.
    let trace = (0..)
        .map(|i| random::trace(seed.wrapping_mul(31).wrapping_add(i)))
        .find(|trace| trace.is_valid())
        .expect("most are valid");
    let mut options: Vec<String> = ["-n", "-z"].map(String::from).into();
    let mut changed = trace.bytes.clone();
    match random.below(10) {
        0 => {}
        1 => changed = in_capitals(&changed, &mut random),
        2 => changed.extend_from_slice(b"\n# the same\n"),
        3 => changed = later(&changed),
        _ => changed = valid(&changed, &mut random),
    }
    if random.below(3) == 0 {
        options.push("-i".into());
    }
    // PajeNG loops forever on zero bytes.
    changed.retain(|byte| *byte != 0);
    let ended = |trace: &[u8]| [trace, END.as_bytes()].concat();
    ([ended(&trace.bytes), ended(&changed)], options)
}

/// Changes a line so that the trace stays valid, if such a change is found.
fn valid(trace: &[u8], random: &mut Rng) -> Vec<u8> {
    let lines: Vec<&[u8]> = trace.split(|byte| *byte == b'\n').collect();
    let event = |line: &u64| !lines[*line as usize].trim_ascii_start().starts_with(b"%");
    let events: Vec<u64> = (0..lines.len() as u64).filter(event).collect();
    for _ in 0..50 {
        let mut line = || events[random.below(events.len() as u64) as usize] as u16;
        let (line, other) = (line(), line());
        // The numbers stand for swapping, doubling and removing lines, replacing a word by one of
        // another line, and replacing words of all kinds.
        let change = Change { what: random.pick(&[0, 1, 2, 7, 7, 7, 10]), line, number: other };
        let changed = mutated(trace, &[change]);
        let mut options = Options::default();
        options.field_names = FieldNames::Old;
        options.ignore_incomplete_links = true;
        // PajeNG bisects for rows that start at time 0 or later, so a link that starts earlier
        // hides others.
        let from_zero = |trace: Trace| {
            trace.lanes().all(|lane| (0..lane.len()).all(|row| lane.start(row) >= 0.0))
        };
        // After a line that ends in a quote, PajeNG does not see the next line.
        let ends_in_quote = |line: &[u8]| matches!(line, [.., b' ' | b'\t', b'"']);
        if changed.split(|byte| *byte == b'\n').any(ends_in_quote) {
            continue;
        }
        if Trace::read(&changed[..], &options).is_ok_and(from_zero) {
            return changed;
        }
    }
    trace.to_vec()
}

fn in_capitals(trace: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        trace.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = random.below(lines.len() as u64) as usize;
    if !lines[at].starts_with(b"%") {
        lines[at].make_ascii_uppercase();
    }
    lines.concat()
}

fn later(trace: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(trace);
    let lines = text.split_inclusive('\n').map(|line| {
        let words = line.split(' ').map(|word| match word.split_once('.') {
            Some((whole, part)) if whole.len() < 9 => match whole.parse::<u64>() {
                Ok(whole) => format!("{}.{part}", whole + 1),
                Err(_) => word.to_owned(),
            },
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<String>().into_bytes()
}

/// Returns the output of a program. Kills it if it does not end, since some bytes make PajeNG loop
/// forever.
fn outcome(command: &mut Command) -> Output {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(30) {
        if child.try_wait().expect("it is ours").is_some() {
            break;
        }
        thread::sleep(Duration::from_micros(500));
    }
    let _ = child.kill();
    child.wait_with_output().expect("it has ended")
}

fn answer(output: &Output) -> Option<bool> {
    match output.stdout.as_slice() {
        b"1\n" if output.status.success() => Some(true),
        b"0\n" if output.status.success() => Some(false),
        _ => None,
    }
}

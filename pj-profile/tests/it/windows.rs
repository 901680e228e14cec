//! Checks that only a part of a packed trace is read for a window, and that the reports equal those
//! of the text.

use std::fs;
use std::path::Path;

use clap::Parser;
use datasets::{Rng, Shape, lively, random};
use paje_sim::{Options, Trace};
use pj_pack::pack::pack_all;
use pj_profile::cli::Cli;
use pj_profile::run::{Cuts, bytes};
use tempfile::TempDir;

use crate::cli::program;

/// All reports, with options that affect their rows.
const REPORTS: [&str; 23] = [
    "states",
    "states --by container",
    "states --by H",
    "states --in p --of-type S",
    "comm",
    "comm --by Host",
    "comm --bytes Size --in h",
    "time",
    "time --bins 7 --by value",
    "time --inclusive --by H",
    "time --classes --map mpi",
    "variables",
    "variables --bins 5",
    "variables --in q",
    "events",
    "events --by container --top 3",
    "states --quotes keep",
    "states --quotes strip",
    "summary",
    "waits",
    "critical",
    "states --sort",
    "compare",
];

/// Writes a trace as text and as a packed trace with stored lanes, in segments of this size.
fn both(text: &[u8], segment: usize) -> TempDir {
    testkit::folder(&[("t", text), ("t.pjp", &pack_all(text, segment).expect("memory"))])
}

fn report(folder: &Path, name: &str, words: &[&str]) -> Result<String, String> {
    let path = folder.join(name).to_str().expect("a folder of letters").to_owned();
    let paths = if words[0] == "compare" { vec![path.clone(), path] } else { vec![path] };
    let options = ["pj_profile", "--no-warnings", "--format", "json"];
    let words = options.iter().chain(words).map(|word| (*word).to_owned());
    let cli = Cli::parse_from(words.chain(paths));
    let text = bytes(&cli, Cuts::default()).map_err(|failure| format!("{failure:#?}"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns options for a random window, with one or both ends.
fn window(end: f64, rng: &mut Rng) -> Vec<String> {
    let time = |rng: &mut Rng| end * rng.index(1000) as f64 / 1000.0;
    let (one, other) = (time(rng), time(rng));
    let (from, to) = (one.min(other).to_string(), one.max(other).to_string());
    let pair = |option: &str, time| vec![option.to_owned(), time];
    match rng.index(6) {
        0 => pair("-s", from),
        1 => pair("-e", to),
        2 => pair("-s", (end + 1.0).to_string()),
        3 => [pair("-s", from.clone()), pair("-e", from)].concat(),
        _ => [pair("-s", from), pair("-e", to)].concat(),
    }
}

fn look_at(what: &str, text: &[u8], segment: usize, turns: usize, rng: &mut Rng) {
    let folder = both(text, segment);
    let end = Trace::read(text, &Options::default()).expect("the trace is valid").end();
    for turn in 0..turns {
        let window = window(end, rng);
        let mut words: Vec<&str> = REPORTS[rng.index(REPORTS.len())].split(' ').collect();
        words.extend(window.iter().map(String::as_str));
        let report = |name: &str| {
            // Messages about failures contain the name of the file.
            report(folder.path(), name, &words).map_err(|failure| failure.replace("t.pjp", "t"))
        };
        assert_eq!(report("t.pjp"), report("t"), "{what}, {turn}: {words:?}");
    }
}

fn is_plain(text: &[u8]) -> bool {
    let mut options = Options::default();
    options.usage = true;
    Trace::read(text, &options).is_ok_and(|trace| trace.is_plain())
}

#[test]
fn windows_of_lively_traces() {
    let mut rng = Rng::new(5);
    for turn in 0..testkit::number("PAJE_SEEDS").unwrap_or(6) {
        let segment = [150, 400, 1500, 4000][rng.index(4)];
        let text = lively(turn);
        look_at(&format!("turn {turn}"), &text, segment, 10, &mut rng);
    }
}

#[test]
fn windows_of_random_traces() {
    let mut rng = Rng::new(6);
    for seed in 0..testkit::number("PAJE_SEEDS").unwrap_or(60) {
        let text = random::trace(seed).bytes;
        if is_plain(&text) {
            look_at(&format!("seed {seed}"), &text, 400, 3, &mut rng);
        }
    }
}

#[test]
fn windows_of_every_shape() {
    let mut rng = Rng::new(7);
    for shape in Shape::ALL {
        let text = datasets::generate(shape, 20_000, 3);
        if is_plain(&text) {
            look_at(&format!("{shape:?}"), &text, 2000, 2, &mut rng);
        }
    }
}

fn bytes_read(folder: &TempDir, words: &[&str]) -> u64 {
    let run = program(words).args(["--stats", "t.pjp"]).current_dir(folder.path()).output();
    let output = run.expect("the program runs");
    let said = testkit::said(&output);
    let line = said.lines().find_map(|line| line.strip_prefix("read "));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn only_a_part_is_read_for_a_window() {
    let text = datasets::generate(Shape::Mpi, 300_000, 3);
    let end = Trace::read(&text[..], &Options::default()).expect("the trace is valid").end();
    let folder = both(&text, 5000);
    let size = fs::metadata(folder.path().join("t.pjp")).expect("the file was written").len();
    let (from, to) = ((end * 0.5).to_string(), (end * 0.51).to_string());
    let window = ["-s", &from, "-e", &to];
    for report in ["states", "comm", "time", "variables", "events"] {
        let read = bytes_read(&folder, &[&[report], &window[..]].concat());
        assert!(read > 1000 && read < size / 8, "{report}: {read} of {size}");
    }
    for report in ["waits", "critical", "summary", "states --in rank-0 --sort", "time --classes"] {
        let words: Vec<&str> = report.split(' ').chain(window).collect();
        assert!(bytes_read(&folder, &words) >= size, "{report}");
    }
    // This kind of report is not stored.
    assert!(bytes_read(&folder, &["states", "--by", "container"]) >= size);
}

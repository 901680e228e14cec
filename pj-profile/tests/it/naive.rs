//! Compares reports with simple loops over all rows, for several numbers of threads and sizes of
//! blocks and portions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use datasets::random;
use paje_sim::{Options, Trace};
use pj_profile::cli::Cli;
use pj_profile::run::{Cuts, bytes};
use splitter::Limits;

use crate::naive_rows::{Asked, Naive};

fn cli(words: &[String]) -> Cli {
    let words = ["pj_profile", "--no-warnings", "--format", "csv", "--quotes", "strip"]
        .into_iter()
        .map(String::from)
        .chain(words.iter().cloned());
    Cli::parse_from(words)
}

fn report(words: &[String], cuts: Cuts) -> String {
    let text = bytes(&cli(words), cuts).unwrap_or_else(|failure| panic!("{words:?}: {failure:?}"));
    String::from_utf8_lossy(&text).into_owned()
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().skip(1).map(String::from).collect()
}

/// Separates decimal numbers from the other fields of each line. In `columns`, numbers may lack a
/// decimal point.
fn apart(lines: &BTreeSet<String>, columns: &[usize]) -> BTreeMap<String, Vec<Vec<f64>>> {
    let mut all: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    for line in lines {
        let (mut rest, mut decimals) = (Vec::new(), Vec::new());
        for (i, field) in line.split(',').enumerate() {
            match field.parse() {
                Ok(number) if columns.contains(&i) || field.contains('.') => decimals.push(number),
                _ => rest.push(field),
            }
        }
        all.entry(rest.join(",")).or_default().push(decimals);
    }
    all
}

/// Asserts that lines are equal, apart from rounding. Numbers may differ in the last digit, by the
/// relative rounding error `part` of sums, and by the error that results from dividing by a very
/// short time.
fn assert_same(
    found: &BTreeSet<String>,
    wanted: &BTreeSet<String>,
    columns: &[usize],
    part: f64,
    length: f64,
    what: &str,
) {
    let (found, wanted) = (apart(found, columns), apart(wanted, columns));
    let only = |a: &BTreeMap<String, _>, b: &BTreeMap<String, _>| -> Vec<String> {
        a.keys().filter(|key| !b.contains_key(*key)).cloned().collect()
    };
    let missing = (only(&found, &wanted), only(&wanted, &found));
    assert!(missing.0.is_empty() && missing.1.is_empty(), "{what}: {missing:#?}");
    for ((name, found), wanted) in found.iter().zip(wanted.values()) {
        let (found, wanted) = (found.concat(), wanted.concat());
        assert_eq!(found.len(), wanted.len(), "{what}: {name}");
        for (found, wanted) in found.into_iter().zip(wanted) {
            let coarse = 1e3 * 2f64.powi(-64) / length.max(1e-16);
            let near = 1.001e-9 + (part + coarse) * f64::max(found.abs(), wanted.abs());
            assert!((found - wanted).abs() <= near, "{what}: {name}: {found} {wanted}");
        }
    }
}

fn drawn(seed: u64, count: u64, salt: u64) -> u64 {
    let mixed =
        (seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 31)) % count
}

fn cuts(seed: u64) -> Cuts {
    let block = [37, 300, 5000, 1 << 17][drawn(seed, 4, 1) as usize];
    let portion = [200, 1000, 20_000, 1 << 24][drawn(seed, 4, 2) as usize];
    Cuts { limits: Limits { block, line: 1 << 20 }, portion }
}

/// Compares all reports of a trace with loops over rows. `seed` determines the options.
fn compare(path: &Path, trace: &Trace, given: &[String], seed: u64) -> usize {
    let mut compared = 0;
    let containers = trace.containers();
    let start = containers.ids().skip(1).map(|id| containers.start(id)).fold(trace.end(), f64::min);
    let length = trace.end() - start;
    let types: Vec<String> =
        containers.ids().map(|id| trace.types().name(containers.type_of(id)).to_string()).collect();
    let type_ = types[drawn(seed, types.len() as u64, 3) as usize].clone();
    for (report_, salt) in ["states", "comm", "time", "variables", "events"].into_iter().zip(10..) {
        let draw = |count, more: u64| drawn(seed, count, salt * 100 + more);
        let mut asked = Asked::default();
        let mut words: Vec<String> = vec![report_.into()];
        words.extend(given.iter().cloned());
        if draw(3, 1) == 0 {
            asked.from = Some(start + length * draw(8, 2) as f64 / 10.0);
            words.push(format!("--start={}", asked.from.unwrap_or(0.0)));
        }
        if draw(3, 3) == 0 {
            let from = asked.from.unwrap_or(start);
            asked.to = Some(from + length * draw(8, 4) as f64 / 10.0);
            words.push(format!("--end={}", asked.to.unwrap_or(0.0)));
        }
        if matches!(report_, "states" | "time") {
            asked.by = [None, Some("value"), Some("container"), Some(type_.as_str()), Some("kind")]
                [draw(5, 5) as usize]
                .map(String::from);
            words.extend(asked.by.iter().map(|by| format!("--by={by}")));
        }
        if report_ == "comm" && draw(2, 6) == 0 {
            asked.level = Some(type_.clone());
            words.push(format!("--by={type_}"));
        }
        if matches!(report_, "time" | "variables") && draw(2, 7) == 0 {
            asked.bins = Some(1 + draw(7, 8) as u32);
            words.extend(asked.bins.iter().map(|bins| format!("--bins={bins}")));
        }
        if report_ == "time" && draw(2, 9) == 0 {
            asked.inclusive = true;
            words.push("--inclusive".into());
        }
        let has = |text: &[u8]| text.contains(&b'a');
        let is_named = |trace: &Trace, id| {
            let (types, alias) = (trace.types(), trace.types().alias(id));
            has(types.name(id).text) || alias.is_some_and(|alias| has(alias.text))
        };
        // A pattern that matches nothing is an error.
        let only = draw(4, 10) == 0 && trace.types().ids().any(|id| is_named(trace, id));
        if only {
            words.push("--of-type=*a*".into());
        }
        words.push(path.display().to_string());
        let threads = [1, 2, 5][draw(3, 11) as usize];
        words.push(format!("--threads={threads}"));

        let naive =
            Naive::of(trace, asked.clone()).only(|trace, row| !only || is_named(trace, row.type_));
        let text = report(&words, cuts(seed + salt));
        let (found, wanted) = match (report_, asked.bins) {
            ("states", _) => (lines(&text), naive.states()),
            ("comm", _) => (lines(&text), naive.comm()),
            ("time", _) => (lines(&text), naive.time()),
            ("events", _) => (lines(&text), naive.events()),
            (_, None) => (lines(&text), naive.variables()),
            (_, Some(_)) => (lines(&text), naive.variable_bins()),
        };
        let what = format!("seed {seed}: {}", words.join(" "));
        let is_long = |line: &String| report_ != "time" || !line.ends_with(",0.000000000");
        // Times of about half a nanosecond may be rounded to zero or not.
        let [found, wanted] = [found, wanted].map(|all| all.into_iter().filter(is_long).collect());
        let (columns, part): (&[usize], f64) = match (report_, asked.bins) {
            ("variables", None) => (&[3, 4, 5, 6], 1e-9),
            ("variables", Some(_)) => (&[5], 1e-9),
            ("comm", _) => (&[5], 0.0),
            _ => (&[], 1e-12),
        };
        let (from, to) = (asked.from.unwrap_or(start), asked.to.unwrap_or(trace.end()));
        assert_same(&found, &wanted, columns, part, to - from, &what);
        compared += found.len();

        let mut other = words.clone();
        other.pop();
        other.push(format!("--threads={}", [5, 1, 2][draw(3, 11) as usize]));
        assert_eq!(report(&other, cuts(seed + salt + 7)), text, "{what}");
    }
    compared
}

fn read(path: &Path, given: &[String]) -> Option<Trace> {
    let mut words: Vec<String> = vec!["comm".into(), path.display().to_string()];
    words.extend(given.iter().cloned());
    let mut options: Options = cli(&words).options(Limits::default());
    options.selection = Default::default();
    Trace::open_with(path, &options, &paje_workers::Workers::one()).ok()
}

#[test]
fn reports_of_random_traces_match() {
    let count =
        std::env::var("PAJE_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let first = std::env::var("PAJE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("random.trace");
    let (mut traces, mut rows) = (0, 0);
    for seed in first..first + count {
        let random = random::trace(seed);
        // Large traces are skipped, because naive loops are slow.
        if !random.is_valid() || random.bytes.len() > 30_000 {
            continue;
        }
        let known = |option: &&String| {
            ["-n", "-z", "--no-strict", "--ignore-incomplete-links"].contains(&option.as_str())
        };
        let given: Vec<String> = random.options.iter().filter(known).cloned().collect();
        fs::write(&path, &random.bytes).expect("writable");
        let trace = read(&path, &given).unwrap_or_else(|| panic!("seed {seed} is valid"));
        rows += compare(&path, &trace, &given, seed);
        traces += 1;
    }
    println!("{traces} traces, {rows} rows of reports");
    assert!(traces * 2 > count, "{traces}");
    assert!(rows as u64 > 10 * traces, "{rows}");
}

fn traces_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder");
    for entry in entries {
        let path = entry.expect("readable").path();
        match path.extension().and_then(|ending| ending.to_str()) {
            _ if path.is_dir() => traces_below(&path, found),
            Some("trace" | "paje") => found.push(path),
            _ => {}
        }
    }
    found.sort();
}

#[test]
fn reports_of_examples_and_given_traces_match() {
    let mut all = Vec::new();
    traces_below(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples")), &mut all);
    if let Some(folder) = std::env::var_os("PAJE_CORPUS") {
        traces_below(Path::new(&folder), &mut all);
    }
    let (mut traces, mut rows) = (0, 0);
    for path in &all {
        if fs::metadata(path).expect("the file exists").len() > 60_000 {
            continue;
        }
        let ways: [&[&str]; 4] = [&[], &["-z"], &["-n", "-z"], &["-z", "--sort"]];
        for given in ways {
            let given: Vec<String> = given.iter().map(|word| (*word).to_owned()).collect();
            let Some(trace) = read(path, &given) else { continue };
            for seed in 0..4 {
                rows += compare(path, &trace, &given, seed);
            }
            traces += 1;
            break;
        }
    }
    println!("{traces} traces of {}, {rows} rows of reports", all.len());
    assert!(traces > 10, "{traces}");
}

//! Compares the profile of a window with that of `pj_profile states -s -e --in`, which
//! `paje-analysis` computes.
//!
//! The page adds up summaries, and rows at the ends of the window. The library adds up all rows.
//! `PAJE_TRACES` is a folder of additional traces.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use paje_analysis::states::States;
use paje_analysis::{By, Scope};
use paje_sim::{FieldNames, Options, Selection, TimeRange, Trace};
use paje_workers::Workers;
use serde_json::Value;
use testkit::Rng;

use crate::world::{Served, example};

type Seconds = BTreeMap<(String, String), f64>;

fn of_library(trace: &Trace, window: TimeRange) -> Seconds {
    let mut selection = Selection::default();
    selection.window = window;
    let workers = Workers::one();
    let mut states = States::new(Scope::new(&selection), By::Value);
    states.see(trace, &workers);
    let mut sums = Seconds::new();
    for row in states.rows(trace) {
        let key = (row.type_.name().to_string(), row.value.name().to_string());
        *sums.entry(key).or_default() += row.inclusive.to_f64();
    }
    sums
}

fn of_page(served: &Served, model: &Value, window: TimeRange) -> Seconds {
    let answer = served.get(&format!("profile?from={}&to={}", window.from, window.to));
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let mut sums = Seconds::new();
    for it in answer["states"].as_array().expect("states") {
        let number = |at: usize| it[at].as_f64().expect("a number");
        let type_ = &model["types"][number(0) as usize];
        let text = |value: &Value| value.as_str().expect("a name").to_owned();
        let value = text(&type_["values"][number(1) as usize][0]);
        *sums.entry((text(&type_["name"]), value)).or_default() += number(2);
    }
    sums
}

/// Compares some windows. Returns the number of compared values.
fn compare(path: &Path, options: &[&str], windows: usize, rng: &mut Rng) -> usize {
    let mut reading = Options::default();
    reading.field_names =
        if options.contains(&"-n") { FieldNames::Old } else { FieldNames::Strict };
    reading.ignore_incomplete_links = options.contains(&"-z");
    let trace =
        Trace::open_with(path, &reading, &Workers::one()).unwrap_or_else(|error| panic!("{error}"));
    let served = Served::of(path, options);
    let model: Value = serde_json::from_str(&served.get("model")).expect("JSON");
    let end = trace.end();
    let mut compared = 0;
    for _ in 0..windows {
        // The smallest windows have a few rows, and the largest is the whole trace.
        let width = end * (-(rng.index(20) as f64)).exp2();
        let from = (end - width) * rng.index(1001) as f64 / 1000.0;
        let window = TimeRange { from, to: from + width };
        let (library, page) = (of_library(&trace, window), of_page(&served, &model, window));
        let case = format!("{}, {from} to {}", path.display(), from + width);
        // The page rounds times to ticks. A trace has billions of ticks.
        let slack = 1e-9 * end;
        for (key, seconds) in &library {
            let of_type = page.iter().filter(|((type_, _), _)| *type_ == key.0);
            let (count, least) = of_type
                .fold((0, f64::INFINITY), |(n, least), (_, shown)| (n + 1, least.min(*shown)));
            match page.get(key) {
                // At most 100 values are listed.
                None if count == 100 => assert!(*seconds <= least + slack, "{case}, {key:?}"),
                shown => {
                    let shown = shown.copied().unwrap_or(0.0);
                    let is_right = (shown - seconds).abs() <= slack;
                    assert!(is_right, "{case}, {key:?}: {shown}, not {seconds}");
                }
            }
        }
        for (key, shown) in &page {
            assert!(*shown <= slack || library.contains_key(key), "{case}, {key:?}: {shown}");
        }
        compared += library.len();
    }
    compared
}

#[test]
fn profiles_agree_with_the_library() {
    let mut rng = Rng::new(28);
    for name in ["mpi", "deep", "many-containers", "task-runtime", "destroyed", "unique-values"] {
        let path = example(&format!("{name}.trace"));
        assert!(compare(&path, &[], 25, &mut rng) > 0, "{name}: nothing was compared");
    }
}

#[test]
fn profiles_of_further_traces_agree_with_the_library() {
    let Some(folder) = std::env::var_os("PAJE_TRACES") else { return };
    let mut rng = Rng::new(testkit::number("PAJE_SEED").unwrap_or(28));
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let mut reading = Options::default();
        reading.field_names = FieldNames::Old;
        reading.ignore_incomplete_links = true;
        if Trace::open_with(&path, &reading, &Workers::one())
            .is_ok_and(|trace| trace.lanes().next().is_some())
        {
            let values = compare(&path, &["-n", "-z", "--no-fields"], 20, &mut rng);
            println!("{}: {values} values", path.display());
        }
    }
}

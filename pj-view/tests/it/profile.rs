//! The profile of a selection, beside that of `paje-analysis`, which `pj_profile states -s -e --in` tells.
//!
//! The page's is the sum of summaries and of rows at the ends, the library's that of all rows: they share no sums.
//! `PAJE_TRACES` is a folder of other traces, as for what the page draws.

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

/// Seconds by type and value.
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
    let told = served.get(&format!("profile?from={}&to={}", window.from, window.to));
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let mut sums = Seconds::new();
    for it in told["states"].as_array().expect("states") {
        let number = |at: usize| it[at].as_f64().expect("a number");
        let type_ = &model["types"][number(0) as usize];
        let text = |value: &Value| value.as_str().expect("a name").to_owned();
        let value = text(&type_["values"][number(1) as usize][0]);
        *sums.entry((text(&type_["name"]), value)).or_default() += number(2);
    }
    sums
}

/// Compares so many windows; returns the number of values that were compared.
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
        // From a few rows' width to all.
        let width = end * (-(rng.index(20) as f64)).exp2();
        let from = (end - width) * rng.index(1001) as f64 / 1000.0;
        let window = TimeRange { from, to: from + width };
        let (library, page) = (of_library(&trace, window), of_page(&served, &model, window));
        let case = format!("{}, {from} to {}", path.display(), from + width);
        // The page counts in ticks, of which the trace has billions.
        let slack = 1e-9 * end;
        for (key, seconds) in &library {
            let of_type = page.iter().filter(|((type_, _), _)| *type_ == key.0);
            let (count, least) =
                of_type.fold((0, f64::INFINITY), |(n, least), (_, told)| (n + 1, least.min(*told)));
            match page.get(key) {
                // Of many values, those with the most are told.
                None if count == 100 => assert!(*seconds <= least + slack, "{case}, {key:?}"),
                told => {
                    let told = told.copied().unwrap_or(0.0);
                    let is_right = (told - seconds).abs() <= slack;
                    assert!(is_right, "{case}, {key:?}: {told}, not {seconds}");
                }
            }
        }
        for (key, told) in &page {
            assert!(*told <= slack || library.contains_key(key), "{case}, {key:?}: {told}");
        }
        compared += library.len();
    }
    compared
}

#[test]
fn the_profile_of_a_selection_is_that_of_the_library() {
    let mut rng = Rng::new(28);
    for name in ["mpi", "deep", "many-containers", "task-runtime", "destroyed", "unique-values"] {
        let path = example(&format!("{name}.trace"));
        assert!(compare(&path, &[], 25, &mut rng) > 0, "{name}: nothing was compared");
    }
}

#[test]
fn the_profile_of_own_traces_is_that_of_the_library() {
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

//! Compares answers of the server with simple computations from rows.

use std::collections::BTreeMap;

use paje_sim::{LaneId, Trace};
use serde_json::Value;

use crate::world::{Served, example};

fn number(text: &str, name: &str) -> f64 {
    let answer: Value = serde_json::from_str(text).expect("JSON");
    answer[name].as_f64().unwrap_or_else(|| panic!("{name} is no number: {text}"))
}

#[test]
fn the_profile_of_a_window_agrees_with_rows() {
    for name in ["mpi.trace", "deep.trace", "many-containers.trace"] {
        let trace = Trace::open(example(name)).expect("an example");
        let served = Served::of(&example(name), &[]);
        let end = trace.end();
        for (from, to) in
            [(0.0, end), (end * 0.2, end * 0.7), (end * 0.5, end * 0.5001), (end, end)]
        {
            let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
            for state in trace.states() {
                let seconds = state.end.min(to) - state.start.max(from);
                if seconds > 0.0 {
                    *sums.entry((state.lane.type_id().0, state.value.0)).or_default() += seconds;
                }
            }
            let answer = served.get(&format!("profile?from={from}&to={to}"));
            let parsed: Value = serde_json::from_str(&answer).expect("JSON");
            let mut found = BTreeMap::new();
            for it in parsed["states"].as_array().expect("states") {
                let number = |i: usize| it[i].as_f64().expect("a number");
                if number(2) > 0.0 {
                    found.insert((number(0) as u32, number(1) as u32), number(2));
                }
            }
            assert_eq!(found.len(), sums.len(), "{name}, {from} to {to}: {answer}");
            for (key, seconds) in &sums {
                assert!(
                    (found[key] - seconds).abs() <= 1e-9 * end,
                    "{name}, {from} to {to}, {key:?}: {answer}"
                );
            }
        }
    }
}

#[test]
fn a_folded_container_is_the_sum_of_its_contents() {
    let trace = Trace::open(example("mpi.trace")).expect("an example");
    let served = Served::of(&example("mpi.trace"), &[]);
    let model: Value = serde_json::from_str(&served.get("model")).expect("JSON");
    let double = |name: &str| model[name].as_f64().expect("a number");
    let (level, lanes) = ((trace.end() / double("tick")).log2() as u32 - 3, 4.0);
    let width = double("tick") * f64::from(level).exp2();
    let bytes = served.get_bytes(&format!("folded?level={level}&first=0&count=16&containers=0"));
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    assert_eq!((word(0), word(4), word(8), word(12)), (0, 6, level, 16));
    let (amounts, values) = (word(16) as usize, 32 + 2 * 64);
    let padded = |count: usize| (count * 4).next_multiple_of(8);
    let mut at = 0;
    for bin in 0..16 {
        let from = double("origin") + bin as f64 * width;
        let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
        for state in trace.states().filter(|state| state.imbrication == 0) {
            let seconds = state.end.min(from + width) - state.start.max(from);
            if seconds > 0.0 {
                *sums.entry(state.value.0).or_default() += seconds / width / lanes;
            }
        }
        assert!(sums.len() <= 8, "all shares are sent one by one");
        let mut drawn = BTreeMap::new();
        for at in at..word(32 + 4 * bin) as usize {
            let share = f32::from_bits(word(values + 2 * padded(amounts) + 4 * at));
            drawn.insert(word(values + 4 * at), f64::from(share));
        }
        at = word(32 + 4 * bin) as usize;
        for (value, share) in &sums {
            let found = drawn.get(value).copied().unwrap_or(0.0);
            assert!((found - share).abs() < 1e-5, "bin {bin}: {drawn:?} instead of {sums:?}");
        }
        assert!(drawn.values().sum::<f64>() < 1.0 + 1e-5);
    }
    // All types are hidden.
    let types = (0..20).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
    let bytes = served
        .get_bytes(&format!("folded?level={level}&first=0&count=16&containers=0&hidden={types}"));
    assert_eq!(bytes[16..20], [0; 4]);
}

#[test]
fn rows_are_sent_with_fields_and_lines() {
    let trace = Trace::open(example("mpi.trace")).expect("an example");
    let served = Served::of(&example("mpi.trace"), &[]);
    let mut links = 0;
    for lane in trace.lanes().filter(|lane| !lane.is_empty()) {
        let LaneId(id) = lane.id();
        for (row, state) in lane.states().enumerate().step_by(7) {
            let answer = served.get(&format!("row?lane={id}&row={row}"));
            assert_eq!(
                (number(&answer, "value"), number(&answer, "imbrication")),
                (f64::from(state.value.0), f64::from(state.imbrication))
            );
            assert!(
                number(&answer, "line") > 1.0 && answer.contains(&format!("\"row\":{row}")),
                "{answer}"
            );
            links += answer.matches("\"other\"").count();
        }
    }
    assert!(links > 0, "no state has links");
}

#[test]
fn rows_of_a_value_are_found_in_order() {
    let trace = Trace::open(example("mpi.trace")).expect("an example");
    let served = Served::of(&example("mpi.trace"), &[]);
    let first = trace.states().next().expect("a state");
    let (type_, value) = (first.lane.type_id(), first.value);
    let mut starts: Vec<f64> = trace
        .states()
        .filter(|state| state.lane.type_id() == type_ && state.value == value)
        .map(|state| state.start)
        .collect();
    starts.sort_by(f64::total_cmp);
    let (mut at, mut lane, mut row) = (-1.0, 0.0, 0.0);
    for start in &starts {
        let answer = served.get(&format!(
            "find?type={}&value={}&time={at}&lane={lane}&row={row}",
            type_.0, value.0
        ));
        (at, lane, row) =
            (number(&answer, "start"), number(&answer, "lane"), number(&answer, "row"));
        assert!((at - start).abs() < 1e-12, "{answer}");
    }
    // The search wraps around at both ends.
    let answer = served
        .get(&format!("find?type={}&value={}&time={at}&lane={lane}&row={row}", type_.0, value.0));
    assert!((number(&answer, "start") - starts[0]).abs() < 1e-12);
    let answer =
        served.get(&format!("find?type={}&value={}&time=-1&lane=0&row=0&back=1", type_.0, value.0));
    assert!((number(&answer, "start") - starts[starts.len() - 1]).abs() < 1e-12);
}

//! Compares the flame view and the values of fields with naive counts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::world::{Served, example};

fn json(served: &Served, target: &str) -> Value {
    serde_json::from_str(&served.get(target)).expect("JSON")
}

fn numbers(columns: &Value) -> Vec<f64> {
    columns.as_array().expect("numbers").iter().filter_map(Value::as_f64).collect()
}

/// Each state, from the answers for single rows, with its lane and its type.
fn states(served: &Served, model: &Value) -> Vec<(u64, u64, Value)> {
    let lanes = &model["lanes"];
    let mut found = Vec::new();
    for (i, id) in numbers(&lanes["id"]).into_iter().enumerate() {
        let type_ = lanes["type"][i].as_u64().expect("a type");
        if model["types"][type_ as usize]["nature"] != "state" {
            continue;
        }
        for row in 0..lanes["rows"][i].as_u64().expect("a count") {
            found.push((id as u64, type_, json(served, &format!("row?lane={id}&row={row}"))));
        }
    }
    found
}

/// Seconds and number of the states of a window, by their path: the last states of each level before
/// it in its lane.
fn naive(
    states: &[(u64, u64, Value)],
    from: f64,
    to: f64,
) -> BTreeMap<Vec<(u64, u64)>, (f64, u64)> {
    let number = |row: &Value, name: &str| row[name].as_f64().expect("a number");
    let mut sums: BTreeMap<Vec<(u64, u64)>, (f64, u64)> = BTreeMap::new();
    for (at, (lane, type_, row)) in states.iter().enumerate() {
        let (start, end) = (number(row, "start"), number(row, "end"));
        if start >= to || end <= from {
            continue;
        }
        let level = |row: &Value| row["imbrication"].as_u64().expect("a level");
        let mut path = Vec::new();
        for wanted in 0..=level(row) {
            let mut before = states[..=at].iter().rev();
            let around = before.find(|(of, _, it)| of == lane && level(it) == wanted);
            path.extend(around.map(|(_, _, it)| (*type_, it["value"].as_u64().expect("a value"))));
        }
        let sum = sums.entry(path).or_default();
        sum.0 += end.min(to) - start.max(from);
        sum.1 += 1;
    }
    sums
}

fn answered(answer: &Value) -> BTreeMap<Vec<(u64, u64)>, (f64, u64)> {
    let mut paths: Vec<Vec<(u64, u64)>> = Vec::new();
    let mut sums = BTreeMap::new();
    for it in answer["paths"].as_array().expect("paths") {
        let number = |at: usize| it[at].as_u64().expect("a number");
        let mut path = it[0].as_u64().map_or(Vec::new(), |parent| paths[parent as usize].clone());
        path.push((number(1), number(2)));
        let twice = sums.insert(path.clone(), (it[3].as_f64().expect("seconds"), number(4)));
        assert_eq!(twice, None, "{path:?}");
        paths.push(path);
    }
    sums
}

#[test]
fn paths_have_the_time_of_their_states() {
    let mut compared = 0;
    for name in ["deep.trace", "mpi.trace", "task-runtime.trace"] {
        let served = Served::of(&example(name), &[]);
        let model = json(&served, "model");
        let all = states(&served, &model);
        let [begin, end] = [0, 1].map(|i| model["extent"][i].as_f64().expect("a time"));
        for (low, high) in [(0.0, 1.0), (0.3, 0.4), (0.25, 0.75), (0.5, 0.500_01)] {
            let (from, to) = (begin + (end - begin) * low, begin + (end - begin) * high);
            let target = format!("flame?container=0&from={from}&to={to}");
            let (own, wanted) = (answered(&json(&served, &target)), naive(&all, from, to));
            assert_eq!(own.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{name}");
            for (path, (seconds, count)) in &own {
                let (sum, number) = wanted[path];
                assert_eq!(*count, number, "{name}: {path:?}");
                assert!((seconds - sum).abs() <= 1e-9 * end.abs(), "{name}: {seconds} {sum}");
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn fields_of_rows_are_those_of_each_row() {
    let served = Served::of(&example("user-fields.trace"), &["--fields"]);
    let model = json(&served, "model");
    let mut found = 0;
    for (i, lane) in numbers(&model["lanes"]["id"]).into_iter().enumerate() {
        let count = model["lanes"]["rows"][i].as_u64().expect("a count");
        let rows: Vec<Value> =
            (0..count).map(|row| json(&served, &format!("row?lane={lane}&row={row}"))).collect();
        let all = (0..count).map(|row| row.to_string()).collect::<Vec<_>>();
        let names: Vec<&str> = rows
            .iter()
            .flat_map(|row| row["fields"].as_array().expect("fields"))
            .filter_map(|field| field[0].as_str())
            .collect();
        for name in names.into_iter().chain(["none"]) {
            let target = format!("fields?lane={lane}&name={name}&rows={}", all.join("%2C"));
            let answer = json(&served, &target);
            for (row, value) in rows.iter().zip(answer.as_array().expect("values")) {
                let fields = row["fields"].as_array().expect("fields");
                let wanted = fields.iter().find(|field| field[0] == name).map(|it| &it[1]);
                assert_eq!(value, wanted.unwrap_or(&Value::Null), "{lane} {name}");
                found += usize::from(wanted.is_some());
            }
            // Every second row.
            let some: Vec<_> = all.iter().step_by(2).cloned().collect();
            let target = format!("fields?lane={lane}&name={name}&rows={}", some.join(","));
            let wanted: Vec<_> = answer.as_array().expect("values").iter().step_by(2).collect();
            assert_eq!(json(&served, &target), serde_json::json!(wanted));
        }
    }
    assert!(found > 5, "{found}");
}

#[test]
fn wrong_requests_for_paths_and_fields_are_refused() {
    let served = Served::of(&example("mpi.trace"), &[]);
    for target in [
        "flame",
        "flame?container=0&from=0",
        "flame?container=999999&from=0&to=1",
        "flame?container=0&from=0&to=inf",
        "fields?lane=0&name=x",
        "fields?lane=0&name=x&rows=",
        "fields?lane=0&name=x&rows=1,0",
        "fields?lane=0&name=x&rows=999999999",
        "fields?lane=0&rows=0",
        "fields?lane=99999&name=x&rows=0",
    ] {
        let answer = served.ask("GET", &format!("/{}/{target}", served.token), "");
        assert!(answer.starts_with("HTTP/1.1 400 "), "{target}: {answer}");
    }
}

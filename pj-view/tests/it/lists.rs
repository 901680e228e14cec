//! Compares the communication matrix, lists of messages, histograms and searches with plain counts.

use std::collections::BTreeMap;

use datasets::Shape;
use paje_sim::{LaneView, Options, Trace, TypeNature};
use serde_json::{Value, json};

use crate::explained::json_of;
use crate::world::{Served, status};

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|it| it.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Returns a trace with sizes, keys and fields.
fn sized() -> String {
    let mut text = testkit::definitions([
        ("1", "DefineContainerType", "Name Type"),
        ("2", "DefineStateType", "Name Type"),
        ("3", "CreateContainer", "Time:date Name Type Container"),
        ("4", "SetState", "Time:date Type Container Value Task:string"),
        ("5", "DefineLinkType", "Name Type StartContainerType EndContainerType"),
        ("6", "StartLink", "Time:date Type Container StartContainer Value Key Size:int"),
        ("7", "EndLink", "Time:date Type Container EndContainer Value Key"),
    ]);
    text += "1 Host 0\n2 State Host\n5 Link 0 Host Host\n";
    for host in 0..3 {
        text += &format!("3 0 host-{host} Host 0\n");
    }
    for i in 0..40 {
        let time = f64::from(i);
        let (from, to) = (i % 3, (i + 1 + i % 2) % 3);
        let value = ["work", "rest"][i as usize % 2];
        text += &format!("4 {time} State host-{from} {value} Task-{i}\n");
        text += &format!("6 {time} Link 0 host-{from} data key-{i} {}\n", 100 + i);
        text += &format!("7 {} Link 0 host-{to} data key-{i}\n", time + 0.125 * f64::from(i % 7));
    }
    text
}

#[test]
fn the_matrix_counts_the_links_of_a_window() {
    let folder = testkit::folder(&[
        ("sized.trace", sized().as_bytes()),
        ("mpi.trace", &datasets::generate(Shape::Mpi, 300_000, 5)),
    ]);
    for name in ["sized.trace", "mpi.trace"] {
        let path = folder.path().join(name);
        let mut options = Options::default();
        options.user_defined = true;
        let trace =
            Trace::open_with(&path, &options, &paje_workers::Workers::one()).expect("valid");
        let served = Served::of(&path, &[]);
        let end = trace.end();
        for (from, to) in [(0.0, end), (end * 0.3, end * 0.6), (end * 0.5, end * 0.5)] {
            let mut pairs: BTreeMap<(u32, u32), (u64, f64, f64)> = BTreeMap::new();
            for link in trace.links() {
                if link.start > to || link.end < from {
                    continue;
                }
                let (count, bytes, time) = pairs.entry((link.from.0, link.to.0)).or_default();
                *count += 1;
                *bytes += if name == "sized.trace" { 100.0 + link.start } else { f64::NAN };
                *time += link.end.min(to) - link.start.max(from);
            }
            let answer = json_of(&served, &format!("matrix?from={from}&to={to}"));
            let found = answer["pairs"].as_array().expect("pairs");
            assert_eq!(found.len(), pairs.len(), "{name}, {from} to {to}");
            assert_eq!(answer["count"], json!(pairs.values().map(|it| it.0).sum::<u64>()));
            for pair in found {
                let pair = numbers(pair);
                let (count, bytes, time) = pairs[&(pair[0] as u32, pair[1] as u32)];
                assert_eq!(pair[2], count as f64);
                assert!(pair[3] == bytes || (pair[3].is_nan() && bytes.is_nan()), "{pair:?}");
                assert!((pair[4] - time).abs() <= 1e-9 * end, "{pair:?}, not {time}");
            }
        }
        let no_bytes = &json_of(&served, &format!("matrix?from=0&to={end}"))["noBytes"];
        assert_eq!(no_bytes.is_null(), name == "sized.trace", "{no_bytes}");
    }
    let served = Served::of(&folder.path().join("sized.trace"), &["--no-fields"]);
    let why = &json_of(&served, "matrix?from=0&to=50")["noBytes"];
    assert!(why.as_str().expect("a reason").contains("--fields"), "{why}");
}

#[test]
fn messages_are_listed_in_pages() {
    let folder = testkit::folder(&[("sized.trace", sized().as_bytes())]);
    let path = folder.path().join("sized.trace");
    let trace = Trace::open(&path).expect("valid");
    let served = Served::of(&path, &[]);
    let containers = trace.containers();
    let id = |name: &str| {
        containers
            .ids()
            .find(|id| containers.name(*id).text == name.as_bytes())
            .expect("a container")
    };
    let (from, to) = (id("host-0"), id("host-2"));
    for (order, key) in [("start", 0), ("longest", 1)] {
        let mut all: Vec<[f64; 2]> = trace
            .links()
            .filter(|link| link.from == from && link.to == to)
            .filter(|link| link.end >= 5.0 && link.start <= 33.0)
            .map(|link| [link.start, link.start - link.end])
            .collect();
        all.sort_by(|a, b| a[key].total_cmp(&b[key]));
        assert!(all.len() > 4);
        let mut found = Vec::new();
        for first in (0..).step_by(3) {
            let answer = json_of(
                &served,
                &format!(
                    "messages?from=5&to=33&origin={}&goal={}&first={first}&count=3&order={order}",
                    from.0, to.0
                ),
            );
            assert_eq!(answer["total"], all.len());
            let page = answer["messages"].as_array().expect("messages").clone();
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        assert_eq!(found.len(), all.len());
        for (message, [start, _]) in found.iter().zip(&all) {
            let number = message["start"].as_f64().expect("a time");
            if order == "start" {
                assert_eq!(number, *start);
            }
            assert_eq!(message["bytes"].as_f64(), Some(100.0 + number), "{message}");
            assert_eq!(message["key"], format!("key-{number}"));
        }
        let durations = |all: &[[f64; 2]]| all.iter().map(|it| it[1]).collect::<Vec<f64>>();
        if order == "longest" {
            let number = |it: &Value, name: &str| it[name].as_f64().expect("a time");
            let sent = found.iter().map(|it| number(it, "start") - number(it, "end"));
            assert_eq!(sent.collect::<Vec<_>>(), durations(&all));
        }
    }
}

#[test]
fn histograms_count_durations() {
    let folder = testkit::folder(&[("mpi.trace", &datasets::generate(Shape::Mpi, 300_000, 5))]);
    let path = folder.path().join("mpi.trace");
    let trace = Trace::open(&path).expect("valid");
    let served = Served::of(&path, &[]);
    let end = trace.end();
    let mut checked = 0;
    for type_ in trace.types().ids().filter(|id| trace.types().nature(*id) == TypeNature::State) {
        for value in 0..trace.types().value_count(type_) as u32 {
            for (from, to) in [(0.0, end), (end * 0.25, end * 0.5)] {
                let of_type = |lane: &LaneView<'_>| lane.type_id() == type_;
                let states = trace.lanes().filter(of_type).flat_map(|lane| lane.states());
                let states = states.filter(|it| it.value.0 == value);
                let states = states.filter(|it| from <= it.start && it.start <= to);
                let mut all: Vec<f64> = states.map(|it| it.end - it.start).collect();
                all.sort_by(f64::total_cmp);
                let query = format!("histogram?type={}&value={value}&from={from}&to={to}", type_.0);
                let answer = json_of(&served, &query);
                assert_eq!(answer["count"], all.len());
                let edges = numbers(&answer["edges"]);
                let counts = numbers(&answer["counts"]);
                assert!(counts.len() <= 48, "{answer}");
                let wanted = if counts.is_empty() { 0 } else { counts.len() + 1 };
                assert_eq!(edges.len(), wanted, "{answer}");
                for (count, edges) in counts.iter().zip(edges.windows(2)) {
                    let inside = all.iter().filter(|it| edges[0] <= **it && **it < edges[1]);
                    assert_eq!(*count, inside.count() as f64, "{query}, {edges:?}");
                }
                let zero = all.iter().filter(|it| **it <= 0.0).count();
                assert_eq!(answer["zero"], zero);
                assert_eq!(counts.iter().sum::<f64>(), (all.len() - zero) as f64);
                let longest: Vec<f64> = answer["longest"]
                    .as_array()
                    .expect("rows")
                    .iter()
                    .map(|row| row[2].as_f64().expect("a duration"))
                    .collect();
                let expected: Vec<f64> = all.iter().rev().take(20).copied().collect();
                assert_eq!(longest.len(), expected.len());
                for (found, expected) in longest.iter().zip(&expected) {
                    assert!((found - expected).abs() <= 1e-12, "{query}: {found}, not {expected}");
                }
                checked += all.len();
            }
        }
    }
    assert!(checked > 1000);
    for wrong in ["type=99&value=0&from=0&to=1", "type=1&value=4000&from=0&to=1", "type=1&value=0"]
    {
        assert_eq!(served.status(&format!("histogram?{wrong}")), 400, "{wrong}");
    }
}

#[test]
fn rows_and_containers_are_found_by_text() {
    let folder = testkit::folder(&[("sized.trace", sized().as_bytes())]);
    let path = folder.path().join("sized.trace");
    let served = Served::of(&path, &[]);
    let find = |within: &str, text: &str, first: usize| {
        json_of(&served, &format!("hits?in={within}&text={text}&first={first}&count=5"))
    };
    let starts = |answer: &Value| -> Vec<f64> {
        let hits = answer["hits"].as_array().expect("hits");
        hits.iter().map(|hit| hit["start"].as_f64().expect("a time")).collect()
    };
    let values = find("value", "WOR", 2);
    assert_eq!((&values["total"], starts(&values)), (&json!(20), vec![4.0, 6.0, 8.0, 10.0, 12.0]));
    let keys = find("key", "key-3", 0);
    assert_eq!((&keys["total"], starts(&keys)), (&json!(11), vec![3.0, 30.0, 31.0, 32.0, 33.0]));
    // Links have a size, and states have a task.
    let fields = find("field", "task%3Dtask-1", 0);
    assert_eq!(
        (&fields["total"], starts(&fields)),
        (&json!(11), vec![1.0, 10.0, 11.0, 12.0, 13.0])
    );
    assert_eq!(find("field", "Size%3D139", 0)["total"], 1);
    assert_eq!(find("field", "139", 0)["total"], 1);
    assert_eq!(find("field", "key%3D1", 0)["total"], 0);
    let containers = find("container", "host", 1);
    assert_eq!(
        (&containers["total"], containers["hits"].as_array().map(Vec::len)),
        (&json!(3), Some(2))
    );
    assert_eq!(find("value", "nothing", 0), json!({"total": 0, "first": 0, "hits": []}));
    let without = Served::of(&path, &["--no-fields"]);
    let why = &json_of(&without, "hits?in=field&text=x&first=0&count=5")["refused"];
    assert!(why.as_str().expect("a reason").contains("--fields"), "{why}");
    for wrong in [
        "in=x&text=a&first=0&count=5",
        "in=key&text=&first=0&count=5",
        "in=key&text=a&first=0&count=201",
        "in=key&text=a&first=10001&count=5",
        "in=key&first=0&count=5",
        "in=key&text=a",
    ] {
        assert_eq!(served.status(&format!("hits?{wrong}")), 400, "{wrong}");
    }
}

#[test]
fn answers_are_as_guarded_as_the_trace() {
    let served = Served::of(&crate::world::example("mpi.trace"), &[]);
    let (token, wrong) = (&served.token, "0".repeat(32));
    for path in [
        "explained",
        "verdict",
        "waits?level=63&first=0&count=1&lanes=1",
        "path?level=63&first=0&count=1",
        "matrix?from=0&to=1",
        "messages?from=0&to=1&first=0&count=1",
        "histogram?type=1&value=0&from=0&to=1",
        "hits?in=value&text=a&first=0&count=1",
    ] {
        let ask = |method: &str, token: &str, headers: &str| {
            status(&served.ask(method, &format!("/{token}/{path}"), headers))
        };
        assert_eq!(ask("GET", &wrong, ""), 403, "{path}");
        assert_eq!(ask("POST", token, ""), 405, "{path}");
        assert_eq!(ask("GET", token, "Origin: http://evil.example\r\n"), 403, "{path}");
        let foreign = format!(
            "GET /{token}/{path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(status(&served.send(foreign.as_bytes())), 421, "{path}");
    }
    for wrong in [
        "waits?level=64&first=0&count=1&lanes=1",
        "matrix?from=nan&to=1",
        "matrix?from=0",
        "messages?from=0&to=1&first=0&count=1&order=x",
        "messages?from=0&to=1&first=0&count=1&origin=x",
        "messages?from=0&to=1&first=10001&count=1",
    ] {
        crate::explained::overview(&served);
        assert_eq!(served.status(wrong), 400, "{wrong}");
    }
}

#[test]
fn names_are_sent_as_text() {
    let folder = testkit::folder(&[("hostile.trace", crate::cli::hostile().as_bytes())]);
    let served = Served::of(&folder.path().join("hostile.trace"), &[]);
    let found = json_of(&served, "hits?in=value&text=script&first=0&count=9");
    assert_eq!(found["total"], 2);
    let answer = served.ask("GET", &format!("/{}/verdict", served.token), "");
    assert!(answer.contains("application/json") && answer.contains("nosniff"), "{answer}");
}

/// The difference of two times may exceed all doubles.
#[test]
fn the_longest_durations_have_a_histogram() {
    let definitions = testkit::definitions([
        ("1", "DefineContainerType", "Name Type"),
        ("2", "DefineStateType", "Name Type"),
        ("3", "CreateContainer", "Time:date Name Type Container"),
        ("4", "PushState", "Time:date Container Type Value"),
        ("5", "PopState", "Time:date Container Type"),
    ]);
    let text = definitions
        + "1 P 0\n2 S P\n3 -1.7e308 p P 0\n4 -1.7e308 p S a\n4 1 p S a\n5 2 p S\n5 1.7e308 p S\n";
    let folder = testkit::folder(&[("long.trace", text.as_bytes())]);
    let served = Served::of(&folder.path().join("long.trace"), &[]);
    let model = json_of(&served, "model");
    let type_ = &model["lanes"]["type"][0];
    let window = "from=-1.7e308&to=1.7e308";
    let answer = json_of(&served, &format!("histogram?type={type_}&value=0&{window}"));
    let counts = numbers(&answer["counts"]);
    assert!(counts.len() <= 48 && counts.iter().sum::<f64>() == 2.0, "{answer}");
}

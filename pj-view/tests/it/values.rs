use std::fmt::Write;

use serde_json::{Value, json};

use crate::world::Served;

const COUNT: usize = 3000;

/// Returns a trace whose events have different values, some with similar names.
fn trace() -> String {
    let mut text = testkit::definitions([
        ("1", "DefineContainerType", "Name Type"),
        ("2", "DefineEventType", "Name Type"),
        ("3", "CreateContainer", "Time:date Name Type Container"),
        ("4", "NewEvent", "Time:date Type Container Value"),
    ]);
    text += "1 Host 0\n2 Mark Host\n3 0 host Host 0\n";
    for i in 0..COUNT {
        let _ = writeln!(text, "4 {i} Mark host {}", name(i));
    }
    text
}

fn name(i: usize) -> String {
    match i {
        7 => "\"Größe +1 %\"".into(),
        2000 => "mark-1".into(),
        2500 => "the-mark".into(),
        _ => format!("MARK-{i}"),
    }
}

#[test]
fn values_are_sent_in_pages() {
    let folder = testkit::folder(&[("many.trace", trace().as_bytes())]);
    let served = Served::of(&folder.path().join("many.trace"), &[]);
    let get = |path: &str| serde_json::from_str::<Value>(&served.get(path)).expect("JSON");
    let model = get("model");
    let types = model["types"].as_array().expect("types");
    let type_ = types.iter().position(|it| it["name"] == "Mark").expect("the events' type");
    let listed = &types[type_];
    assert_eq!(listed["count"], COUNT);
    let mut values = listed["values"].as_array().expect("values").clone();
    while values.len() < COUNT {
        let (before, page) =
            (values.len(), get(&format!("values?type={type_}&first={}", values.len())));
        assert!(before % 1024 == 0 && page.as_array().is_some_and(|page| page.len() <= 1024));
        values.extend(page.as_array().expect("values").iter().cloned());
    }
    for (i, value) in values.iter().enumerate() {
        assert_eq!(value[0], name(i).trim_matches('"'), "{i}");
    }
    assert_eq!(get(&format!("values?type={type_}&first={COUNT}")), json!([]));
    for wrong in ["values?type=99&first=0", "values?first=0", "value", "value?text=%ff"] {
        assert_eq!(served.status(wrong), 400, "{wrong}");
    }
}

#[test]
fn values_are_found_by_name() {
    let folder = testkit::folder(&[("many.trace", trace().as_bytes())]);
    let served = Served::of(&folder.path().join("many.trace"), &[]);
    let found = |text: &str| {
        let found: Value =
            serde_json::from_str(&served.get(&format!("value?text={text}"))).expect("JSON");
        found["value"].as_u64()
    };
    // The search tries names, then prefixes, then substrings.
    assert_eq!(found("mark-2999"), Some(2999));
    assert_eq!(found("mark-1"), Some(1));
    assert_eq!(found("mark-29"), Some(29));
    assert_eq!(found("mark"), Some(0));
    assert_eq!(found("the"), Some(2500));
    assert_eq!(found("e-m"), Some(2500));
    assert_eq!(found("gr%C3%B6%C3%9Fe+%2B1+%25"), Some(7));
    assert_eq!(found("nowhere"), None);
}

#[test]
fn the_profile_lists_the_most_frequent_values() {
    let mut text = trace();
    for _ in 0..3 {
        let _ = writeln!(text, "4 {COUNT} Mark host MARK-2999");
    }
    let folder = testkit::folder(&[("many.trace", text.as_bytes())]);
    let served = Served::of(&folder.path().join("many.trace"), &[]);
    let profile: Value = serde_json::from_str(&served.get("profile?from=0&to=4000")).expect("JSON");
    let events = profile["events"].as_array().expect("events");
    let most: Vec<_> = events.iter().filter(|it| it[2] == 4).map(|it| &it[1]).collect();
    assert_eq!((events.len(), most), (100, vec![&json!(2999)]));
    assert_eq!(profile["otherEvents"], json!([COUNT - 100, COUNT - 100]));
}

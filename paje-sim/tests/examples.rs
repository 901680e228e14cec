//! Runs the programs in `examples` with a trace of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use paje_sim::Trace;

#[allow(dead_code)]
#[path = "../examples/longest_states.rs"]
mod longest_states;
#[allow(dead_code)]
#[path = "../examples/messages_by_pair.rs"]
mod messages_by_pair;
#[allow(dead_code)]
#[path = "../examples/profile.rs"]
mod profile;
#[allow(dead_code)]
#[path = "../examples/timeline.rs"]
mod timeline;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn mpi() -> Trace {
    Trace::open(repository().join("datasets/examples/mpi.trace")).expect("valid trace")
}

/// Returns the fields of the rows that PajeNG prints for the trace.
fn rows(nature: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(repository().join("datasets/examples/mpi.csv"));
    let text = text.expect("readable");
    let rows = text.lines().map(|line| line.split(", ").map(str::to_owned).collect());
    rows.filter(|row: &Vec<String>| row[0] == nature).collect()
}

fn number(text: &str) -> f64 {
    text.trim().parse().expect("a number")
}

#[test]
fn profile_has_the_seconds_of_all_rows() {
    let report = profile::report(&mpi());
    assert!(report.contains(" MPI_STATE computing\n"), "{report}");
    let states = rows("State");
    for line in report.lines() {
        let [seconds, type_, value] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let same = states.iter().filter(|row| row[2] == type_ && row[7] == value);
        let expected: f64 = same.map(|row| number(&row[5])).sum();
        assert!((number(seconds) - expected).abs() < 1e-4, "{line}: {expected}");
    }
    let mut values: Vec<_> = states.iter().map(|row| (&row[2], &row[7])).collect();
    values.sort();
    values.dedup();
    assert_eq!(report.lines().count(), values.len());
}

#[test]
fn longest_states_are_the_ten_longest_rows() {
    let report = longest_states::report(&mpi());
    let mut seconds: Vec<f64> = rows("State").iter().map(|row| number(&row[5])).collect();
    seconds.sort_by(|one, other| other.total_cmp(one));
    let found: Vec<f64> = report.lines().map(|line| number(&line[..12])).collect();
    assert_eq!(found.len(), 10);
    for (found, expected) in found.iter().zip(seconds) {
        assert!((found - expected).abs() < 2e-6, "{report}");
    }
    assert!(report.lines().next().is_some_and(|line| line.ends_with("computing")), "{report}");
}

#[test]
fn messages_by_pair_are_all_links() {
    let report = messages_by_pair::report(&mpi());
    let links = rows("Link");
    let mut all = 0;
    for line in report.lines() {
        let [count, from, "->", to] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let count: usize = count.parse().unwrap();
        assert_eq!(links.iter().filter(|row| row[7] == from && row[8] == to).count(), count);
        all += count;
    }
    assert_eq!(all, links.len());
}

#[test]
fn timeline_has_the_rows_of_one_container() {
    let report = timeline::report(&mpi(), "rank-3").unwrap();
    let states = rows("State").into_iter().filter(|row| row[1] == "rank-3");
    let expected: Vec<String> = states
        .map(|row| {
            let inside = 2 * number(&row[6]) as usize;
            format!("{:>12} {:>12} {:inside$}{}", row[3], row[4], "", row[7])
        })
        .collect();
    assert_eq!(report.lines().collect::<Vec<_>>(), expected);
    // A container is also found by its alias.
    assert!(timeline::report(&mpi(), "4").is_some());
    assert_eq!(timeline::report(&mpi(), "rank-9"), None);
}

#[test]
fn examples_are_short() {
    for entry in fs::read_dir(repository().join("paje-sim/examples")).unwrap() {
        let path = entry.unwrap().path();
        assert!(fs::read_to_string(&path).unwrap().lines().count() <= 40, "{}", path.display());
    }
}

#[test]
fn guide_shows_an_example() {
    let guide = fs::read_to_string(repository().join("docs/dev/new-program.md")).unwrap();
    let example = fs::read_to_string(repository().join("paje-sim/examples/profile.rs")).unwrap();
    assert!(guide.contains(&format!("```rust\n{example}```\n")));
}

#[test]
fn document_shows_what_its_example_prints() {
    let trace = mpi();
    let mut printed = format!("{} links until {} s\n", trace.counts().links, trace.end());
    for lane in trace.lanes().take(3) {
        let rows = lane.len();
        printed += &format!("{}, {}: {rows} rows\n", lane.container_name(), lane.type_name());
    }
    let document = fs::read_to_string(repository().join("docs/rust.md")).unwrap();
    assert!(document.contains(&format!("prints\n\n```text\n{printed}```\n")), "{printed}");
}

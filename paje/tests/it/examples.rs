//! Runs the programs in `examples` with traces of the repository.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use paje::{Trace, TraceReader};

#[allow(dead_code)]
#[path = "../../examples/custom_csv.rs"]
mod custom_csv;
#[allow(dead_code)]
#[path = "../../examples/histogram.rs"]
mod histogram;
#[allow(dead_code)]
#[path = "../../examples/longest_states.rs"]
mod longest_states;
#[allow(dead_code)]
#[path = "../../examples/longest_waits.rs"]
mod longest_waits;
#[allow(dead_code)]
#[path = "../../examples/merge.rs"]
mod merge;
#[allow(dead_code)]
#[path = "../../examples/messages_by_pair.rs"]
mod messages_by_pair;
#[allow(dead_code)]
#[path = "../../examples/picture.rs"]
mod picture;
#[allow(dead_code)]
#[path = "../../examples/profile.rs"]
mod profile;
#[allow(dead_code)]
#[path = "../../examples/socket.rs"]
mod socket;
#[allow(dead_code)]
#[path = "../../examples/timeline.rs"]
mod timeline;

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn example(name: &str) -> PathBuf {
    repository().join("datasets/examples").join(name)
}

fn mpi() -> Trace {
    TraceReader::new().open(example("mpi.trace")).expect("valid trace")
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
    assert!(timeline::report(&mpi(), "4").is_ok());
    assert!(timeline::report(&mpi(), "rank-9").is_err());
}

#[test]
fn longest_waits_are_sorted() {
    let trace = TraceReader::new().open(example("mpi.trace")).expect("valid trace");
    let report = longest_waits::report(&trace).expect("known states");
    let seconds: Vec<f64> = report.lines().map(|line| number(&line[..12])).collect();
    assert_eq!(seconds.len(), 10, "{report}");
    assert!(seconds.is_sorted_by(|one, other| one >= other), "{report}");
    assert!(report.lines().all(|line| line.contains(" in PMPI_")), "{report}");
}

#[test]
fn custom_csv_has_the_fields_of_all_links() {
    let trace = TraceReader::new().lines(true).open(example("hazards/detector.trace"));
    let csv = custom_csv::report(&trace.expect("valid trace"), "Size");
    let text = fs::read_to_string(example("hazards/detector.trace")).expect("readable");
    let lines: Vec<&str> = text.lines().collect();
    assert!(csv.lines().count() > 3, "{csv}");
    for row in csv.lines().skip(1) {
        let [line, .., size] = row.split(',').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let line = lines[line.parse::<usize>().unwrap() - 1];
        assert!(line.split_whitespace().any(|word| word == size), "{row}: {line}");
    }
}

#[test]
fn merge_has_the_states_of_both_traces_in_order() {
    let (one, other) = (mpi(), TraceReader::new().open(example("deep.trace")).expect("valid"));
    let report = merge::report([&one, &other]);
    let starts: Vec<f64> = report.lines().map(|line| number(&line[..12])).collect();
    assert_eq!(starts.len() as u64, one.counts().states + other.counts().states);
    assert!(starts.is_sorted());
}

#[test]
fn histogram_counts_all_states() {
    let report = histogram::report(&example("mpi.trace")).expect("valid trace");
    let counts = report.lines().map(|line| line.split_whitespace().nth(1).unwrap());
    let all: usize = counts.map(|count| count.parse::<usize>().unwrap()).sum();
    assert_eq!(all, rows("State").len());
}

#[test]
fn socket_counts_what_was_sent() {
    let listener = TcpListener::bind("localhost:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let sender = std::thread::spawn(move || {
        let mut stream = TcpStream::connect(address).expect("a listener");
        stream.write_all(&fs::read(example("mpi.trace")).expect("readable")).expect("written");
    });
    assert_eq!(socket::count(&listener).expect("a valid trace"), mpi().counts());
    sender.join().expect("sent");
}

#[test]
fn picture_has_a_rectangle_for_each_state() {
    let svg = picture::svg(&mpi()).expect("a picture");
    // The background is a rectangle, too.
    assert_eq!(svg.matches("<rect").count(), rows("State").len() + 1);
}

#[test]
fn examples_are_short() {
    for entry in fs::read_dir(repository().join("paje/examples")).unwrap() {
        let path = entry.unwrap().path();
        assert!(fs::read_to_string(&path).unwrap().lines().count() <= 40, "{}", path.display());
    }
}

#[test]
fn guide_shows_an_example() {
    let guide = fs::read_to_string(repository().join("docs/dev/new-program.md")).unwrap();
    let example = fs::read_to_string(repository().join("paje/examples/profile.rs")).unwrap();
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

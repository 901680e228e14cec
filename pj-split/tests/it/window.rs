//! `--start` and `--end`: the rows of a window are the trace's, cut to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use datasets::{Shape, random};
use paje_sim::{ContainerId, Options, Precision, TimeRange, Trace};

use crate::pajeng;
use crate::splitting::Place;
use testkit::said;

#[derive(Clone, Debug, PartialEq)]
enum What {
    Container,
    State(String, u32),
    Variable(f64),
    Event(String),
    Link(String, [String; 3]),
}

#[derive(Clone, Debug)]
struct Row {
    /// Names of the container and its ancestors, and the name of the type.
    of: (String, String),
    start: f64,
    end: f64,
    what: What,
    id: ContainerId,
    /// Other containers that the row needs.
    needs: Vec<ContainerId>,
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        (&self.of, self.start, self.end, &self.what)
            == (&other.of, other.start, other.end, &other.what)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the names of a container and its ancestors. Windows have other aliases.
fn name(trace: &Trace, id: ContainerId) -> String {
    let name = text(trace.containers().name(id).text);
    match id {
        ContainerId::ROOT => name,
        _ => format!("{}/{name}", self::name(trace, trace.containers().parent(id))),
    }
}

fn options(precision: Precision) -> Options {
    let mut options = crate::rows::options();
    options.user_defined = false;
    options.variable_precision = precision;
    options
}

fn rows(trace: &Trace) -> Vec<Row> {
    let containers = trace.containers();
    let row = |row: paje_sim::Row<'_>| {
        let (mut needs, mut id) = (Vec::new(), row.lane().map(|lane| lane.container()));
        let what = match row {
            paje_sim::Row::Container(it) => {
                id = Some(it.id());
                needs.push(containers.parent(it.id()));
                What::Container
            }
            paje_sim::Row::State(it) => What::State(text(it.value_name().text), it.imbrication),
            paje_sim::Row::Variable(it) => What::Variable(it.value),
            paje_sim::Row::Event(it) => What::Event(text(it.value_name().text)),
            paje_sim::Row::Link(it) => {
                needs.extend([it.from, it.to]);
                let ends = [name(trace, it.from), name(trace, it.to), text(it.key().text)];
                What::Link(text(it.value_name().text), ends)
            }
        };
        let id = id.expect("every row has a container");
        let of = (name(trace, id), text(trace.types().name(row.type_id()).text));
        Row { of, start: row.start(), end: row.end(), what, id, needs }
    };
    let root = ContainerId::ROOT;
    let of = (name(trace, root), text(trace.types().name(containers.type_of(root)).text));
    let (start, end) = (containers.start(root), containers.end(root));
    let root = Row { of, start, end, what: What::Container, id: root, needs: Vec::new() };
    std::iter::once(root).chain(trace.rows().map(row)).collect()
}

fn wanted(rows: &[Row], window: TimeRange, end: f64) -> Vec<Row> {
    let cut = |time: f64| time.max(window.from).min(window.to);
    let overlaps = |row: &&Row| window.overlaps(row.start, row.end);
    let mut all: Vec<Row> = Vec::new();
    for row in rows.iter().filter(overlaps) {
        let (start, end) = (cut(row.start), cut(row.end));
        // A value that ended before the window is replaced by the next value.
        if let Some(last) = all.last_mut()
            && matches!((&last.what, &row.what), (What::Variable(_), What::Variable(_)))
            && last.of == row.of
            && last.start == start
        {
            all.pop();
        }
        all.push(Row { start, end, ..row.clone() });
    }
    // Containers that exist in the window, with their ancestors and the containers at the ends of
    // links.
    let is_container = |row: &&Row| row.what == What::Container;
    let known: BTreeMap<usize, &Row> =
        rows.iter().filter(is_container).map(|row| (row.id.index(), row)).collect();
    let mut pending: Vec<ContainerId> = vec![ContainerId::ROOT];
    pending.extend(all.iter().flat_map(|row| row.needs.iter().copied().chain([row.id])));
    let mut needed = BTreeSet::new();
    while let Some(id) = pending.pop() {
        if needed.insert(id.index()) {
            pending.extend(&known[&id.index()].needs);
        }
    }
    let mut sheet: Vec<Row> = Vec::new();
    for row in rows.iter().filter(is_container).filter(|row| needed.contains(&row.id.index())) {
        let mut own = Row { start: cut(row.start), end: cut(row.end), ..row.clone() };
        if row.id == ContainerId::ROOT {
            // The root always begins at 0.
            own.start = row.start;
            own.end = if row.end < end { cut(row.end) } else { end.min(window.to) };
        }
        sheet.push(own);
        let lanes = |other: &&Row| !is_container(other) && other.id == row.id;
        sheet.extend(all.iter().filter(lanes).cloned());
    }
    sheet
}

/// Cuts a window and compares its rows. Returns its text, or `None` if the window is refused.
fn check(about: &str, bytes: &[u8], window: TimeRange, single: bool) -> Option<Vec<u8>> {
    let precision = if single { Precision::Single } else { Precision::Double };
    let options = options(precision);
    let whole = Trace::read(bytes, &options).expect("a valid trace");
    let place = Place::new(bytes);
    let (from, to) = (format!("--start={}", window.from), format!("--end={}", window.to));
    let precision = if single { "single" } else { "double" };
    let output = place.run(&[
        "t",
        "-o",
        "w",
        "--no-warnings",
        "-nz",
        &from,
        &to,
        "--variable-precision",
        precision,
    ]);
    if said(&output).contains("out of time order") {
        return None;
    }
    assert!(output.status.success(), "{about}: {}", said(&output));
    assert_eq!(place.names(), ["t", "w"]);
    let cut = fs::read(place.path("w")).expect("it was written");
    let mut strict = options;
    strict.ignore_incomplete_links = false;
    strict.field_names = paje_sim::FieldNames::Strict;
    let found = Trace::read(&cut[..], &strict);
    let found = found
        .unwrap_or_else(|error| panic!("{about}: {error} {:?}\n{}", error.position(), text(&cut)));
    assert!(found.warnings().is_empty(), "{about}: {:?}\n{}", found.warnings(), text(&cut));
    let (found, wanted) = (rows(&found), wanted(&rows(&whole), window, whole.end()));
    for (number, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        assert_eq!(found, wanted, "{about}, row {number} of {window:?}\n{}", text(&cut));
    }
    assert_eq!(found.len(), wanted.len(), "{about}, {window:?}\n{}", text(&cut));
    Some(cut)
}

/// Returns windows that begin and end at times of the trace or between them, windows of zero
/// length, and windows beyond the trace.
fn windows(trace: &Trace, seed: u64) -> Vec<TimeRange> {
    let mut times: Vec<f64> = rows(trace).iter().flat_map(|row| [row.start, row.end]).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: u64| times[(times.len() - 1) * (share as usize % 101) / 100];
    let (first, last) = (at(seed * 37), at(seed * 61 + 30));
    let (from, to) = (first.min(last), first.max(last));
    // The middle has few digits, because PajeNG does not round other numbers correctly.
    let middle = (((from + to) * 32.0).round() / 64.0).clamp(from, to);
    [(from, to), (middle, to), (from, middle), (to, to), (to, to + 1e6), (from - 1e6, to)]
        .map(|(from, to)| TimeRange { from, to })
        .to_vec()
}

#[test]
fn every_shape_is_cut() {
    for (turn, shape) in (0..).zip(Shape::ALL.into_iter().filter(|shape| shape.is_sorted())) {
        let bytes = datasets::generate(shape, 20_000, turn);
        let trace = Trace::read(&bytes[..], &options(Precision::Single)).expect("a valid trace");
        for window in windows(&trace, turn) {
            assert!(check(shape.name(), &bytes, window, turn % 2 == 0).is_some(), "{shape}");
        }
    }
}

/// `PAJE_SEEDS=5000 cargo test --release -p pj-split --test it window::random -- --nocapture` tries
/// more traces.
#[test]
fn random_traces_are_cut() {
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let first = number("PAJE_SEED").unwrap_or(0);
    let (mut cut, mut refused, mut beside_pajeng) = (0, 0, 0);
    let pajeng = testkit::pajeng::pj_dump();
    for seed in first..first + number("PAJE_SEEDS").unwrap_or(100) {
        let random = random::trace(seed);
        if !random.is_valid() {
            continue;
        }
        let options = options(Precision::Single);
        let trace = Trace::read(&random.bytes[..], &options).expect("a valid trace");
        let window = windows(&trace, seed)[seed as usize % 6];
        let single = seed % 3 > 0;
        let Some(bytes) = check(&format!("seed {seed}"), &random.bytes, window, single) else {
            refused += 1;
            continue;
        };
        cut += 1;
        if let Some(pajeng) = pajeng.as_ref().filter(|_| seed % 2 == 0) {
            pajeng::compare_one(pajeng, &bytes, &format!("seed {seed}, {window:?}"));
            beside_pajeng += 1;
        }
    }
    println!("{cut} windows cut, {refused} refused; {beside_pajeng} compared with PajeNG");
    assert!(cut > 50 && refused * 50 <= cut, "{cut} cut, {refused} refused");
}

/// Three processes: an open stack, a variable, a message across the boundary, and rows before the
/// window.
const TRACE: &str = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineVariableType 3\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineLinkType 4\n% Name string\n% Type string\n% StartContainerType string\n% EndContainerType string\n%EndEventDef
%EventDef PajeCreateContainer 5\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeDestroyContainer 6\n% Time date\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeSetState 7\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePushState 8\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
%EventDef PajePopState 9\n% Time date\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetVariable 10\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef
%EventDef PajeAddVariable 11\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef
%EventDef PajeStartLink 12\n% Time date\n% Type string\n% Container string\n% Value string\n% StartContainer string\n% Key string\n%EndEventDef
%EventDef PajeEndLink 13\n% Time date\n% Type string\n% Container string\n% Value string\n% EndContainer string\n% Key string\n%EndEventDef
1 P 0\n2 S P\n3 V P\n4 L 0 P P\n5 0 a P 0\n5 0 b P 0\n5 0 over P 0\n5 8 late P 0
7 0 S a run\n8 1 S a call\n8 2 S a inner\n10 1 V a 0.1\n11 2 V a 0.2\n12 2 L 0 v a k\n12 1 L 0 v a gone
13 1 L 0 v b gone\n7 1 S over x\n6 2 over P\n9 4 S a\n13 5 L 0 v b k\n11 5 V a 1\n7 8 S late y\n6 9 a P
";

#[test]
fn rows_across_the_boundary_are_cut() {
    let place = Place::new(TRACE.as_bytes());
    let output = place.run(&["t", "-o", "w", "--start", "3", "--end", "6"]);
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    let rows = crate::rows::dump(&fs::read(place.path("w")).expect("it was written"));
    let rows: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(
        rows,
        [
            "Container, 0, 0, 0, 6, 6, 0",
            "Link, 0, L, 3.000000000, 5.000000000, 2.000000000, v, a, b, k",
            "Container, 0, P, 3, 6, 3, b",
            "Container, 0, P, 3, 6, 3, a",
            "State, a, S, 3.000000000, 6.000000000, 3.000000000, 0.000000000, run",
            "State, a, S, 3.000000000, 6.000000000, 3.000000000, 1.000000000, call",
            "State, a, S, 3.000000000, 4.000000000, 1.000000000, 2.000000000, inner",
            "Variable, a, V, 3.000000000, 5.000000000, 2.000000000, 0.300000004",
            "Variable, a, V, 5.000000000, 6.000000000, 1.000000000, 1.300000004",
        ]
    );
}

/// Containers are created in a destroyed container, and in its ancestors.
#[test]
fn containers_created_after_a_destruction_are_kept() {
    let (head, _) = TRACE.split_once("1 P 0").expect("it has");
    let types = "1 H 0\n1 K H\n1 R K\n2 S R\n5 0 h H 0\n5 0 k K h\n5 0 r R k\n7 1 S r x\n";
    for ends in [
        "6 2 h H\n5 3 q R k\n7 3 S q y\n5 9 l H 0\n",
        "6 2 k K\n6 4 h H\n5 4 q R k\n7 5 S q y\n5 9 l H 0\n",
        "6 2 k K\n5 2 q R k\n7 2 S q y\n6 4 h H\n5 4 s R k\n7 4 S s z\n5 9 l H 0\n",
        "6 2 h H\n5 2 q R k\n7 2 S q y\n6 2 q R\n6 9 0 0\n5 9 late H 0\n",
    ] {
        let bytes = [head, types, ends].concat();
        for (from, to) in [(0.0, 9.0), (1.5, 4.0), (2.0, 2.0), (3.0, 9.0), (5.0, 8.0), (9.0, 9.0)] {
            let cut = check(ends, bytes.as_bytes(), TimeRange { from, to }, true);
            assert!(cut.is_some(), "{ends} {from} {to}");
        }
    }
}

#[test]
fn windows_can_be_split_and_packed() {
    let trace = datasets::generate(Shape::Mpi, 100_000, 1);
    let place = Place::new(&trace);
    let end = Trace::read(&trace[..], &Options::default()).expect("a valid trace").end();
    let (from, to) = (format!("--start={}", end / 3.0), format!("--end={}", end / 2.0));
    let run = |words: &[&str]| {
        let output = place.run(&[&["t", &from, &to], words].concat());
        assert!(output.status.success(), "{}", said(&output));
    };
    run(&["-o", "w"]);
    run(&["-o", "z", "--compress", "zstd"]);
    run(&["-o", "d", "-p", "3"]);
    run(&["-o", "p", "-p", "2", "--plain", "--sort"]);
    let whole = crate::rows::dump(&fs::read(place.path("w")).expect("it was written"));
    for (folder, sorted) in [("d", false), ("p", true)] {
        let files = crate::splitting::files(&place.path(folder));
        assert_eq!(files.len(), if sorted { 3 } else { 4 });
        let found = crate::rows::dump_files(&files[..files.len() - 1], &crate::rows::options(), 2);
        assert_eq!(found, whole);
    }
    assert_eq!(crate::rows::dump_files(&[place.path("z")], &crate::rows::options(), 1), whole);
    assert!(
        fs::metadata(place.path("z")).unwrap().len() < fs::metadata(place.path("w")).unwrap().len()
    );
}

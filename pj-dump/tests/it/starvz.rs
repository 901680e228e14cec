//! `StarVZ`, which visualises StarPU runs, calls `pj_dump` in its first phase and splits its rows
//! by bytes and commas. These tests use this program instead of PajeNG's.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use datasets::{Shape, generate};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

const PHASE_1: &str = "set -o pipefail; zcat \"paje.sorted.trace.gz\" | pj_dump -o -n --user-defined \
     --entity-hierarchy=entities.csv --type-hierarchy=types.csv | gzip -c > paje.csv.gz";

#[derive(Debug, PartialEq)]
struct Phase1 {
    rows: String,
    entities: String,
    types: String,
}

fn phase_1(program: &Path, trace: &[u8]) -> Phase1 {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(trace).expect("memory can be written");
    fs::write(at("paje.sorted.trace.gz"), packed.finish().expect("as well")).expect("writable");
    let mut command = Command::new("bash");
    command.args(["-c", PHASE_1]).current_dir(&folder);
    let output = run_with(program, &mut command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{}: {stderr}", program.display());
    let mut rows = String::new();
    let packed = fs::File::open(at("paje.csv.gz")).expect("written");
    GzDecoder::new(packed).read_to_string(&mut rows).expect("gzip and UTF-8");
    let read = |name| fs::read_to_string(at(name)).expect("written");
    Phase1 { rows, entities: read("entities.csv"), types: read("types.csv") }
}

/// Runs a command that finds this program as `pj_dump`.
fn run_with(program: &Path, command: &mut Command) -> Output {
    let bin = tempfile::tempdir().expect("a folder");
    symlink(program, bin.path().join("pj_dump")).expect("writable");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", bin.path().display()));
    command.output().expect("bash is installed")
}

fn ours() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_pj_dump"))
}

/// Returns the kind that StarVZ's splitter assigns to a row. It depends on the first letter of the
/// row and the first letter of the type, two bytes after the second comma.
fn kind(row: &str) -> &'static str {
    let second = row.match_indices(',').nth(1).expect("more than two columns").0;
    match (row.as_bytes()[0], row.as_bytes()[second + 2]) {
        (b'E', _) => "event",
        (b'V', _) => "variable",
        (b'L', _) => "link",
        (b'S', b'M') => "state of memory",
        (b'S', b'C') => "state of communication",
        (b'S', b'W') => "state of a worker",
        (b'S', _) => "state",
        (b'C', _) => "container",
        _ => panic!("{row}"),
    }
}

fn split(rows: &str) -> BTreeMap<&'static str, Vec<(usize, &str)>> {
    let mut kinds = BTreeMap::<_, Vec<_>>::new();
    for row in rows.lines() {
        // StarVZ's splitter has a buffer of 500 bytes per row.
        assert!(row.len() < 499, "{row}");
        kinds.entry(kind(row)).or_default().push((row.matches(',').count(), row));
    }
    kinds
}

fn traces() -> [Vec<u8>; 2] {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/examples/task-runtime.trace");
    [fs::read(example).expect("readable"), generate(Shape::TaskRuntime, 300_000, 7)]
}

#[test]
fn rows_have_the_expected_kinds_for_its_splitter() {
    for trace in traces() {
        let rows = phase_1(&ours(), &trace).rows;
        let kinds = split(&rows);
        let commas = |kind| kinds[kind].iter().map(|(commas, _)| *commas);
        // Its headers have this many columns for each kind, and shorter rows are filled up.
        assert!(commas("variable").all(|commas| commas == 6));
        assert!(commas("link").all(|commas| (9..=13).contains(&commas)));
        assert!(commas("event").all(|commas| (4..=9).contains(&commas)));
        // StarPU's states have user-defined fields of several lengths.
        let mut lengths: Vec<_> = commas("state of a worker").collect();
        lengths.sort_unstable();
        lengths.dedup();
        assert_eq!((lengths[0], lengths.last()), (7, Some(&19)), "{lengths:?}");
        for (_, row) in &kinds["state of a worker"] {
            let columns: Vec<_> = row.split(',').map(str::trim).collect();
            assert!(row.starts_with("State, ") && columns[2] == "Worker State", "{row}");
            assert!(columns[3..7].iter().all(|number| number.parse::<f64>().is_ok()), "{row}");
        }
    }
}

#[test]
fn both_hierarchies_have_their_columns_and_match() {
    for trace in traces() {
        let Phase1 { rows, entities, types } = phase_1(&ours(), &trace);
        assert!(entities.starts_with("Parent, Name, Type, Nature\n0, 0, 0, Container\n"));
        assert!(types.starts_with("Parent, Name, Nature\n0, "));
        let names: Vec<_> = entities.lines().filter_map(|line| line.split(", ").nth(1)).collect();
        for row in rows.lines() {
            let columns: Vec<_> = row.split(", ").collect();
            assert!(names.contains(&columns[1]), "{row}");
            assert!(types.contains(&format!(", {}, ", columns[2])) || columns[2] == "0", "{row}");
        }
    }
}

/// With `-o`, the two programs write lanes in different orders, and PajeNG omits containers that do
/// not end.
#[test]
fn pajeng_gives_the_same_rows_and_hierarchies() {
    let Some(theirs) = testkit::pajeng::pj_dump() else {
        eprintln!("skipped: PajeNG's pj_dump is not installed (Debian package pajeng)");
        return;
    };
    for trace in traces() {
        let (theirs, ours) = (phase_1(&theirs, &trace), phase_1(&ours(), &trace));
        assert!(theirs.entities == ours.entities && theirs.types == ours.types);
        assert_eq!(lanes(&theirs.rows), lanes(&ours.rows));
    }
}

fn lanes(rows: &str) -> BTreeMap<Vec<&str>, Vec<&str>> {
    let mut lanes = BTreeMap::<_, Vec<_>>::new();
    for row in rows.lines().filter(|row| !row.starts_with("Container")) {
        lanes.entry(row.splitn(4, ',').take(3).collect()).or_default().push(row);
    }
    lanes
}

/// Returns the tables that `examples/starvz/phase1` produces from a trace, by file. Rows are keyed
/// by column.
fn wrapped(trace: &[u8], name: &str) -> BTreeMap<String, Vec<BTreeMap<String, String>>> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(name), trace).expect("writable");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/starvz/phase1");
    let output = run_with(&ours(), Command::new(script).arg(folder.path()));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let names =
        ["worker_state", "memory_state", "comm_state", "other_state", "variable", "link", "events"];
    let mut files: Vec<_> = names.map(|name| format!("paje.{name}.csv.gz")).into();
    files.extend(["entities.csv".to_owned(), "types.csv".into(), name.to_owned()]);
    files.sort();
    let there = fs::read_dir(&folder).expect("readable").map(|file| file.expect("readable"));
    let mut there: Vec<_> =
        there.map(|file| file.file_name().into_string().expect("UTF-8")).collect();
    there.sort();
    assert_eq!(there, files, "{stderr}");
    let tables = names.map(|name| {
        let packed = fs::read(folder.path().join(format!("paje.{name}.csv.gz"))).expect("written");
        let mut reader = csv::Reader::from_reader(GzDecoder::new(&packed[..]));
        // Rows whose length differs from the header's are errors.
        let rows = reader.deserialize().map(|row| row.expect("a row")).collect();
        (name.to_owned(), rows)
    });
    tables.into()
}

#[test]
fn the_wrapper_names_the_columns_of_the_trace() {
    let [trace, _] = traces();
    let tables = wrapped(&trace, "paje.trace");
    // Lines that set states with such fields: 20, time, container, type, value, Size, …, Priority,
    // GFlop, ….
    let text = String::from_utf8_lossy(&trace);
    let told: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("20\t"))
        .map(|line| line.split('\t').map(|word| word.trim_matches('"')).collect())
        .collect();
    assert!(told.len() > 3, "{}", told.len());
    for words in &told {
        let names = [
            (4, "Value"),
            (5, "Size"),
            (6, "Params"),
            (7, "Footprint"),
            (8, "Tag"),
            (9, "JobId"),
            (10, "SubmitOrder"),
            (11, "Priority"),
            (12, "GFlop"),
            (13, "X"),
            (14, "Y"),
            (15, "Iteration"),
            (16, "Subiteration"),
        ];
        let same = |row: &&BTreeMap<String, String>| {
            names.iter().all(|(word, name)| row[*name] == words[*word])
        };
        assert!(tables["worker_state"].iter().any(|row| same(&row)), "{words:?}");
    }
    // Columns without a field in the trace exist and are empty.
    assert!(tables["worker_state"].iter().all(|row| row["NumaNodes"].is_empty()));
    let link = &tables["link"][0];
    assert_eq!((&*link["Origin"], &*link["Dest"]), ("Memory node 0", "Memory node 0"));
    assert_eq!((&*link["Size"], &*link["Key"], &*link["Tag"]), ("F", "com_1", ""));
    assert!(tables["events"][0].contains_key("Handle") && tables["events"][0].contains_key("Src"));
}

#[test]
fn the_wrapper_prints_the_rows_of_phase_1() {
    for trace in traces() {
        let rows = phase_1(&ours(), &trace).rows;
        let kinds = split(&rows);
        let tables = wrapped(&trace, "paje.trace");
        let kind_of = [
            ("worker_state", "state of a worker", "ResourceId"),
            ("memory_state", "state of memory", "ResourceId"),
            ("comm_state", "state of communication", "ResourceId"),
            ("other_state", "state", "ResourceId"),
            ("variable", "variable", "ResourceId"),
            ("link", "link", "Container"),
            ("events", "event", "Container"),
        ];
        for (table, kind, container) in kind_of {
            let wanted = kinds.get(kind).into_iter().flatten().map(|(_, row)| {
                let words: Vec<_> = row.splitn(6, ", ").take(4).map(str::to_owned).collect();
                (words[0].clone(), words[1].clone(), words[2].clone(), words[3].clone())
            });
            let mut wanted: Vec<_> = wanted.collect();
            let given = tables[table].iter().map(|row| {
                let word = |name: &str| row[name].clone();
                (word("Nature"), word(container), word("Type"), word("Start"))
            });
            let mut given: Vec<_> = given.collect();
            wanted.sort();
            given.sort();
            assert_eq!(given, wanted, "{table}");
        }
    }
}

//! Table files contain the printed rows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_schema::{DataType, SchemaRef};
use datasets::{Shape, generate};
use paje_sim::Name;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pj_dump::output::Quotes;
use tempfile::{NamedTempFile, TempDir};

use crate::equal::files;
use crate::world;

pub(crate) const NATURES: [&str; 5] = ["Container", "State", "Variable", "Event", "Link"];

pub(crate) fn pj_dump(arguments: &[&str], trace: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pj_dump"));
    let output = command.args(arguments).arg(trace).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn tables(options: &[&str], trace: &Path) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("text");
    let output = pj_dump(&[options, &["-O", path]].concat(), trace);
    assert_eq!(output.stdout, b"");
    folder
}

fn file(text: &[u8]) -> NamedTempFile {
    let file = NamedTempFile::new().expect("a file");
    fs::write(&file, text).expect("writable");
    file
}

fn read(folder: &Path, table: &str, format: &str) -> (SchemaRef, Vec<RecordBatch>) {
    read_file(&folder.join(format!("{}.{format}", table.to_lowercase())), format)
}

pub(crate) fn read_file(path: &Path, format: &str) -> (SchemaRef, Vec<RecordBatch>) {
    let file = File::open(path).expect("the table is there");
    if format == "arrow" {
        let reader = FileReader::try_new(file, None).expect("an Arrow file");
        (reader.schema(), reader.map(|batch| batch.expect("a batch")).collect())
    } else {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
        let reader = reader.build().expect("a reader");
        (reader.schema(), reader.map(|batch| batch.expect("a batch")).collect())
    }
}

fn printed(text: &str) -> String {
    let mut out = Vec::new();
    Quotes::Auto.write(Name::bare(text.as_bytes()), &mut out);
    String::from_utf8(out).expect("text")
}

fn name(batch: &RecordBatch, column: &str, row: usize) -> String {
    printed(bare(batch, column, row))
}

pub(crate) fn bare<'b>(batch: &'b RecordBatch, column: &str, row: usize) -> &'b str {
    let column = &batch[column];
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row),
        _ => {
            let names = column.as_dictionary::<Int32Type>();
            let texts: &StringArray = names.values().as_string();
            texts.value(names.keys().value(row) as usize)
        }
    }
}

pub(crate) fn number(batch: &RecordBatch, column: &str, row: usize) -> f64 {
    batch[column].as_primitive::<Float64Type>().value(row)
}

pub(crate) fn row(nature: &str, batch: &RecordBatch, row: usize) -> String {
    let text = |column: &str| name(batch, column, row);
    let number = |column: &str| number(batch, column, row);
    let span = || {
        let (start, end) = (number("Start"), number("End"));
        format!("{start:.9}, {end:.9}, {:.9}", end - start)
    };
    match nature {
        "Container" => {
            let (start, end) = (number("Start"), number("End"));
            let [start, end, duration] = [start, end, end - start].map(|time| {
                let mut out = Vec::new();
                paje_decimal::write_general(&mut out, time);
                String::from_utf8(out).expect("digits")
            });
            let (parent, type_, name) = (text("Parent"), text("Type"), text("Name"));
            format!("Container, {parent}, {type_}, {start}, {end}, {duration}, {name}")
        }
        "State" => {
            let level = batch["Imbrication"].as_primitive::<Int32Type>().value(row);
            let (container, type_, value) = (text("Container"), text("Type"), text("Value"));
            format!("State, {container}, {type_}, {}, {level}.000000000, {value}", span())
        }
        "Variable" => {
            let value = number("Value");
            format!("Variable, {}, {}, {}, {value:.9}", text("Container"), text("Type"), span())
        }
        "Event" => {
            let (container, type_, value) = (text("Container"), text("Type"), text("Value"));
            format!("Event, {container}, {type_}, {:.9}, {value}", number("Time"))
        }
        _ => {
            let (container, type_, value) = (text("Container"), text("Type"), text("Value"));
            let (from, to, key) = (text("StartContainer"), text("EndContainer"), text("Key"));
            format!("Link, {container}, {type_}, {}, {value}, {from}, {to}, {key}", span())
        }
    }
}

fn rows(folder: &Path, format: &str) -> Vec<String> {
    let mut all = Vec::new();
    for nature in NATURES {
        let (_, batches) = read(folder, nature, format);
        for batch in &batches {
            all.extend((0..batch.num_rows()).map(|i| row(nature, batch, i)));
        }
    }
    all
}

pub(crate) fn printed_rows(options: &[&str], trace: &Path) -> Vec<String> {
    let options = [&["-l", "9", "--variable-precision", "double"], options].concat();
    let text = String::from_utf8(pj_dump(&options, trace).stdout).expect("text");
    let of = |nature: &'static str| text.lines().filter(move |line| line.starts_with(nature));
    NATURES.into_iter().flat_map(of).map(str::to_owned).collect()
}

fn same(options: &[&str], trace: &Path) {
    let wanted = printed_rows(options, trace);
    for more in [&["--format", "parquet"][..], &["--encoding", "decimal"], &["--format", "arrow"]] {
        let folder = tables(&[options, more].concat(), trace);
        let format = if more[1] == "arrow" { "arrow" } else { "parquet" };
        let found = rows(folder.path(), format);
        assert_eq!(found.len(), wanted.len(), "{} {options:?} {more:?}", trace.display());
        for (found, wanted) in found.iter().zip(&wanted) {
            assert_eq!(found, wanted, "{} {options:?} {more:?}", trace.display());
        }
    }
}

/// Returns the examples whose names have this ending.
pub(crate) fn examples(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/examples");
    let entries = fs::read_dir(folder).expect("the examples are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == ending));
    paths.sort();
    assert!(paths.len() > 8);
    paths
}

#[test]
fn tables_of_the_examples_hold_their_rows() {
    for trace in examples("trace") {
        same(&["-n", "-z", "--sort"], &trace);
        same(&["-n", "-z", "--sort", "-i", "-s", "0.0003", "-e", "0.5"], &trace);
    }
}

#[test]
fn tables_of_every_shape_hold_their_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    for shape in Shape::ALL {
        let path = folder.path().join(shape.name());
        fs::write(&path, generate(shape, 100_000, 3)).expect("writable");
        same(&["-z", "-n", "--sort"], &path);
    }
}

#[test]
fn files_are_the_same_for_any_number_of_threads() {
    let trace = file(&generate(Shape::OneContainer, 16_000_000, 1));
    for (format, several) in [("parquet", &["2", "3"][..]), ("arrow", &["3"]), ("csv", &["2"])] {
        let one = tables(&["--threads", "1", "--format", format], trace.path());
        for threads in several {
            let more = tables(&["--threads", threads, "--format", format], trace.path());
            let mut files = 0;
            for entry in fs::read_dir(one.path()).expect("a folder") {
                let name = entry.expect("readable").file_name();
                let read = |folder: &TempDir| fs::read(folder.path().join(&name)).expect("there");
                assert!(read(&one) == read(&more), "{} with {threads}", name.display());
                files += 1;
            }
            assert_eq!(files, 7);
        }
    }
}

#[test]
fn csv_tables_can_be_read() {
    for trace in examples("trace") {
        let folder = tables(&["-n", "-z", "--sort", "--format", "csv", "-l", "9"], &trace);
        let mut found = Vec::new();
        for nature in &NATURES[1..] {
            let path = folder.path().join(format!("{}.csv", nature.to_lowercase()));
            let mut reader = csv::Reader::from_path(path).expect("a table");
            let names: Vec<String> =
                reader.headers().expect("names").iter().map(str::to_owned).collect();
            assert!(names.starts_with(&["Container".to_owned(), "Type".to_owned()]));
            for record in reader.records() {
                let record = record.expect("a row of as many fields as there are names");
                let cell = |(name, cell): (&String, &str)| match name.as_str() {
                    "Imbrication" => format!("{cell}.000000000"),
                    _ => printed(cell),
                };
                let cells: Vec<String> = names.iter().zip(record.iter()).map(cell).collect();
                found.push(format!("{nature}, {}", cells.join(", ")));
            }
        }
        let mut wanted = printed_rows(&["-n", "-z", "--sort"], &trace);
        wanted.retain(|row| !row.starts_with("Container"));
        assert_eq!(found, wanted, "{}", trace.display());
    }
}

#[test]
fn hierarchies_are_tables_too() {
    for trace in examples("trace") {
        let folder = tables(&["-n", "-z", "--sort"], &trace);
        for (table, option) in
            [("type_hierarchy", "--type-hierarchy"), ("entity_hierarchy", "--entity-hierarchy")]
        {
            let text = folder.path().join("text");
            let options = ["-n", "-z", "--sort", "-q", "--quotes", "strip", option];
            pj_dump(&[&options[..], &[text.to_str().expect("text")]].concat(), &trace);
            let text = fs::read_to_string(&text).expect("the file is there");
            let (schema, batches) = read(folder.path(), table, "parquet");
            let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            let mut found = vec![names.join(", ")];
            for batch in &batches {
                for row in 0..batch.num_rows() {
                    let cells: Vec<&str> =
                        names.iter().map(|column| bare(batch, column, row)).collect();
                    found.push(cells.join(", "));
                }
            }
            assert_eq!(found, text.lines().collect::<Vec<_>>(), "{}", trace.display());
        }
    }
}

/// A user-defined column has the declared type if all definitions agree and all texts can be read
/// as this type.
#[test]
fn user_defined_fields_are_columns() {
    let mut text = testkit::definitions([
        ("c", "DefineContainerType", "Name Type"),
        ("s", "DefineStateType", "Name Type"),
        (
            "push",
            "PushState",
            "Time:date Type Container Value Size:int Rate:double Note Broken:int",
        ),
        ("pop", "PopState", "Time:date Type Container Size:int Duration:date"),
        ("new", "CreateContainer", "Time:date Name Type Container Rank:int"),
    ]);
    text.push_str("c P 0\ns S P\nnew 0 p P 0 7\n");
    text.push_str("push 1 S p a 10 0.5 \"a note\" 1\n");
    text.push_str("push 2 S p b NA 1e3 \"\" many\n");
    text.push_str("pop 3 S p 99 3.5\n");
    text.push_str("pop 4 S p NA 4.5\n");
    let trace = file(text.as_bytes());
    for (format, options) in [("parquet", &[][..]), ("arrow", &["--format", "arrow"])] {
        let folder = tables(&[&["-u"], options].concat(), trace.path());
        let (schema, batches) = read(folder.path(), "state", format);
        let types: Vec<_> =
            schema.fields().iter().skip(6).map(|f| (f.name().as_str(), f.data_type())).collect();
        let (int, float, text) = (&DataType::Int64, &DataType::Float64, &DataType::Utf8);
        let wanted = [
            ("Size", int),
            ("Rate", float),
            ("Note", text),
            ("Broken", text),
            ("EndSize", int),
            ("EndDuration", float),
        ];
        assert_eq!(types, wanted);
        let [batch] = &batches[..] else { panic!("one batch") };
        let integers = |batch: &RecordBatch, column: &str| {
            batch[column].as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
        };
        assert_eq!(integers(batch, "Size"), [Some(10), None]);
        assert_eq!(integers(batch, "EndSize"), [None, Some(99)]);
        let texts = |column: &str| {
            let column = batch[column].as_string::<i32>();
            column.iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(texts("Note"), [Some("a note".to_owned()), None]);
        assert_eq!(texts("Broken"), [Some("1".to_owned()), Some("many".to_owned())]);
        assert_eq!((number(batch, "Rate", 0), number(batch, "Rate", 1)), (0.5, 1000.0));
        let (_, containers) = read(folder.path(), "container", format);
        assert_eq!(integers(&containers[0], "Rank"), [None, Some(7)]);
    }
}

fn time_of(line: &str) -> f64 {
    line.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a time")
}

#[test]
fn rows_have_their_lines() {
    let text = generate(Shape::Mpi, 1_000_000, 1);
    let trace = file(&text);
    let lines: Vec<&str> = std::str::from_utf8(&text).expect("text").lines().collect();
    let folder = tables(&["--lines", "-z", "--threads", "3"], trace.path());
    for (nature, times) in [
        ("container", &["Start"][..]),
        ("state", &["Start"]),
        ("variable", &["Start"]),
        ("event", &["Time"]),
        ("link", &["Start", "End"]),
    ] {
        let (schema, batches) = read(folder.path(), nature, "parquet");
        assert!(schema.field_with_name("File").is_err());
        let mut rows = 0;
        for batch in &batches {
            let column = batch["Line"].as_primitive::<Int64Type>();
            for row in 0..batch.num_rows() {
                if nature == "container" && row == 0 {
                    assert!(column.is_null(row), "no line makes the root");
                    continue;
                }
                let line = lines[column.value(row) as usize - 1];
                let time = time_of(line);
                let found = times.iter().any(|column| number(batch, column, row) == time);
                assert!(found, "{nature} {row}: {line}");
                rows += 1;
            }
        }
        assert!(rows > 0);
    }
}

#[test]
fn rows_have_their_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = generate(Shape::Mpi, 50_000, 1);
    let cut = datasets::files::cut(&text, datasets::files::Style::Bare, 3);
    for piece in &cut.pieces {
        fs::write(folder.path().join(&piece.name), &piece.bytes).expect("writable");
    }
    let root = folder.path().join("root");
    fs::write(&root, &cut.root).expect("writable");
    let out = tables(&["--lines", "-z"], &root);
    let (_, batches) = read(out.path(), "state", "parquet");
    let mut seen = std::collections::BTreeSet::new();
    for batch in &batches {
        let lines = batch["Line"].as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let file = bare(batch, "File", row);
            let piece = cut.pieces.iter().find(|piece| file.ends_with(&piece.name));
            let text = String::from_utf8_lossy(&piece.expect("a file of it").bytes);
            let line = text.lines().nth(lines.value(row) as usize - 1).expect("so many lines");
            assert_eq!(time_of(line), number(batch, "Start", row));
            seen.insert(file.to_owned());
        }
    }
    assert!(seen.len() > 1, "{seen:?}");
}

/// Row groups and pages have statistics, so readers can skip them.
#[test]
fn parquet_files_have_statistics_and_page_indexes() {
    let trace = file(&generate(Shape::Mpi, 8_000_000, 1));
    let folder = tables(&[], trace.path());
    let file = File::open(folder.path().join("state.parquet")).expect("there");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
    let groups = reader.metadata().row_groups();
    assert!(!groups.is_empty());
    for column in groups.iter().flat_map(|group| group.columns()) {
        assert!(column.statistics().is_some());
        assert!(column.column_index_length().is_some_and(|length| length > 0));
        // The table has 70,000 rows and several pages.
        assert!(column.offset_index_length().is_some_and(|length| length > 20));
    }
}

#[test]
fn prefix_writes_the_rows_by_nature() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("t");
    let prefix = prefix.to_str().expect("text");
    for trace in examples("trace") {
        for options in [&["-n", "-z", "--sort"][..], &["-n", "-z", "--sort", "-u", "-l", "3"]] {
            let written = pj_dump(&[options, &["--prefix", prefix]].concat(), &trace);
            assert_eq!(written.stdout, b"");
            let text = pj_dump(options, &trace).stdout;
            let text = String::from_utf8(text).expect("text");
            for nature in NATURES {
                let path = format!("{prefix}.{}.csv", nature.to_lowercase());
                let found = fs::read_to_string(&path).expect("the file is there");
                let (header, rows) = found.split_once('\n').expect("a header line");
                assert!(header.starts_with(&format!("{nature}, ")), "{header}");
                let wanted = text.lines().filter(|line| line.starts_with(nature));
                assert!(rows.lines().eq(wanted), "{} {nature}", trace.display());
            }
        }
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 5);
}

#[test]
fn existing_files_stay_if_the_tables_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, bad) = (folder.path().join("a/b"), folder.path().join("bad"));
    fs::write(&bad, world::trace(b"set 1 S p a\nnonsense\n")).expect("writable");
    let run = |trace: &Path, out: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pj_dump"));
        command.arg(trace).arg("-O").arg(out).output().expect("the program runs")
    };
    // An invalid trace creates no folder.
    let output = run(&bad, &out);
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.path().join("a").exists());
    let good = &examples("trace")[0];
    assert!(run(good, &out).status.success());
    let before = fs::read(out.join("state.parquet")).expect("there");
    assert_eq!(run(&bad, &out).status.code(), Some(1));
    assert_eq!(fs::read(out.join("state.parquet")).expect("there"), before);
    // If a folder exists at the path of one table, no table changes.
    fs::remove_file(out.join("link.parquet")).expect("ours");
    fs::create_dir(out.join("link.parquet")).expect("ours");
    let output = run(&examples("trace")[1], &out);
    assert_eq!(output.status.code(), Some(2));
    let said = world::said(&output);
    assert!(said.contains("link.parquet: "), "{said}");
    assert_eq!(fs::read(out.join("state.parquet")).expect("there"), before);
    let output = run(good, &bad);
    assert_eq!(output.status.code(), Some(2));
    assert!(world::said(&output).starts_with(&format!("pj_dump: {}: ", bad.display())));
}

#[test]
fn natures_select_tables() {
    let trace = &examples("trace")[0];
    let folder = tables(&[], trace);
    let path = folder.path().to_str().expect("text");
    // The tables of the first run are replaced or removed.
    pj_dump(&["--nature", "state,link", "-O", path], trace);
    let wanted = ["entity_hierarchy", "link", "state", "type_hierarchy"];
    let wanted = wanted.map(|it| folder.path().join(format!("{it}.parquet")));
    assert_eq!(files(folder.path()), wanted);
}

//! Checks with an independent reader that Parquet files have the contents of Arrow's batches.

use std::fmt::Write;
use std::sync::atomic::AtomicU64;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use datasets::{Shape, definitions, generate};
use paje_export::{Format, Table, TableOptions, Tables, Times, write};
use paje_sim::{NameOrder, Options, Selection, TimeRange, Trace};
use paje_workers::Workers;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Encoding, Type};
use parquet::data_type::AsBytes;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use proptest::prelude::*;

const PAGE: usize = 20 * 1024;

const SPLIT: Format = Format::Parquet { times: Times::Split };

fn files(tables: &Tables<'_>, threads: usize) -> Vec<(Table, Bytes)> {
    let workers = testkit::team(threads);
    let mut files = Table::ALL.map(|table| (table, Vec::new()));
    let outputs = files.iter_mut().map(|(table, file)| (tables.batches(*table), file)).collect();
    let done = AtomicU64::new(0);
    let written = write(outputs, SPLIT, &done, &workers).expect("written");
    assert!(written.iter().map(|written| written.table).eq(Table::ALL));
    for (written, (_, file)) in written.iter().zip(&files) {
        assert_eq!(written.bytes, file.len() as u64);
    }
    files.map(|(table, file)| (table, Bytes::from(file))).into()
}

fn values<'a>(batches: &'a [RecordBatch], column: usize) -> Vec<Option<Vec<u8>>> {
    let of_array = |array: &'a ArrayRef| {
        (0..array.len()).map(move |row| {
            array.is_valid(row).then(|| match array.data_type() {
                DataType::Float64 => {
                    array.as_primitive::<Float64Type>().value(row).to_le_bytes().to_vec()
                }
                DataType::Int32 => {
                    array.as_primitive::<Int32Type>().value(row).to_le_bytes().to_vec()
                }
                DataType::Int64 => {
                    array.as_primitive::<Int64Type>().value(row).to_le_bytes().to_vec()
                }
                DataType::Utf8 => array.as_string::<i32>().value(row).as_bytes().to_vec(),
                _ => {
                    let names = array.as_dictionary::<Int32Type>();
                    let name = names.keys().value(row) as usize;
                    names.values().as_string::<i32>().value(name).as_bytes().to_vec()
                }
            })
        })
    };
    batches.iter().flat_map(|batch| of_array(batch.column(column))).collect()
}

fn metadata(file: &Bytes) -> ParquetMetaData {
    let options = ReadOptionsBuilder::new().with_page_index().build();
    let reader = SerializedFileReader::new_with_options(file.clone(), options).expect("a file");
    reader.metadata().clone()
}

fn check(trace: &Trace, options: TableOptions) {
    let tables = Tables::new(trace, options);
    let made = files(&tables, 1);
    for threads in [2, 3] {
        assert!(made == files(&tables, threads), "different bytes with {threads} threads");
    }
    for (table, file) in made {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone()).expect("a file");
        assert_eq!(reader.schema(), &tables.schema(table));
        let found: Vec<RecordBatch> =
            reader.build().expect("a reader").map(|batch| batch.expect("a batch")).collect();
        let wanted = tables.read(table, &Workers::one()).expect("batches");
        for (column, field) in tables.schema(table).fields().iter().enumerate() {
            let found = values(&found, column);
            let wanted = values(&wanted, column);
            assert!(found == wanted, "{} of {}", field.name(), table.name());
            bounds(&metadata(&file), column, &wanted);
        }
    }
}

fn at_least(kind: Type, one: &[u8], other: &[u8]) -> bool {
    match kind {
        Type::DOUBLE => {
            let float = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight"));
            float(one) >= float(other)
        }
        Type::INT32 => {
            let integer = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().expect("four"));
            integer(one) >= integer(other)
        }
        Type::INT64 => {
            let integer = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight"));
            integer(one) >= integer(other)
        }
        _ => one >= other,
    }
}

fn bounds(metadata: &ParquetMetaData, column: usize, wanted: &[Option<Vec<u8>>]) {
    let mut rest = wanted;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let rows;
        (rows, rest) = rest.split_at(group.num_rows() as usize);
        let chunk = group.column(column);
        assert_eq!(chunk.num_values() as usize, rows.len());
        let statistics = chunk.statistics().expect("statistics");
        let kind = chunk.column_type();
        let within = |low: Option<&[u8]>, high: Option<&[u8]>, rows: &[Option<Vec<u8>>]| {
            for value in rows.iter().flatten() {
                let number = kind == Type::DOUBLE
                    && f64::from_le_bytes(value[..].try_into().expect("eight")).is_nan();
                if !number {
                    assert!(at_least(kind, value, low.expect("a lower bound")));
                    assert!(at_least(kind, high.expect("an upper bound"), value));
                }
            }
        };
        within(statistics.min_bytes_opt(), statistics.max_bytes_opt(), rows);
        let offsets = metadata.page_index().expect("an index").offset_index(number, column);
        let pages = offsets.expect("offsets").page_locations();
        let index = metadata.page_index().and_then(|index| index.column_index(number, column));
        for (page, location) in pages.iter().enumerate() {
            let from = location.first_row_index as usize;
            let to = pages.get(page + 1).map_or(rows.len(), |next| next.first_row_index as usize);
            assert!(to - from <= PAGE);
            let (low, high) = match index {
                Some(ColumnIndexMetaData::DOUBLE(index)) => (
                    index.min_value(page).map(|value| value.as_bytes().to_vec()),
                    index.max_value(page).map(|value| value.as_bytes().to_vec()),
                ),
                Some(ColumnIndexMetaData::INT32(index)) => (
                    index.min_value(page).map(|value| value.as_bytes().to_vec()),
                    index.max_value(page).map(|value| value.as_bytes().to_vec()),
                ),
                Some(ColumnIndexMetaData::BYTE_ARRAY(index)) => (
                    index.min_value(page).map(<[u8]>::to_vec),
                    index.max_value(page).map(<[u8]>::to_vec),
                ),
                _ => continue,
            };
            within(low.as_deref(), high.as_deref(), &rows[from..to]);
        }
    }
    assert!(rest.is_empty());
}

fn read(text: &[u8], options: &Options) -> Trace {
    Trace::read(text, options).expect("a trace")
}

#[test]
fn files_equal_batches_for_every_shape_of_trace() {
    let mut options = Options::default();
    options.sort = true;
    for shape in Shape::ALL {
        check(&read(&generate(shape, 60_000, 5), &options), TableOptions::default());
    }
}

#[test]
fn files_equal_batches_for_selections() {
    let mut options = Options::default();
    options.keep_lines = true;
    let trace = read(&generate(Shape::MpiWild, 2_000_000, 7), &options);
    let end = trace.end();
    for (from, to) in [(0.2 * end, 0.7 * end), (-2.0, -1.0), (0.0, 0.0), (0.0, 9.0 * end)] {
        let window = TimeRange { from, to };
        let mut selection = Selection::default();
        selection.window = window;
        check(&trace, TableOptions { selection, order: NameOrder::Raw, ..TableOptions::default() });
    }
}

fn world() -> String {
    let events = [
        ("0", "DefineContainerType", "Alias Type Name"),
        ("1", "DefineStateType", "Alias Type Name"),
        ("2", "DefineVariableType", "Alias Type Name"),
        ("3", "DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
        ("4", "CreateContainer", "Time:date Alias Type Container Name"),
        ("5", "PushState", "Time:date Type Container Value"),
        ("6", "PopState", "Time:date Type Container"),
        ("7", "SetVariable", "Time:date Type Container Value:double"),
        ("8", "StartLink", "Time:date Type Container StartContainer Value Key"),
        ("9", "EndLink", "Time:date Type Container EndContainer Value Key"),
    ];
    definitions(events) + "0 P 0 P\n1 S P S\n2 V P V\n3 L 0 P P L\n4 0 a P 0 \"a é\"\n4 0 b P 0 b\n"
}

/// Returns a trace with these events. The number of an event determines its name and value.
fn trace_of(events: impl Iterator<Item = (u8, u32)>) -> String {
    let mut text = world();
    for (line, (kind, number)) in events.enumerate() {
        let time = line as f64 * 0.001;
        let container = if number % 3 == 0 { "a" } else { "b" };
        let value = match number % 7 {
            0 => "x".repeat(70 + number as usize % 50),
            1 => format!("\"é {number}\""),
            _ => format!("v{}", number % 11),
        };
        let key = format!("{line} k {}", value.trim_matches('"'));
        let _ = match kind {
            0 => writeln!(text, "5 {time} S {container} {value}"),
            1 => writeln!(text, "5 {time} S {container} w\n6 {time} S {container}"),
            2 => writeln!(text, "7 {time} V {container} {}", number % 5),
            3 => writeln!(text, "7 {time} V {container} {}", f64::from(number) / 7.0),
            _ => writeln!(text, "8 {time} L 0 {container} m \"{key}\"\n9 {time} L 0 b m \"{key}\""),
        };
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn files_equal_batches_for_random_rows(events in prop::collection::vec((0_u8..5, 0_u32..5_000), 0..400), raw: bool) {
        let order = if raw { NameOrder::Raw } else { NameOrder::Bare };
        let trace = trace_of(events.into_iter());
        check(&read(trace.as_bytes(), &Options::default()), TableOptions { order, ..TableOptions::default() });
    }
}

#[test]
fn latin_1_in_keys_names_and_values_is_written() {
    let mut trace = trace_of((0..50).map(|number| (4, number))).into_bytes();
    for byte in trace.iter_mut().skip(world().len()) {
        if *byte == b'k' || *byte == b'v' {
            *byte = 0xe9;
        }
    }
    check(&read(&trace, &Options::default()), TableOptions::default());
}

/// Returns whether values of variables use a dictionary, and whether they use BYTE_STREAM_SPLIT.
fn encodings(trace: &str) -> (bool, bool) {
    let trace = read(trace.as_bytes(), &Options::default());
    let tables = Tables::new(&trace, TableOptions::default());
    check(&trace, TableOptions::default());
    let made = files(&tables, 1);
    let (_, file) = made.iter().find(|(table, _)| *table == Table::Variable).expect("a table");
    let metadata = metadata(file);
    let column = metadata.row_group(0).columns().last().expect("a column");
    assert_eq!(metadata.num_row_groups(), 1);
    let has = |encoding| column.encodings().any(|some| some == encoding);
    assert_eq!(column.dictionary_page_offset().is_some(), has(Encoding::RLE_DICTIONARY));
    (has(Encoding::RLE_DICTIONARY), has(Encoding::BYTE_STREAM_SPLIT))
}

#[test]
fn repeated_values_use_a_dictionary_until_it_is_full() {
    let few = trace_of((0..50_000).map(|number| (2, 3 * number)));
    assert_eq!(encodings(&few), (true, false));
    let distinct = trace_of((0..30_000).map(|number| (3, 3 * number)));
    assert_eq!(encodings(&distinct), (false, true));
    let kind = |number| if number < 30_000 { 2 } else { 3 };
    let later = trace_of((0..120_000).map(|number| (kind(number), 3 * number)));
    assert_eq!(encodings(&later), (true, true));
}

#[test]
fn very_deep_stacks_are_written() {
    let deep = trace_of((0..70_000).map(|number| (0, 6 * (number % 100) + 3)));
    check(&read(deep.as_bytes(), &Options::default()), TableOptions::default());
}

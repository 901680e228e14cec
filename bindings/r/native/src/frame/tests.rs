use std::num::NonZeroUsize;

use arrow_array::types::{Float64Type, Int32Type};
use paje_export::TableOptions;
use paje_sim::{Options, TimeRange, Trace};
use paje_workers::Pin;

use super::*;

#[derive(Debug, PartialEq)]
enum Made {
    Names(Vec<String>),
    Integers(Vec<i32>),
    Doubles(Vec<f64>),
    Texts(Vec<Option<String>>),
}

fn slots_of<'s>(
    kinds: &[Kind],
    integers: &'s mut [Vec<i32>],
    doubles: &'s mut [Vec<f64>],
) -> Vec<Slot<'s>> {
    let both = integers.iter_mut().zip(doubles).zip(kinds);
    let slots = both.map(|((integers, doubles), kind)| match kind {
        Kind::Integer | Kind::Factor => Slot::Integers(integers),
        Kind::Double => Slot::Doubles(doubles),
        Kind::Text => Slot::Texts,
    });
    slots.collect()
}

fn made(tables: &Tables<'_>, table: Table, threads: usize) -> Vec<Made> {
    let workers = Workers::new(NonZeroUsize::new(threads), &Pin::None).expect("threads");
    let mut frame = Frame::new(tables, table, &workers).expect("columns");
    let rows = frame.rows();
    let mut integers = vec![vec![-1; rows]; frame.columns.len()];
    let mut doubles = vec![vec![-1.0; rows]; frame.columns.len()];
    let kinds: Vec<Kind> = frame.columns.iter().map(|column| column.kind).collect();
    let batches = frame.batches();
    let slots = slots_of(&kinds, &mut integers, &mut doubles);
    frame.fill(tables, &workers, slots, 0, batches).expect("rows");
    let shown = &frame;
    let texts = |column: usize| {
        let batches = (0..batches).flat_map(move |batch| {
            let rows = 0..shown.text_rows(batch);
            rows.map(move |row| shown.text(column, batch, row).map(Cow::into_owned))
        });
        batches.collect::<Vec<_>>()
    };
    let texts: Vec<_> = (0..kinds.len()).map(texts).collect();
    frame.finish(&workers, slots_of(&kinds, &mut integers, &mut doubles));
    let columns = frame.columns.iter().zip(integers).zip(doubles).zip(texts);
    let columns = columns.map(|(((column, integers), doubles), texts)| match column.kind {
        Kind::Integer => Made::Integers(integers),
        Kind::Double => Made::Doubles(doubles),
        Kind::Text => Made::Texts(texts),
        Kind::Factor => {
            let mut levels = column.levels.clone();
            let names = integers.iter().map(|code| levels[*code as usize - 1].clone());
            let names: Vec<_> = names.collect();
            levels.retain(|level| names.contains(level));
            assert_eq!(levels, column.levels, "all levels are used");
            levels.sort();
            levels.dedup();
            assert_eq!(levels.len(), column.levels.len(), "levels are distinct");
            Made::Names(names)
        }
    });
    columns.collect()
}

/// Returns the expected column, taken from the table's batches.
fn wanted(batches: &[RecordBatch], column: &Column) -> Made {
    let arrays = |index: usize| batches.iter().map(move |batch| batch.column(index));
    let numbers = |index| {
        arrays(index).flat_map(|array| array.as_primitive::<Float64Type>().values().to_vec())
    };
    match (column.from, column.kind) {
        (From::Duration { start, end }, _) => Made::Doubles(
            numbers(end).zip(numbers(start)).map(|(end, start)| end - start).collect(),
        ),
        (From::Column(index), Kind::Double) => Made::Doubles(numbers(index).collect()),
        (From::Column(index), Kind::Integer) => Made::Integers(
            arrays(index)
                .flat_map(|array| array.as_primitive::<Int32Type>().values().to_vec())
                .collect(),
        ),
        (From::Column(index), Kind::Text) => Made::Texts(
            arrays(index)
                .flat_map(|array| {
                    array.as_string::<i32>().iter().map(|text| text.map(str::to_owned))
                })
                .collect(),
        ),
        (From::Column(index), Kind::Factor) => Made::Names(
            arrays(index)
                .flat_map(|array| {
                    let array = array.as_dictionary::<Int32Type>();
                    let names = array.downcast_dict::<StringArray>().expect("names");
                    names.into_iter().flatten().map(str::to_owned).collect::<Vec<_>>()
                })
                .collect(),
        ),
    }
}

#[test]
fn frames_equal_tables() {
    let text = datasets::generate(datasets::Shape::Mpi, 60_000, 3);
    let trace = Trace::read(&text[..], &Options::default()).expect("valid");
    let half = TimeRange { from: trace.end() / 4.0, to: trace.end() / 2.0 };
    for window in [TimeRange::ALWAYS, half] {
        let mut options = TableOptions::default();
        options.selection.window = window;
        let tables = Tables::new(&trace, options);
        for table in Table::ALL {
            let batches = tables.read(table, &Workers::one()).expect("rows");
            let columns = columns(Some(table), &tables.schema(table));
            let wanted: Vec<_> = columns.iter().map(|column| wanted(&batches, column)).collect();
            for threads in [1, 3] {
                assert!(made(&tables, table, threads) == wanted, "{table:?}, {threads}");
            }
        }
    }
}

#[test]
fn slots_are_cut_at_batches() {
    let mut rows: Vec<i32> = (0..10).collect();
    let parts = cut(vec![Slot::Integers(&mut rows), Slot::Texts], &[2, 5, 5, 9]);
    let numbers = parts.into_iter().map(|part| match part.into_iter().next() {
        Some(Slot::Integers(rows)) => rows.to_vec(),
        other => panic!("{other:?}"),
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [vec![2, 3, 4], vec![], vec![5, 6, 7, 8]]);
}

#[test]
fn names_that_become_equal_share_a_level() {
    let column = Column {
        name: "Value".into(),
        kind: Kind::Factor,
        from: From::Column(0),
        names: OnceLock::new(),
        levels: Vec::new(),
    };
    let names = ["unused", "a\0", "b", "a\u{fffd}"];
    let used = [false, true, true, true].map(AtomicBool::new);
    let names = Names { texts: StringArray::from_iter_values(names), used: used.into() };
    assert!(column.names.set(names).is_ok());
    let mut frame = Frame {
        table: Some(Table::State),
        columns: vec![column],
        begins: vec![0, 4],
        made: Vec::new(),
        texts: Vec::new(),
    };
    let mut rows = [3, 2, i32::MIN, 4];
    frame.finish(&Workers::one(), vec![Slot::Integers(&mut rows)]);
    assert_eq!(frame.columns[0].levels, ["a\u{fffd}", "b"]);
    assert_eq!(rows, [2, 1, i32::MIN, 1]);
}

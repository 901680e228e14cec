//! Fills R's vectors with the rows of a batch.

use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};

use crate::frame::{Column, From, Names};

/// R's `NA` for integers and for factor levels.
const NO_INTEGER: i32 = i32::MIN;
/// R's `NA` for doubles, which is a particular NaN.
const NO_NUMBER: f64 = f64::from_bits(0x7ff0_0000_0000_07a2);

#[derive(Debug)]
pub(crate) enum Slot<'s> {
    /// Integers, or codes of a factor.
    Integers(&'s mut [i32]),
    Doubles(&'s mut [f64]),
    /// Strings, which only R can create.
    Texts,
}

impl<'s> Slot<'s> {
    pub(crate) fn split(self, rows: usize) -> (Self, Self) {
        match self {
            Slot::Integers(slice) => {
                let (first, others) = slice.split_at_mut(rows);
                (Slot::Integers(first), Slot::Integers(others))
            }
            Slot::Doubles(slice) => {
                let (first, others) = slice.split_at_mut(rows);
                (Slot::Doubles(first), Slot::Doubles(others))
            }
            Slot::Texts => (Slot::Texts, Slot::Texts),
        }
    }
}

/// Fills in all rows of a batch. Each column has a slot as long as the batch.
pub(crate) fn fill(columns: &[Column], batch: &RecordBatch, slots: Vec<Slot<'_>>) {
    for (column, slot) in columns.iter().zip(slots) {
        match (slot, column.from) {
            (Slot::Texts, _) => {}
            (Slot::Integers(rows), From::Column(index)) => {
                let array = batch.column(index);
                match array.as_primitive_opt::<Int32Type>() {
                    Some(array) => copy(array, array.values(), rows, |n| *n, NO_INTEGER),
                    None => codes(column, array, rows),
                }
            }
            (Slot::Doubles(rows), From::Column(index)) => {
                let array = batch.column(index);
                if let Some(array) = array.as_primitive_opt::<Float64Type>() {
                    copy(array, array.values(), rows, |n| *n, NO_NUMBER);
                } else if let Some(array) = array.as_primitive_opt::<Int64Type>() {
                    copy(array, array.values(), rows, |n| *n as f64, NO_NUMBER);
                } else if let Some(array) = array.as_primitive_opt::<UInt64Type>() {
                    copy(array, array.values(), rows, |n| *n as f64, NO_NUMBER);
                }
            }
            (Slot::Doubles(rows), From::Duration { start, end }) => {
                let start = batch.column(start).as_primitive::<Float64Type>();
                let end = batch.column(end).as_primitive::<Float64Type>();
                for (row, (start, end)) in
                    rows.iter_mut().zip(start.values().iter().zip(end.values()))
                {
                    *row = end - start;
                }
            }
            (Slot::Integers(_), From::Duration { .. }) => {}
        }
    }
}

fn copy<T, R: Copy>(
    array: &dyn Array,
    values: &[T],
    rows: &mut [R],
    as_r: impl Fn(&T) -> R,
    missing: R,
) {
    for (row, value) in rows.iter_mut().zip(values) {
        *row = as_r(value);
    }
    if array.null_count() > 0 {
        let gaps = rows.iter_mut().enumerate().filter(|(i, _)| array.is_null(*i));
        gaps.for_each(|(_, row)| *row = missing);
    }
}

/// Copies codes of names, counted from 1, and marks the names as used.
fn codes(column: &Column, array: &dyn Array, rows: &mut [i32]) {
    let Some(array) = array.as_dictionary_opt::<Int32Type>() else { return };
    let names = column.names.get_or_init(|| {
        let texts = array.values().as_string::<i32>().clone();
        let used = (0..texts.len()).map(|_| AtomicBool::new(false)).collect();
        Names { texts, used }
    });
    for (i, (row, code)) in rows.iter_mut().zip(array.keys().values()).enumerate() {
        if array.is_null(i) {
            *row = NO_INTEGER;
            continue;
        }
        let used = &names.used[*code as usize];
        // Avoids unnecessary writes, which would invalidate other processors' caches.
        if !used.load(Ordering::Relaxed) {
            used.store(true, Ordering::Relaxed);
        }
        *row = code + 1;
    }
}

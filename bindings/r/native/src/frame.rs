//! A table as a data frame, filled batch by batch.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema};
use paje_export::{Error, Table, Tables};
use paje_workers::Workers;

use crate::fill::{Slot, fill};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Integer = 0,
    Double = 1,
    Factor = 2,
    Text = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Column(usize),
    /// Difference of two columns.
    Duration {
        start: usize,
        end: usize,
    },
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) from: From,
    pub(crate) names: OnceLock<Names>,
    pub(crate) levels: Vec<String>,
}

/// Names of a factor, and whether each name is used.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) texts: StringArray,
    pub(crate) used: Vec<AtomicBool>,
}

#[derive(Debug)]
pub(crate) struct Frame {
    /// Table, or `None` for the rows of an analysis.
    table: Option<Table>,
    pub(crate) columns: Vec<Column>,
    /// Index of each batch's first row, then the number of rows.
    begins: Vec<usize>,
    /// Batches that were made to count their rows.
    made: Vec<Option<RecordBatch>>,
    /// The batches that were filled in last, if they have strings.
    texts: Vec<RecordBatch>,
}

impl Frame {
    pub(crate) fn new(tables: &Tables<'_>, table: Table, workers: &Workers) -> Result<Self, Error> {
        let batches = tables.batches(table);
        let known: Option<Vec<usize>> = (0..batches.len()).map(|n| batches.rows(n)).collect();
        let (rows, made) = match known {
            Some(rows) => (rows, Vec::new()),
            None => {
                let made = tables.read(table, workers)?;
                let rows = made.iter().map(RecordBatch::num_rows).collect();
                (rows, made.into_iter().map(Some).collect())
            }
        };
        let mut begins = vec![0];
        begins.extend(rows.iter().scan(0, |sum, rows| {
            *sum += rows;
            Some(*sum)
        }));
        let columns = columns(Some(table), batches.schema());
        Ok(Frame { table: Some(table), columns, begins, made, texts: Vec::new() })
    }

    pub(crate) fn of_rows(rows: RecordBatch) -> Self {
        let columns = columns(None, rows.schema_ref());
        let begins = vec![0, rows.num_rows()];
        Frame { table: None, columns, begins, made: vec![Some(rows)], texts: Vec::new() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.begins.last().copied().unwrap_or(0)
    }

    pub(crate) fn batches(&self) -> usize {
        self.begins.len() - 1
    }

    pub(crate) fn begin(&self, batch: usize) -> usize {
        self.begins.get(batch).copied().unwrap_or_else(|| self.rows())
    }

    /// Fills in the rows of batches `from..to`. Each column has a slot as long as the frame.
    pub(crate) fn fill(
        &mut self,
        tables: &Tables<'_>,
        workers: &Workers,
        slots: Vec<Slot<'_>>,
        from: usize,
        to: usize,
    ) -> Result<(), Error> {
        let parts = cut(slots, &self.begins[from..=to]);
        let made: Vec<_> =
            (from..to).map(|number| self.made.get_mut(number).and_then(Option::take)).collect();
        let batches = self.table.map(|table| tables.batches(table));
        let jobs = parts.into_iter().zip(made).zip(from..);
        let filled = workers.map_each(jobs, |((part, made), number)| {
            let batch = match (made, &batches) {
                (Some(made), _) => Ok(made),
                (None, Some(batches)) => batches.read(number),
                (None, None) => return None,
            };
            Some(batch.inspect(|batch| fill(&self.columns, batch, part)))
        });
        self.texts.clear();
        let texts = self.columns.iter().any(|column| column.kind == Kind::Text);
        for batch in filled.into_iter().flatten() {
            let batch = batch?;
            if texts {
                self.texts.push(batch);
            }
        }
        Ok(())
    }

    /// Returns a string of one of the batches that were filled in last.
    pub(crate) fn text(&self, column: usize, batch: usize, row: usize) -> Option<Cow<'_, str>> {
        let From::Column(column) = self.columns[column].from else { return None };
        let texts = self.texts.get(batch)?.column(column).as_string_opt::<i32>()?;
        texts.is_valid(row).then(|| clean(texts.value(row)))
    }

    /// Returns the number of rows of one of the batches that were filled in last, or 0 if the table
    /// has no strings.
    pub(crate) fn text_rows(&self, batch: usize) -> usize {
        self.texts.get(batch).map_or(0, RecordBatch::num_rows)
    }

    /// Completes factors. Levels are the used names without duplicates, in the order of the trace.
    pub(crate) fn finish(&mut self, workers: &Workers, slots: Vec<Slot<'_>>) {
        for (column, slot) in self.columns.iter_mut().zip(slots) {
            let (Slot::Integers(rows), Some(names)) = (slot, column.names.take()) else { continue };
            let mut known = HashMap::new();
            let codes = names.used.into_iter().enumerate().map(|(code, used)| {
                if !used.into_inner() {
                    return 0;
                }
                let text = clean(names.texts.value(code)).into_owned();
                *known.entry(text).or_insert_with_key(|text| {
                    column.levels.push(text.clone());
                    column.levels.len() as i32
                })
            });
            let codes: Vec<i32> = codes.collect();
            // If all names are levels, codes are already right.
            if column.levels.len() < codes.len() {
                recode(workers, rows, &codes);
            }
        }
    }
}

fn cut<'s>(slots: Vec<Slot<'s>>, begins: &[usize]) -> Vec<Vec<Slot<'s>>> {
    let mut rest: Vec<Slot<'s>> = slots.into_iter().map(|slot| slot.split(begins[0]).1).collect();
    let parts = begins.windows(2).map(|pair| {
        let halves = rest.drain(..).map(|slot| slot.split(pair[1] - pair[0]));
        let (part, left): (Vec<_>, Vec<_>) = halves.unzip();
        rest = left;
        part
    });
    parts.collect()
}

/// Replaces codes, which count from 1. Keeps missing values.
fn recode(workers: &Workers, rows: &mut [i32], codes: &[i32]) {
    workers.map_each(rows.chunks_mut(1 << 18), |piece| {
        for row in piece.iter_mut().filter(|row| **row > 0) {
            *row = codes[*row as usize - 1];
        }
    });
}

/// Replaces zero bytes, which R's strings cannot contain.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

/// Returns the columns of a data frame for a table, with the names and durations of pajengr, or for
/// an analysis.
fn columns(table: Option<Table>, schema: &Schema) -> Vec<Column> {
    let place = |name: &str| schema.index_of(name).ok();
    let mut columns = Vec::new();
    let mut add = |name: &str, kind, from| {
        let (names, levels) = (OnceLock::new(), Vec::new());
        columns.push(Column { name: name.to_owned(), kind, from, names, levels });
    };
    for (index, field) in schema.fields().iter().enumerate() {
        let name = match (table, field.name().as_str()) {
            (Some(Table::Container), "Name") => "Container",
            (Some(Table::Event), "Time") => "Start",
            (_, name) => name,
        };
        let kind = match field.data_type() {
            DataType::Int32 => Kind::Integer,
            DataType::Float64 | DataType::Int64 | DataType::UInt64 => Kind::Double,
            DataType::Dictionary(..) => Kind::Factor,
            _ => Kind::Text,
        };
        add(name, kind, From::Column(index));
        // User-defined columns with the same names come later, so `place` finds the original ones.
        if let (Some(start), Some(end)) = (place("Start"), place("End"))
            && end == index
            && table.is_some_and(|table| table.nature().is_some())
        {
            add("Duration", Kind::Double, From::Duration { start, end });
        }
    }
    columns
}

#[cfg(test)]
mod tests;

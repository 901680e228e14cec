//! Rows of a table, column by column, before any format has them.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use crate::names::{Names, text};
use crate::table::Column;
use crate::{Error, Table};

/// The columns that all objects of a nature have; which of them are filled depends on the table. Names are their
/// codes.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) container: Runs,
    pub(crate) type_: Runs,
    pub(crate) start: Vec<f64>,
    pub(crate) end: Vec<f64>,
    pub(crate) number: Vec<f64>,
    pub(crate) imbrication: Vec<i32>,
    pub(crate) value: Vec<i32>,
    pub(crate) from: Vec<i32>,
    pub(crate) to: Vec<i32>,
    pub(crate) keys: Keys,
}

impl Rows {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.start.len()
    }

    /// Makes room for rows of a table.
    pub(crate) fn reserve(&mut self, table: Table, rows: usize) {
        let has = |column: Column| if table.columns().contains(&column) { rows } else { 0 };
        self.start.reserve(rows);
        self.end.reserve(has(Column::End));
        self.number.reserve(has(Column::Number));
        self.imbrication.reserve(has(Column::Imbrication));
        self.value.reserve(has(Column::Value));
        self.from.reserve(has(Column::StartContainer));
        self.to.reserve(has(Column::EndContainer));
        self.keys.ends.reserve(has(Column::Key));
        self.keys.bytes.reserve(8 * has(Column::Key));
    }

    /// Lets go of all rows, but not of the room that they took.
    pub(crate) fn clear(&mut self) {
        self.container.0.clear();
        self.type_.0.clear();
        [&mut self.start, &mut self.end, &mut self.number].into_iter().for_each(Vec::clear);
        let codes = [&mut self.imbrication, &mut self.value, &mut self.from, &mut self.to];
        codes.into_iter().for_each(Vec::clear);
        self.keys.bytes.clear();
        self.keys.ends.clear();
    }

    /// Arrow's arrays of these columns, in the order of [`Table::columns`]. Values of types have their own names,
    /// those of all others are names of types.
    pub(crate) fn arrays(
        mut self,
        table: Table,
        containers: &Names,
        types: &Names,
        values: &Names,
    ) -> Result<Vec<ArrayRef>, Error> {
        let floats = |floats: Vec<f64>| Arc::new(Float64Array::from(floats)) as ArrayRef;
        let columns = table.columns().iter().map(|column| match column {
            Column::Container | Column::Parent => containers.array(self.container.expanded()),
            Column::Type => types.array(self.type_.expanded()),
            Column::Start | Column::Time => Ok(floats(std::mem::take(&mut self.start))),
            Column::End => Ok(floats(std::mem::take(&mut self.end))),
            Column::Number => Ok(floats(std::mem::take(&mut self.number))),
            Column::Imbrication => {
                Ok(Arc::new(Int32Array::from(std::mem::take(&mut self.imbrication))) as ArrayRef)
            }
            Column::Value => values.array(std::mem::take(&mut self.value)),
            Column::Name | Column::StartContainer => {
                containers.array(std::mem::take(&mut self.from))
            }
            Column::EndContainer => containers.array(std::mem::take(&mut self.to)),
            Column::Key => Ok(Arc::new(std::mem::take(&mut self.keys).array()?) as ArrayRef),
            Column::Nature => unreachable!("hierarchies are no rows of lanes"),
        });
        columns.collect()
    }
}

/// A column of codes that are the same for many rows: each with how many. No two neighbours have the same code.
#[derive(Debug, Default)]
pub(crate) struct Runs(Vec<(i32, usize)>);

impl Runs {
    /// Adds rows of one code.
    #[inline]
    pub(crate) fn add(&mut self, code: i32, rows: usize) {
        match self.0.last_mut() {
            Some((last, count)) if *last == code => *count += rows,
            _ if rows == 0 => {}
            _ => self.0.push((code, rows)),
        }
    }

    pub(crate) fn as_slice(&self) -> &[(i32, usize)] {
        &self.0
    }

    /// The code of each row.
    fn expanded(&self) -> Vec<i32> {
        let mut codes = Vec::with_capacity(self.0.iter().map(|(_, rows)| rows).sum());
        self.0.iter().for_each(|(code, rows)| codes.extend(std::iter::repeat_n(*code, *rows)));
        codes
    }
}

/// Keys of links, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    /// The end of each.
    ends: Vec<i32>,
}

impl Keys {
    /// Adds a key.
    #[inline]
    pub(crate) fn add(&mut self, key: &[u8]) -> Result<(), Error> {
        self.bytes.extend_from_slice(key);
        if self.bytes.len() > i32::MAX as usize {
            return Err(Error::TooMuchText(Column::Key.name()));
        }
        self.ends.push(self.bytes.len() as i32);
        Ok(())
    }

    /// Bytes of all.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// All texts in one, and where each of them ends in it.
    pub(crate) fn texts(&mut self) -> Result<(&str, &[i32]), Error> {
        if !self.bytes.is_ascii() {
            let (bytes, ends) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.ends));
            let mut from = 0;
            for end in ends {
                let end = end as usize;
                self.add(text(&bytes[from..end]).as_bytes())?;
                from = end;
            }
        }
        let texts = std::str::from_utf8(&self.bytes).expect("texts, one behind the other");
        Ok((texts, &self.ends))
    }

    fn array(mut self) -> Result<StringArray, Error> {
        self.texts()?;
        let offsets: Vec<i32> = std::iter::once(0).chain(self.ends).collect();
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(StringArray::try_new(offsets, Buffer::from_vec(self.bytes), None)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_same_code_are_one() {
        let mut runs = Runs::default();
        for (code, rows) in [(7, 2), (7, 1), (3, 0), (7, 1), (2, 1)] {
            runs.add(code, rows);
        }
        assert_eq!(runs.as_slice(), [(7, 4), (2, 1)]);
        assert_eq!(runs.expanded(), [7, 7, 7, 7, 2]);
    }

    /// Two keys that are no UTF-8 stay what they are, also where their bytes together are a letter.
    #[test]
    fn keys_that_are_no_utf8() {
        let mut keys = Keys::default();
        for key in [&b"a"[..], b"\xc3", b"\xa9", "é".as_bytes(), b""] {
            keys.add(key).expect("few");
        }
        let array = keys.array().expect("texts");
        assert_eq!(array.iter().flatten().collect::<Vec<_>>(), ["a", "Ã", "©", "é", ""]);
    }
}

use std::mem::take;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use crate::tables::names::{Names, text};
use crate::tables::table::Column;
use crate::tables::{Error, Table};

/// Columns of rows. Each table uses some of them. Names are stored as codes.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) container: Vec<i32>,
    pub(crate) type_: Vec<i32>,
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
    pub(crate) fn with_capacity(table: Table, rows: usize) -> Self {
        let capacity = |column: Column| if table.columns().contains(&column) { rows } else { 0 };
        Rows {
            container: Vec::with_capacity(rows),
            type_: Vec::with_capacity(rows),
            start: Vec::with_capacity(rows),
            end: Vec::with_capacity(capacity(Column::End)),
            number: Vec::with_capacity(capacity(Column::Number)),
            imbrication: Vec::with_capacity(capacity(Column::Imbrication)),
            value: Vec::with_capacity(capacity(Column::Value)),
            from: Vec::with_capacity(capacity(Column::StartContainer)),
            to: Vec::with_capacity(capacity(Column::EndContainer)),
            keys: Keys {
                bytes: Vec::with_capacity(8 * capacity(Column::Key)),
                ends: Vec::with_capacity(capacity(Column::Key)),
            },
        }
    }

    pub(crate) fn arrays(
        mut self,
        table: Table,
        containers: &Names,
        types: &Names,
        values: &Names,
    ) -> Result<Vec<ArrayRef>, Error> {
        let floats = |floats: Vec<f64>| Arc::new(Float64Array::from(floats)) as ArrayRef;
        let columns = table.columns().iter().map(|column| match column {
            Column::Container | Column::Parent => containers.array(take(&mut self.container)),
            Column::Type => types.array(take(&mut self.type_)),
            Column::Start | Column::Time => Ok(floats(take(&mut self.start))),
            Column::End => Ok(floats(take(&mut self.end))),
            Column::Number => Ok(floats(take(&mut self.number))),
            Column::Imbrication => {
                Ok(Arc::new(Int32Array::from(take(&mut self.imbrication))) as ArrayRef)
            }
            Column::Value => values.array(take(&mut self.value)),
            Column::Name | Column::StartContainer => containers.array(take(&mut self.from)),
            Column::EndContainer => containers.array(take(&mut self.to)),
            Column::Key => Ok(Arc::new(take(&mut self.keys).array()?) as ArrayRef),
            Column::Nature => unreachable!("hierarchies are not made of rows"),
        });
        columns.collect()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<i32>,
}

impl Keys {
    #[inline]
    pub(crate) fn add(&mut self, key: &[u8]) -> Result<(), Error> {
        self.bytes.extend_from_slice(key);
        if self.bytes.len() > i32::MAX as usize {
            return Err(Error::TooMuchText(Column::Key.name()));
        }
        self.ends.push(self.bytes.len() as i32);
        Ok(())
    }

    /// Returns the keys as an array. Keys that are not UTF-8 are read as Latin-1.
    fn array(mut self) -> Result<StringArray, Error> {
        if !self.bytes.is_ascii() {
            let Keys { bytes, ends } = take(&mut self);
            let mut from = 0;
            for end in ends {
                let end = end as usize;
                self.add(text(&bytes[from..end]).as_bytes())?;
                from = end;
            }
        }
        let offsets: Vec<i32> = std::iter::once(0).chain(self.ends).collect();
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(StringArray::try_new(offsets, Buffer::from_vec(self.bytes), None)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_checked_for_utf8_one_by_one() {
        let mut keys = Keys::default();
        for key in [&b"a"[..], b"\xc3", b"\xa9", "é".as_bytes(), b""] {
            keys.add(key).expect("few");
        }
        let array = keys.array().expect("texts");
        assert_eq!(array.iter().flatten().collect::<Vec<_>>(), ["a", "Ã", "©", "é", ""]);
    }
}

//! Comma-separated values (RFC 4180).

use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, SchemaRef};

use crate::tables::Error;
use paje_decimal::write_fixed;

const DURATION: &str = "Duration";

pub(super) struct Encoder {
    schema: SchemaRef,
    precision: usize,
}

enum Cells<'a> {
    Names { texts: &'a StringArray, codes: &'a Int32Array },
    Texts(&'a StringArray),
    Numbers(&'a Float64Array),
    Levels(&'a Int32Array),
    Integers(&'a Int64Array),
    Duration(&'a Float64Array, &'a Float64Array),
}

impl Encoder {
    pub(super) fn new(schema: &SchemaRef, precision: usize) -> Self {
        Encoder { schema: SchemaRef::clone(schema), precision }
    }

    pub(super) fn header(&self) -> Result<Vec<u8>, Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for field in self.schema.fields() {
            writer.write_field(field.name()).map_err(from_csv)?;
            if field.name() == "End" {
                writer.write_field(DURATION).map_err(from_csv)?;
            }
        }
        end(writer, true)
    }

    pub(super) fn encode(&self, batch: &RecordBatch) -> Result<Vec<u8>, Error> {
        let mut columns = Vec::new();
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            columns.push(match field.data_type() {
                DataType::Float64 => Cells::Numbers(column.as_primitive::<Float64Type>()),
                DataType::Int32 => Cells::Levels(column.as_primitive::<Int32Type>()),
                DataType::Int64 => Cells::Integers(column.as_primitive::<Int64Type>()),
                DataType::Dictionary(..) => {
                    let names = column.as_dictionary::<Int32Type>();
                    Cells::Names { texts: names.values().as_string(), codes: names.keys() }
                }
                _ => Cells::Texts(column.as_string()),
            });
            if let ("End", [.., Cells::Numbers(start), Cells::Numbers(end)]) =
                (field.name().as_str(), &columns[..])
            {
                columns.push(Cells::Duration(start, end));
            }
        }
        let buffer = Vec::with_capacity(batch.num_rows() * 64);
        let mut writer = csv::WriterBuilder::new().buffer_capacity(1 << 16).from_writer(buffer);
        let mut text = Vec::new();
        for row in 0..batch.num_rows() {
            for column in &columns {
                text.clear();
                let field = match column {
                    Cells::Names { codes, .. } if codes.is_null(row) => b"",
                    Cells::Names { texts, codes } => {
                        texts.value(codes.value(row) as usize).as_bytes()
                    }
                    Cells::Texts(texts) if texts.is_null(row) => b"",
                    Cells::Texts(texts) => texts.value(row).as_bytes(),
                    Cells::Numbers(numbers) => {
                        if !numbers.is_null(row) {
                            write_fixed(&mut text, numbers.value(row), self.precision);
                        }
                        &text
                    }
                    Cells::Levels(levels) => {
                        write!(text, "{}", levels.value(row))?;
                        &text
                    }
                    Cells::Integers(numbers) => {
                        if !numbers.is_null(row) {
                            write!(text, "{}", numbers.value(row))?;
                        }
                        &text
                    }
                    Cells::Duration(start, end) => {
                        let duration = end.value(row) - start.value(row);
                        write_fixed(&mut text, duration, self.precision);
                        &text
                    }
                };
                writer.write_field(field).map_err(from_csv)?;
            }
            writer.write_record(None::<&[u8]>).map_err(from_csv)?;
        }
        end(writer, false)
    }
}

/// Returns the text. If `line` is true, the text ends with a line end.
fn end(mut writer: csv::Writer<Vec<u8>>, line: bool) -> Result<Vec<u8>, Error> {
    if line {
        writer.write_record(None::<&[u8]>).map_err(from_csv)?;
    }
    writer.into_inner().map_err(|error| Error::Io(error.into_error()))
}

fn from_csv(error: csv::Error) -> Error {
    Error::Io(error.into())
}

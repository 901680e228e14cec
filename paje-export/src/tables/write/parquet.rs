//! Parquet files, with a row group for each batch.

mod dictionary;
mod hybrid;

use std::collections::HashSet;
use std::io::Write;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowRowGroupWriterFactory, ArrowWriter, compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescPtr};
use zstd::bulk::Compressor;

use self::dictionary::DictionaryChunk;
use crate::tables::table::Column;
use crate::tables::{Batches, Error, Table};

/// Encoding of times. Times make up most of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// BYTE_STREAM_SPLIT, which most readers support.
    #[default]
    Split,
    /// Decimals (ALP, 2026), which take less than half the space, but which only new readers
    /// support.
    Decimal,
}

/// Compression level of zstd. Level 3 takes twice the time and saves 1 %.
const LEVEL: i32 = 1;

/// Rows of a page, the smallest unit to decode. parquet-rs ends pages at multiples of 1,024 rows.
const PAGE_ROWS: usize = 20 * 1024;

/// Maximum size of a dictionary in bytes. When a dictionary is full, parquet-rs encodes the
/// following values without it.
const DICTIONARY_BYTES: usize = 1 << 19;

pub(super) struct Encoder {
    factory: ArrowRowGroupWriterFactory,
    columns: SchemaDescPtr,
}

pub(super) struct RowGroup {
    rows: usize,
    columns: Vec<Chunk>,
}

enum Chunk {
    Dictionary(DictionaryChunk),
    Library(ArrowColumnChunk),
}

pub(super) struct Sink<W: Write + Send>(SerializedFileWriter<W>);

pub(super) fn open<W: Write + Send>(
    batches: &Batches<'_, '_>,
    times: Times,
    out: W,
) -> Result<(Encoder, Sink<W>), Error> {
    let schema = batches.schema();
    let properties = properties(schema, times, repeats_values(batches)?);
    let writer = ArrowWriter::try_new(out, SchemaRef::clone(schema), Some(properties))?;
    let (writer, factory) = writer.into_serialized_writer()?;
    let columns = SchemaDescPtr::new(writer.schema_descr().clone());
    Ok((Encoder { factory, columns }, Sink(writer)))
}

/// Returns whether the first values of variables repeat, so that a dictionary saves space.
fn repeats_values(batches: &Batches<'_, '_>) -> Result<bool, Error> {
    if batches.table() != Table::Variable || batches.is_empty() {
        return Ok(false);
    }
    let sample = batches.read(0)?;
    let Some(values) = sample.column_by_name(Column::Number.name()) else { return Ok(false) };
    let values = values.as_primitive::<Float64Type>().values();
    let values = &values[..values.len().min(PAGE_ROWS)];
    let distinct: HashSet<u64> = values.iter().map(|value| value.to_bits()).collect();
    Ok(2 * distinct.len() < values.len())
}

fn properties(schema: &Schema, times: Times, repeated: bool) -> WriterProperties {
    let level = ZstdLevel::try_new(LEVEL).unwrap_or_default();
    let metadata = schema.metadata().iter();
    let metadata = metadata.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("paje-replay version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_key_value_metadata(Some(metadata.collect()));
    for field in schema.fields() {
        let path = ColumnPath::from(field.name().as_str());
        if *field.data_type() == DataType::Float64 {
            let encoding = match times {
                Times::Split => Encoding::BYTE_STREAM_SPLIT,
                Times::Decimal => Encoding::ALP,
            };
            let dictionary = repeated && field.name() == Column::Number.name();
            properties = properties
                .set_column_dictionary_enabled(path.clone(), dictionary)
                .set_column_encoding(path, encoding);
        } else if field.name() == Column::Key.name() {
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_LENGTH_BYTE_ARRAY);
        }
    }
    properties.build()
}

impl Encoder {
    pub(super) fn encode(&self, batch: &RecordBatch) -> Result<RowGroup, Error> {
        let mut compressor = Compressor::new(LEVEL)?;
        let mut columns = Vec::with_capacity(batch.num_columns());
        let writers = self.factory.create_column_writers(0)?;
        let schema = batch.schema_ref();
        for (place, mut writer) in writers.into_iter().enumerate() {
            let (field, array) = (schema.field(place), batch.column(place));
            columns.push(match array.as_dictionary_opt::<Int32Type>() {
                Some(names) if !field.is_nullable() => {
                    let column = self.columns.column(place);
                    let chunk = DictionaryChunk::encode(&column, names, &mut compressor)?;
                    Chunk::Dictionary(chunk)
                }
                _ => {
                    for leaf in compute_leaves(field, array)? {
                        writer.write(&leaf)?;
                    }
                    Chunk::Library(writer.close()?)
                }
            });
        }
        Ok(RowGroup { rows: batch.num_rows(), columns })
    }
}

impl<W: Write + Send> Sink<W> {
    pub(super) fn put(&mut self, group: RowGroup) -> Result<(), Error> {
        if group.rows == 0 {
            return Ok(());
        }
        let mut row_group = self.0.next_row_group()?;
        for column in group.columns {
            match column {
                Chunk::Dictionary(chunk) => chunk.append_to_row_group(&mut row_group)?,
                Chunk::Library(chunk) => chunk.append_to_row_group(&mut row_group)?,
            }
        }
        row_group.close()?;
        Ok(())
    }

    pub(super) fn finish(self) -> Result<W, Error> {
        Ok(self.0.into_inner()?)
    }
}

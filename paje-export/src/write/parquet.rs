//! Parquet files: a row group for each batch. Columns that all rows have are encoded here, straight from the lanes;
//! others, the hierarchies, and times as decimals by the library, from Arrow's arrays.

mod chunk;
mod columns;
mod delta;
mod frame;
mod group;
mod hybrid;
mod split;
mod tools;
mod values;

use std::collections::HashSet;
use std::io::Write;
use std::sync::{Arc, Mutex};

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowRowGroupWriterFactory, ArrowWriter, compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescPtr};

use self::chunk::Encoded;
use self::group::{Made, Maker, PAGE_ROWS};
pub(super) use self::tools::Stock;
use self::tools::exclusively;
use crate::table::Column;
use crate::{Batches, Error, Table};

/// Encoding of times, which take up most of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// Byte by byte (BYTE_STREAM_SPLIT), which all readers of the last years know.
    #[default]
    Split,
    /// As the decimals that they are (ALP, 2026): in less than half the room, for readers that know it.
    Decimal,
}

/// Of zstd, for what the library writes: the next ones take twice the time for one per cent.
const LEVEL: i32 = 3;

/// Encoder of batches as row groups.
pub(super) struct Encoder {
    schema: SchemaRef,
    factory: ArrowRowGroupWriterFactory,
    columns: SchemaDescPtr,
    /// Those that make row groups when nobody does; none if the library is to make them.
    makers: Option<Mutex<Vec<Maker>>>,
    stock: Arc<Stock>,
}

/// The encoded columns of a batch.
pub(super) struct RowGroup {
    rows: usize,
    columns: Vec<Encoded>,
    others: Vec<ArrowColumnChunk>,
}

/// Output that row groups go to.
pub(super) struct Sink<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    stock: Arc<Stock>,
}

pub(super) fn open<W: Write + Send>(
    batches: &Batches<'_, '_>,
    times: Times,
    stock: &Arc<Stock>,
    out: W,
) -> Result<(Encoder, Sink<W>), Error> {
    let schema = batches.schema();
    let repeated = times == Times::Decimal && repeated(batches)?;
    let properties = properties(schema, times, repeated);
    let writer = ArrowWriter::try_new(out, SchemaRef::clone(schema), Some(properties))?;
    let (writer, factory) = writer.into_serialized_writer()?;
    let columns = SchemaDescPtr::new(writer.schema_descr().clone());
    let ours = times == Times::Split && batches.table().nature().is_some();
    let makers = ours.then(Default::default);
    let stock = Arc::clone(stock);
    let sink = Sink { writer, stock: Arc::clone(&stock) };
    let schema = SchemaRef::clone(schema);
    Ok((Encoder { schema, factory, columns, makers, stock }, sink))
}

/// Tells whether values of variables come again and again, so that a dictionary of them is shorter. Of some
/// traces they do, of others nearly none does: the first rows tell.
fn repeated(batches: &Batches<'_, '_>) -> Result<bool, Error> {
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
        .set_key_value_metadata(Some(metadata.collect()));
    for field in schema.fields() {
        let path = ColumnPath::from(field.name().as_str());
        if repeated && field.name() == Column::Number.name() {
            continue;
        }
        if *field.data_type() == DataType::Float64 {
            let encoding = match times {
                Times::Split => Encoding::BYTE_STREAM_SPLIT,
                Times::Decimal => Encoding::ALP,
            };
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
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
    /// A batch as a row group, and how many rows it has.
    pub(super) fn encode(
        &self,
        batches: &Batches<'_, '_>,
        number: usize,
    ) -> Result<(usize, RowGroup), Error> {
        let Some(makers) = &self.makers else {
            let batch = batches.read(number)?;
            let others = self.library(0, batch.columns())?;
            let rows = batch.num_rows();
            return Ok((rows, RowGroup { rows, columns: Vec::new(), others }));
        };
        let maker = exclusively(makers).pop();
        let mut maker = maker.map_or_else(|| Maker::new(batches, &self.columns), Ok)?;
        let Made { rows, columns, others } = maker.make(batches, number, &self.stock)?;
        exclusively(makers).push(maker);
        let others = self.library(columns.len(), &others)?;
        Ok((rows, RowGroup { rows, columns, others }))
    }

    /// Columns from one on, as the library has them.
    fn library(&self, first: usize, columns: &[ArrayRef]) -> Result<Vec<ArrowColumnChunk>, Error> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let mut writers = self.factory.create_column_writers(0)?.into_iter().skip(first);
        let mut chunks = Vec::with_capacity(columns.len());
        for (field, column) in self.schema.fields().iter().skip(first).zip(columns) {
            for leaf in compute_leaves(field, column)? {
                let Some(mut writer) = writers.next() else { break };
                writer.write(&leaf)?;
                chunks.push(writer.close()?);
            }
        }
        Ok(chunks)
    }
}

impl<W: Write + Send> Sink<W> {
    pub(super) fn put(&mut self, group: RowGroup) -> Result<(), Error> {
        if group.rows == 0 {
            return Ok(());
        }
        let mut row_group = self.writer.next_row_group()?;
        for column in group.columns {
            self.stock.give_room(column.append(&mut row_group)?);
        }
        for chunk in group.others {
            chunk.append_to_row_group(&mut row_group)?;
        }
        row_group.close()?;
        Ok(())
    }

    pub(super) fn finish(self) -> Result<W, Error> {
        Ok(self.writer.into_inner()?)
    }
}

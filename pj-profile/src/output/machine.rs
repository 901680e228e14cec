//! Tables for other programs.

use std::io::{self, Write};

use paje_analysis::{Data, Table};
use paje_console::Quotes;
use paje_console::records::{self, Value};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

pub(super) fn csv(table: &Table, quotes: Quotes, out: &mut dyn Write) -> io::Result<()> {
    records::csv(&names(table), rows(table), quotes, out)
}

pub(super) fn json(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    records::json(&names(table), rows(table), out)
}

fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| column.name).collect()
}

fn rows(table: &Table) -> impl Iterator<Item = impl Iterator<Item = Value<'_>>> {
    (0..table.len()).map(|row| table.columns.iter().map(move |column| value(&column.data, row)))
}

fn value(data: &Data, row: usize) -> Value<'_> {
    let number = match data {
        Data::Text(all) => return Value::Name(all[row].name()),
        Data::Count(all) => Some(all[row].to_string()),
        Data::Seconds(all) => all[row].map(|seconds| seconds.to_string()),
        Data::Time(all) | Data::Number(all) => all[row].map(|number| format!("{number:.9}")),
        Data::Amount(all) => all[row].map(|amount| amount.to_string()),
    };
    number.map_or(Value::None, Value::Number)
}

pub(super) fn parquet(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let batch = table.record_batch().map_err(io::Error::other)?;
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(zstd).build();
    // The rows are written to memory first, because the writer must own its output.
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    out.write_all(&bytes)
}

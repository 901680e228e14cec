//! Tables for other programs.

use std::io::{self, Write};

use paje_analysis::{Data, Table};
use paje_console::Quotes;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Comma-separated values below a header line.
pub(super) fn csv(table: &Table, quotes: Quotes, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut line = Vec::new();
    for row in 0..table.len() {
        line.clear();
        for (i, column) in table.columns.iter().enumerate() {
            if i > 0 {
                line.push(b',');
            }
            match &column.data {
                Data::Text(all) => quotes.write(all[row].name(), &mut line),
                other => write!(line, "{}", number(other, row).unwrap_or_default())?,
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// A list of objects, one on each line.
pub(super) fn json(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for row in 0..table.len() {
        out.write_all(if row == 0 { b"\n{" } else { b",\n{" })?;
        for (i, column) in table.columns.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let value = match &column.data {
                Data::Text(all) => serde_json::to_string(&all[row].to_string())?,
                // Of what is no number, JSON knows nothing.
                other => number(other, row)
                    .filter(|text| !text.contains(['N', 'i']))
                    .unwrap_or_else(|| "null".into()),
            };
            write!(out, "{comma}\"{}\": {value}", column.name)?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(b"\n]\n")
}

/// A number as text; none where there is none.
fn number(data: &Data, row: usize) -> Option<String> {
    match data {
        Data::Text(_) => None,
        Data::Count(all) => Some(all[row].to_string()),
        Data::Seconds(all) => all[row].map(|seconds| seconds.to_string()),
        Data::Number(all) => all[row].map(|number| format!("{number:.9}")),
        Data::Amount(all) => all[row].map(|amount| amount.to_string()),
    }
}

/// A Parquet file.
pub(super) fn parquet(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let batch = table.record_batch().map_err(io::Error::other)?;
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder().set_compression(zstd).build();
    // In memory first: a writer wants to own what it writes to.
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    out.write_all(&bytes)
}

//! Rows of named columns as CSV and JSON.

use std::io::{self, Write};

use paje_sim::Name;

use crate::Quotes;

/// A value in a row.
#[derive(Clone, Debug)]
pub enum Value<'v> {
    /// A name in the trace, or another word.
    Name(Name<'v>),
    /// A number in digits.
    Number(String),
    /// An integer of any size. In JSON, it is a string if it has more than 15 digits, because
    /// readers would round it.
    Large(String),
    /// No value.
    None,
}

/// Writes a header, unless `columns` is empty, and one line of comma-separated values per row.
pub fn csv<'v, R: IntoIterator<Item = Value<'v>>>(
    columns: &[&str],
    rows: impl IntoIterator<Item = R>,
    quotes: Quotes,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !columns.is_empty() {
        writeln!(out, "{}", columns.join(","))?;
    }
    let mut line = Vec::new();
    for row in rows {
        line.clear();
        for (at, value) in row.into_iter().enumerate() {
            if at > 0 {
                line.push(b',');
            }
            match value {
                Value::Name(name) => quotes.write(name, &mut line),
                Value::Number(text) | Value::Large(text) => line.extend_from_slice(text.as_bytes()),
                Value::None => {}
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// Writes a list of objects, one per line.
pub fn json<'v, R: IntoIterator<Item = Value<'v>>>(
    columns: &[&str],
    rows: impl IntoIterator<Item = R>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, row) in rows.into_iter().enumerate() {
        out.write_all(if at == 0 { b"\n{" } else { b",\n{" })?;
        for (at, (column, value)) in columns.iter().zip(row).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let value = match value {
                Value::Name(name) => serde_json::to_string(&name.to_str_lossy())?,
                Value::Large(text) if text.len() > 15 => format!("\"{text}\""),
                // JSON has no infinity and no NaN.
                Value::Number(text) | Value::Large(text) if !text.contains(['N', 'i']) => text,
                _ => "null".to_owned(),
            };
            write!(out, "{comma}\"{column}\": {value}")?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(b"\n]\n")
}

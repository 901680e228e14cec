//! Output of findings.

use std::io::{self, Write};

use paje_console::Quotes;
use paje_sim::Name;

use crate::cli::Format;

/// A value of a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name of the trace, or a word.
    Text(Vec<u8>),
    /// A number, digit by digit.
    Number(String),
    /// Seconds.
    Seconds(f64),
    /// Nothing is known.
    None,
}

/// Findings: for machines as rows, for people as sentences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// The sentences, a line each.
    pub lines: Vec<String>,
    /// Total, in a sentence.
    pub sum: String,
    /// True if anything was found.
    pub found: bool,
}

impl Cell {
    /// A line number, or any other count.
    pub fn number(number: impl ToString) -> Self {
        Cell::Number(number.to_string())
    }
}

impl From<Option<u64>> for Cell {
    fn from(number: Option<u64>) -> Self {
        number.map_or(Cell::None, Cell::number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.into())
    }
}

impl From<Name<'_>> for Cell {
    fn from(name: Name<'_>) -> Self {
        Cell::Text(name.text.to_vec())
    }
}

/// Writes findings.
///
/// # Errors
/// The output's.
pub fn write(
    findings: &Findings,
    format: Format,
    quotes: Quotes,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => {
            findings.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            writeln!(out, "{}", findings.sum)
        }
        Format::Csv => csv(findings, quotes, out),
        Format::Json => json(findings, out),
    }
}

fn csv(findings: &Findings, quotes: Quotes, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", findings.columns.join(","))?;
    let mut line = Vec::new();
    for row in &findings.rows {
        line.clear();
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                line.push(b',');
            }
            match cell {
                Cell::Text(text) => quotes.write(Name::bare(text), &mut line),
                Cell::Number(number) => line.extend_from_slice(number.as_bytes()),
                Cell::Seconds(seconds) => write!(line, "{seconds:.9}")?,
                Cell::None => {}
            }
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn json(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, row) in findings.rows.iter().enumerate() {
        out.write_all(if at == 0 { b"\n{" } else { b",\n{" })?;
        for (at, (name, cell)) in findings.columns.iter().zip(row).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let value = match cell {
                Cell::Text(text) => serde_json::to_string(&String::from_utf8_lossy(text))?,
                // As text where programs that read it would round it.
                Cell::Number(number) if number.len() > 15 => format!("\"{number}\""),
                Cell::Number(number) => number.clone(),
                Cell::Seconds(seconds) if seconds.is_finite() => format!("{seconds:.9}"),
                Cell::Seconds(_) | Cell::None => "null".to_owned(),
            };
            write!(out, "{comma}\"{name}\": {value}")?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(b"\n]\n")
}

//! Output of findings.

use std::io::{self, Write};

use paje_console::Quotes;
use paje_console::options::Format;
use paje_console::records::{self, Value};
use paje_sim::Name;

/// A value of a finding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// A name or a word.
    Text(Vec<u8>),
    /// A whole number.
    Number(String),
    Seconds(f64),
    /// No value.
    None,
}

/// Findings as rows and as lines of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Findings {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Findings as lines of text.
    pub(crate) lines: Vec<String>,
    /// Assumptions, which precede the text.
    pub(crate) assumed: Vec<String>,
    /// Total number of findings, as text.
    pub(crate) sum: String,
    /// Whether anything was found.
    pub(crate) found: bool,
}

impl Cell {
    /// Returns a cell with a count.
    pub(crate) fn number(number: impl ToString) -> Self {
        Cell::Number(number.to_string())
    }

    fn value(&self) -> Value<'_> {
        match self {
            Cell::Text(text) => Value::Name(Name::bare(text)),
            Cell::Number(number) => Value::Large(number.clone()),
            Cell::Seconds(seconds) => Value::Number(format!("{seconds:.9}")),
            Cell::None => Value::None,
        }
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
pub(crate) fn write(
    findings: &Findings,
    format: Format,
    quotes: Quotes,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows = findings.rows.iter().map(|row| row.iter().map(Cell::value));
    match format {
        Format::Text | Format::Parquet => {
            findings.assumed.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            findings.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            writeln!(out, "{}", findings.sum)
        }
        Format::Csv => records::csv(&findings.columns, rows, quotes, out),
        Format::Json => records::json(&findings.columns, rows, out),
    }
}

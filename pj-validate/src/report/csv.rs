//! Reports as comma-separated values: one line per finding.

use std::io::{self, Write};

use paje_console::Quotes;
use paje_console::records::{self, Value};
use paje_sim::Name;

use crate::finding::Finding;

/// Columns of the report.
const COLUMNS: [&str; 9] =
    ["trace", "file", "line", "column", "severity", "code", "message", "count", "last_line"];

/// Writes the findings, with a name for each file; the header line only if `header` is set.
///
/// # Errors
/// The output cannot be written.
pub fn findings(
    out: &mut dyn Write,
    files: &[String],
    findings: &[Finding],
    header: bool,
) -> io::Result<()> {
    let columns = if header { &COLUMNS[..] } else { &[] };
    let messages: Vec<String> = findings.iter().map(|it| it.cause.to_string()).collect();
    let name = |file: usize| files.get(file).map_or("", String::as_str);
    let word = |text| Value::Name(Name::bare(text));
    let rows = findings.iter().zip(&messages).map(|(it, message)| {
        let number =
            |number: Option<u64>| number.map_or(Value::None, |n| Value::Large(n.to_string()));
        [
            word(name(0).as_bytes()),
            word(name(it.file).as_bytes()),
            number(it.position.map(|position| position.line)),
            number(it.position.map(|position| position.column)),
            word(it.severity.name().as_bytes()),
            word(it.code().as_bytes()),
            word(message.as_bytes()),
            number(Some(it.count)),
            number(it.position.map(|_| it.last_line)),
        ]
    });
    records::csv(columns, rows, Quotes::Auto, out)
}

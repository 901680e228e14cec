//! Keeps the instruction counts of each shape in a file.

use std::error::Error;
use std::fmt;
use std::path::Path;

use crate::callgrind::Counts;

#[derive(Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) compiler: String,
    pub(crate) size: u64,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    shape: String,
    /// Instructions per line for decoding, for replaying and for everything else except output, and
    /// their sum.
    lines: [f64; 4],
    /// Instructions per row for output.
    export: f64,
    all: f64,
}

const MOST: f64 = 1.02;

impl Row {
    pub(crate) const HEADER: &str = "shape               decode   replay     rest  without rows  a row of output      all a line";

    pub(crate) fn new(shape: &str, counts: &Counts) -> Row {
        let a_line = |count: u64| (count as f64 / counts.lines as f64 * 10.0).round() / 10.0;
        let without = counts.all - counts.export;
        let rest = without - counts.decode - counts.replay;
        Row {
            shape: shape.to_owned(),
            lines: [counts.decode, counts.replay, rest, without].map(a_line),
            export: (counts.export as f64 / counts.rows.max(1) as f64 * 10.0).round() / 10.0,
            all: a_line(counts.all),
        }
    }

    fn numbers(&self) -> [f64; 6] {
        let [decode, replay, rest, without] = self.lines;
        [decode, replay, rest, without, self.export, self.all]
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [decode, replay, rest, without, export, all] = self.numbers();
        let shape = &self.shape;
        write!(
            f,
            "{shape:<17} {decode:8.1} {replay:8.1} {rest:8.1} {without:13.1} {export:16.1} {all:15.1}"
        )
    }
}

const COLUMNS: &str = "shape,decode,replay,rest,without_rows,export_a_row,all_a_line";

impl Record {
    pub(crate) fn read(path: &Path) -> Result<Record, Box<dyn Error>> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        Record::parse(&text).ok_or_else(|| format!("{}: no record", path.display()).into())
    }

    fn parse(text: &str) -> Option<Record> {
        let mut lines = text.lines();
        let (compiler, size) = lines.next()?.strip_prefix("# ")?.split_once(", ")?;
        let size = size.strip_suffix(" bytes")?.parse().ok()?;
        if lines.next()? != COLUMNS {
            return None;
        }
        let row = |line: &str| {
            let (shape, numbers) = line.split_once(',')?;
            let numbers: Result<Vec<f64>, _> = numbers.split(',').map(str::parse).collect();
            let [decode, replay, rest, without, export, all] = numbers.ok()?.try_into().ok()?;
            let lines = [decode, replay, rest, without];
            Some(Row { shape: shape.to_owned(), lines, export, all })
        };
        let rows = lines.map(row).collect::<Option<_>>()?;
        Some(Record { compiler: compiler.to_owned(), size, rows })
    }

    fn text(&self) -> String {
        let mut text = format!("# {}, {} bytes\n{COLUMNS}\n", self.compiler, self.size);
        for row in &self.rows {
            text.push_str(&row.shape);
            row.numbers().iter().for_each(|number| text.push_str(&format!(",{number:.1}")));
            text.push('\n');
        }
        text
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        std::fs::write(path, self.text())
            .map_err(|error| format!("{}: {error}", path.display()).into())
    }

    pub(crate) fn compare(&self, before: &Record) -> Vec<String> {
        let mut worse = Vec::new();
        for row in &self.rows {
            let shape = &row.shape;
            let Some(before) = before.rows.iter().find(|before| before.shape == *shape) else {
                worse.push(format!("{shape} is not in the record"));
                continue;
            };
            for (what, now, before) in [
                ("per line without rows", row.lines[3], before.lines[3]),
                ("per line in total", row.all, before.all),
            ] {
                if now > before * MOST {
                    let part = 100.0 * (now / before - 1.0);
                    worse.push(format!(
                        "{shape} takes {now:.1} instructions {what}, {part:.1} % more than the \
                         record's {before:.1}"
                    ));
                }
            }
        }
        worse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(all: f64) -> Record {
        let row = Row { shape: "mpi".into(), lines: [1.0, 2.0, 3.5, 6.5], export: 9.0, all };
        Record { compiler: "rustc 1.2.3".into(), size: 2_000_000, rows: vec![row] }
    }

    #[test]
    fn written_records_can_be_read() {
        assert_eq!(Record::parse(&record(7.0).text()), Some(record(7.0)));
        assert_eq!(Record::parse("shape,decode\n"), None);
    }

    #[test]
    fn more_than_two_percent_is_reported() {
        let before = record(100.0);
        assert!(record(101.9).compare(&before).is_empty());
        assert!(record(60.0).compare(&before).is_empty());
        let worse = record(102.1).compare(&before);
        assert_eq!(
            worse,
            ["mpi takes 102.1 instructions per line in total, 2.1 % more than the record's 100.0"]
        );
        let none = Record { rows: Vec::new(), ..record(1.0) };
        assert_eq!(before.compare(&none), ["mpi is not in the record"]);
    }
}

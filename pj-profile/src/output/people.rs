//! Tables for people.

use std::io::{self, Write};

use paje_analysis::{Data, Label, Seconds, Table};
use paje_parser::error::Escaped;

use super::grid::{Cell, Column, Grid};
use paje_pictures::numbers::{amount, count, duration};

use super::screen::Screen;
use super::{strips, waiting};

/// A report below its title.
pub(super) fn write(
    title: &str,
    table: &Table,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", screen.paint(1, &Escaped(title.as_bytes()).to_string()))?;
    if table.is_empty() {
        return writeln!(out, "\nThere is nothing to report.");
    }
    let seen = Seen(table);
    match table.name {
        "states" => sections(seen, screen, out, &["container", "type"], STATES, states),
        "comm" => {
            strips::matrices(seen, screen, out)?;
            sections(seen, screen, out, &["type"], COMM, comm)
        }
        "time" => strips::times(seen, screen, out),
        "variables" if table.column("bin").is_some() => strips::means(seen, screen, out),
        "variables" => sections(seen, screen, out, &["type"], VARIABLES, variables),
        "compare" => sections(seen, screen, out, &["container", "type"], COMPARE, compare),
        "summary" => summary(seen, screen, out),
        "kinds" | "waiters" | "pairs" | "critical" | "imbalance" => {
            waiting::write(seen, screen, out)
        }
        _ => sections(seen, screen, out, &["type"], EVENTS, events),
    }
}

/// A table, with what people read in its places.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'t>(pub(crate) &'t Table);

impl<'t> Seen<'t> {
    pub(super) fn label(self, name: &str, row: usize) -> Option<&'t Label> {
        match self.0.column(name) {
            Some(Data::Text(all)) => Some(&all[row]),
            _ => None,
        }
    }

    pub(crate) fn text(self, name: &str, row: usize) -> String {
        let label = self.label(name, row);
        label.map_or(String::new(), |label| Escaped(label.name().text).to_string())
    }

    pub(crate) fn number(self, name: &str, row: usize) -> Option<f64> {
        match self.0.column(name)? {
            Data::Text(_) => None,
            Data::Count(all) => Some(all[row] as f64),
            Data::Seconds(all) => all[row].map(Seconds::to_f64),
            Data::Number(all) | Data::Amount(all) => all[row],
        }
    }

    pub(super) fn name(self, name: &str, row: usize) -> Cell {
        Cell::Name(self.text(name, row))
    }

    pub(super) fn seconds(self, name: &str, row: usize) -> Cell {
        Cell::Number(self.number(name, row).map_or_else(|| "–".into(), duration))
    }

    pub(super) fn count(self, name: &str, row: usize) -> Cell {
        match self.0.column(name) {
            Some(Data::Count(all)) => Cell::Number(count(all[row])),
            _ => Cell::Number("–".into()),
        }
    }

    fn amount(self, name: &str, row: usize) -> Cell {
        Cell::Number(self.number(name, row).map_or_else(|| "–".into(), amount))
    }

    pub(super) fn percent(self, name: &str, row: usize, sign: bool) -> Cell {
        Cell::Number(match self.number(name, row) {
            Some(part) if sign => format!("{:+.1} %", part * 100.0),
            Some(part) => format!("{:.1} %", part * 100.0),
            None => "–".into(),
        })
    }
}

/// Rows below a heading for each run of rows that agree in these columns.
pub(super) fn sections(
    seen: Seen<'_>,
    screen: Screen,
    out: &mut dyn Write,
    by: &[&str],
    columns: &[Column],
    cells: fn(Seen<'_>, usize) -> Vec<Cell>,
) -> io::Result<()> {
    let heading = |row: usize| -> Vec<String> {
        by.iter().map(|name| seen.text(name, row)).filter(|text| !text.is_empty()).collect()
    };
    let mut row = 0;
    while row < seen.0.len() {
        let (of, mut grid) = (heading(row), Grid::new(columns));
        writeln!(out)?;
        if !of.is_empty() {
            writeln!(out, "{}", screen.paint(1, &of.join(" · ")))?;
        }
        while row < seen.0.len() && heading(row) == of {
            grid.row(cells(seen, row));
            row += 1;
        }
        grid.write(screen, out)?;
    }
    Ok(())
}

const STATES: &[Column] = &[
    ("value", 0),
    ("share", 2),
    ("", 0),
    ("exclusive", 0),
    ("inclusive", 5),
    ("count", 0),
    ("mean", 4),
    ("median", 7),
    ("p95", 8),
    ("max", 6),
    ("containers", 9),
    ("imbalance", 3),
];

fn states(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    vec![
        seen.name("value", row),
        Cell::Bar(seen.number("share", row).unwrap_or(0.0)),
        seen.percent("share", row, false),
        seen.seconds("exclusive", row),
        seen.seconds("inclusive", row),
        seen.count("count", row),
        seen.seconds("mean", row),
        seen.seconds("median", row),
        seen.seconds("p95", row),
        seen.seconds("max", row),
        seen.count("containers", row),
        seen.percent("imbalance", row, false),
    ]
}

const COMM: &[Column] = &[
    ("from", 0),
    ("to", 0),
    ("value", 6),
    ("count", 0),
    ("bytes", 1),
    ("mean", 2),
    ("min", 4),
    ("max", 3),
    ("first", 8),
    ("last", 7),
];

fn comm(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    vec![
        seen.name("from", row),
        seen.name("to", row),
        seen.name("value", row),
        seen.count("count", row),
        seen.amount("bytes", row),
        seen.seconds("mean", row),
        seen.seconds("min", row),
        seen.seconds("max", row),
        seen.seconds("first", row),
        seen.seconds("last", row),
    ]
}

const VARIABLES: &[Column] =
    &[("container", 0), ("mean", 0), ("min", 1), ("max", 2), ("count", 4), ("integral", 3)];

fn variables(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    vec![
        seen.name("container", row),
        seen.amount("mean", row),
        seen.amount("min", row),
        seen.amount("max", row),
        seen.count("count", row),
        seen.amount("integral", row),
    ]
}

const EVENTS: &[Column] =
    &[("value", 0), ("container", 0), ("count", 0), ("first", 2), ("last", 3), ("rate per s", 1)];

fn events(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    vec![
        seen.name("value", row),
        seen.name("container", row),
        seen.count("count", row),
        seen.seconds("first", row),
        seen.seconds("last", row),
        seen.amount("rate", row),
    ]
}

const COMPARE: &[Column] = &[
    ("value", 0),
    ("A", 2),
    ("B", 3),
    ("change", 0),
    ("", 1),
    ("of makespan", 4),
    ("count A", 6),
    ("count B", 5),
];

fn compare(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    vec![
        seen.name("value", row),
        seen.seconds("exclusive_a", row),
        seen.seconds("exclusive_b", row),
        seen.seconds("change", row),
        seen.percent("percent", row, true),
        seen.percent("share", row, true),
        seen.count("count_a", row),
        seen.count("count_b", row),
    ]
}

fn summary(seen: Seen<'_>, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let facts = &[("", 0), ("", 0)];
    sections(seen, screen, out, &["section"], facts, |seen, row| {
        vec![seen.name("name", row), seen.name("value", row)]
    })
}

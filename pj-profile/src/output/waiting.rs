//! Waiting and the critical path, for people.

use std::io::{self, Write};

use super::grid::{Cell, Column};
use super::people::{Seen, sections};
use super::screen::Screen;

/// Columns that name the rows of the tables.
const NAMES: [&str; 4] = ["kind", "container", "waiter", "whom"];

pub(super) fn write(seen: Seen<'_>, screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    match seen.0.name {
        "kinds" => sections(seen, screen, out, &[], KINDS, kinds),
        "waiters" => sections(seen, screen, out, &[], WAITERS, waiters),
        "pairs" => sections(seen, screen, out, &[], PAIRS, pairs),
        "critical" => sections(seen, screen, out, &["type"], CRITICAL, critical),
        _ => sections(seen, screen, out, &["type"], IMBALANCE, imbalance),
    }
}

const KINDS: &[Column] =
    &[("waiting", 0), ("share", 2), ("", 0), ("seconds", 0), ("count", 0), ("mean", 3), ("max", 4)];

/// Cells that all tables of waiting have, behind the names that the table has.
fn kinds(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    let named = NAMES.into_iter().filter(|name| seen.label(name, row).is_some());
    let mut cells: Vec<Cell> = named.map(|name| seen.name(name, row)).collect();
    cells.extend([
        Cell::Bar(seen.number("share", row).unwrap_or(0.0)),
        seen.percent("share", row, false),
        seen.seconds("seconds", row),
        seen.count("count", row),
        seen.seconds("mean", row),
        seen.seconds("max", row),
    ]);
    cells
}

const WAITERS: &[Column] = &[
    ("container", 0),
    ("share", 2),
    ("", 0),
    ("waits", 0),
    ("count", 3),
    ("mean", 4),
    ("max", 5),
    ("waited for", 1),
    ("began with it", 0),
];

fn waiters(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    let mut cells = kinds(seen, row);
    cells.extend([seen.seconds("caused", row), seen.seconds("delay", row)]);
    cells
}

const PAIRS: &[Column] = &[
    ("waiter", 0),
    ("waits for", 0),
    ("share", 2),
    ("", 0),
    ("seconds", 0),
    ("count", 3),
    ("mean", 4),
    ("max", 5),
    ("most", 1),
];

fn pairs(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    let mut cells = kinds(seen, row);
    let most = seen.number("most", row) == Some(1.0);
    cells.push(Cell::Name(if most { "most" } else { "" }.into()));
    cells
}

const CRITICAL: &[Column] =
    &[("value", 0), ("container", 0), ("share", 1), ("", 0), ("seconds", 0)];

fn critical(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    vec![
        value(seen, row),
        seen.name("container", row),
        Cell::Bar(seen.number("share", row).unwrap_or(0.0)),
        seen.percent("share", row, false),
        seen.seconds("seconds", row),
    ]
}

const IMBALANCE: &[Column] = &[
    ("value", 0),
    ("share", 3),
    ("", 0),
    ("on path", 0),
    ("mean", 2),
    ("imbalance", 1),
    ("cost", 0),
];

fn imbalance(seen: Seen<'_>, row: usize) -> Vec<Cell> {
    vec![
        value(seen, row),
        Cell::Bar(seen.number("share", row).unwrap_or(0.0)),
        seen.percent("share", row, false),
        seen.seconds("seconds", row),
        seen.seconds("mean", row),
        seen.seconds("imbalance", row),
        seen.seconds("cost", row),
    ]
}

fn value(seen: Seen<'_>, row: usize) -> Cell {
    let value = seen.text("value", row);
    Cell::Name(if value.is_empty() { "(between states)".into() } else { value })
}

//! Tables to read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use paje_analysis::{Data, Label, Seconds, Table};
use paje_console::fill::fill;
use paje_decimal::amounts::{amount, count, duration};
use paje_parser::error::Escaped;

use super::grid::{Cell, Grid};
use super::screen::Screen;
use super::{strips, verdict};

#[derive(Clone, Copy)]
enum Form {
    Name,
    /// A name. If it is empty, the row is for the time between states.
    Activity,
    Bar,
    Percent,
    Change,
    Seconds,
    Count,
    Amount,
    /// The word `most` if the value is 1, otherwise nothing.
    Most,
}
use Form::{Activity, Amount, Bar, Change, Count, Most, Name, Percent, Seconds as Time};

/// Title, priority (see [`grid::Column`]), column of the table, and format.
type Column = (&'static str, u8, &'static str, Form);

/// Writes a report below its title and notes.
pub(super) fn write(
    title: &str,
    notes: &[String],
    table: &Table,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let title = fill(&Escaped(title.as_bytes()).to_string(), screen.width);
    let above = title.lines().count();
    writeln!(out, "{}", screen.paint(1, &title))?;
    for note in notes {
        write!(out, "{}", fill(&format!("{note}\n"), screen.width))?;
    }
    if table.is_empty() {
        let what = match table.name {
            "comm" => "links",
            "variables" => "variables",
            "events" => "events",
            "kinds" | "values" | "waiters" | "pairs" | "paths" => "waits",
            "critical" | "imbalance" | "path" => "critical path",
            "workers" | "kernels" | "tasks" => "tasks",
            _ => "states",
        };
        return writeln!(out, "\nNo {what} in the trace, or in the part that is selected.");
    }
    let seen = TableView(table);
    let (by, columns): (&[&str], &[Column]) = match table.name {
        "why" => return verdict::write(seen, above, screen, out),
        "time" => return strips::times(seen, screen, out),
        "variables" if table.column("bin").is_some() => return strips::means(seen, screen, out),
        "states" => (&["container", "type"], STATES),
        "comm" => {
            strips::matrices(seen, screen, out)?;
            (&["type"], COMM)
        }
        "variables" => (&["type"], VARIABLES),
        "compare" => (&["container", "type"], COMPARE),
        "summary" => (&["section"], SUMMARY),
        "kinds" => (&[], KINDS),
        "values" => (&[], VALUES),
        "paths" => (&[], PATHS),
        "scaling" => (&[], SCALING),
        "waiters" => (&[], WAITERS),
        "pairs" => (&[], PAIRS),
        "critical" => (&["type"], CRITICAL),
        "imbalance" => (&["type"], IMBALANCE),
        "path" => (&["type"], PATH),
        "workers" => (&[], WORKERS),
        "kernels" => (&[], KERNELS),
        "tasks" => (&[], TASKS),
        _ => (&["type"], EVENTS),
    };
    sections(seen, screen, out, by, columns)
}

/// Gives access to a table's values by column name and row.
#[derive(Clone, Copy)]
pub(crate) struct TableView<'t>(pub(crate) &'t Table);

impl<'t> TableView<'t> {
    fn label(self, name: &str, row: usize) -> Option<&'t Label> {
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
            Data::Time(all) | Data::Number(all) | Data::Amount(all) => all[row],
        }
    }

    /// Adds up the numbers of a column for each text of another one.
    pub(crate) fn sums(self, text: &str, number: &str) -> BTreeMap<String, f64> {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for row in 0..self.0.len() {
            *sums.entry(self.text(text, row)).or_default() +=
                self.number(number, row).unwrap_or(0.0);
        }
        sums
    }

    fn cell(self, (_, _, name, form): Column, row: usize) -> Cell {
        let number = self.number(name, row);
        let written =
            |write: &dyn Fn(f64) -> String| Cell::Number(number.map_or_else(|| "–".into(), write));
        match form {
            Form::Name => Cell::Name(self.text(name, row)),
            Form::Activity => Cell::Name(match self.text(name, row) {
                empty if empty.is_empty() => "(between states)".into(),
                value => value,
            }),
            Form::Bar => Cell::Bar(number.unwrap_or(0.0)),
            Form::Percent => written(&|part| format!("{:.1} %", part * 100.0)),
            Form::Change => written(&|part| format!("{:+.1} %", part * 100.0)),
            Form::Seconds => written(&duration),
            Form::Count => written(&|number| count(number as u64)),
            Form::Amount => written(&amount),
            Form::Most => Cell::Name(if number == Some(1.0) { "most" } else { "" }.into()),
        }
    }
}

/// Writes a section for each group of consecutive rows that have the same values in the columns
/// `by`.
fn sections(
    seen: TableView<'_>,
    screen: Screen,
    out: &mut dyn Write,
    by: &[&str],
    columns: &[Column],
) -> io::Result<()> {
    let heading = |row: usize| -> Vec<String> {
        by.iter().map(|name| seen.text(name, row)).filter(|text| !text.is_empty()).collect()
    };
    let columns: Vec<&Column> =
        columns.iter().filter(|column| seen.0.column(column.2).is_some()).collect();
    let titles: Vec<_> = columns.iter().map(|(title, priority, ..)| (*title, *priority)).collect();
    let (mut row, mut left_out) = (0, Vec::new());
    while row < seen.0.len() {
        let (of, mut grid) = (heading(row), Grid::new(&titles));
        writeln!(out)?;
        if !of.is_empty() {
            writeln!(out, "{}", screen.paint(1, &of.join(" · ")))?;
        }
        while row < seen.0.len() && heading(row) == of {
            grid.row(columns.iter().map(|column| seen.cell(**column, row)).collect());
            row += 1;
        }
        left_out.extend(grid.write(screen, out)?.into_iter().map(|column| columns[column].2));
    }
    if !left_out.is_empty() {
        left_out.sort_unstable();
        left_out.dedup();
        let note = format!("\nNot shown: {} (see --format csv)\n", left_out.join(", "));
        write!(out, "{}", fill(&note, screen.width))?;
    }
    Ok(())
}

const STATES: &[Column] = &[
    ("value", 0, "value", Name),
    ("share", 2, "share", Bar),
    ("", 0, "share", Percent),
    ("exclusive", 0, "exclusive", Time),
    ("inclusive", 5, "inclusive", Time),
    ("count", 0, "count", Count),
    ("mean", 4, "mean", Time),
    ("median", 7, "median", Time),
    ("p95", 8, "p95", Time),
    ("max", 6, "max", Time),
    ("containers", 9, "containers", Count),
    ("imbalance", 3, "imbalance", Percent),
];

const COMM: &[Column] = &[
    ("from", 0, "from", Name),
    ("to", 0, "to", Name),
    ("value", 6, "value", Name),
    ("count", 0, "count", Count),
    ("bytes", 1, "bytes", Amount),
    ("mean", 2, "mean", Time),
    ("min", 4, "min", Time),
    ("max", 3, "max", Time),
    ("first", 8, "first", Time),
    ("last", 7, "last", Time),
];

const VARIABLES: &[Column] = &[
    ("container", 0, "container", Name),
    ("mean", 0, "mean", Amount),
    ("min", 1, "min", Amount),
    ("max", 2, "max", Amount),
    ("count", 4, "count", Count),
    ("integral", 3, "integral", Amount),
];

const EVENTS: &[Column] = &[
    ("value", 0, "value", Name),
    ("container", 0, "container", Name),
    ("count", 0, "count", Count),
    ("first", 2, "first", Time),
    ("last", 3, "last", Time),
    ("rate per s", 1, "rate", Amount),
];

const COMPARE: &[Column] = &[
    ("value", 0, "value", Name),
    ("A", 2, "exclusive_a", Time),
    ("B", 3, "exclusive_b", Time),
    ("change", 0, "change", Time),
    ("", 1, "percent", Change),
    ("of total change", 4, "share", Change),
    ("count A", 6, "count_a", Count),
    ("count B", 5, "count_b", Count),
];

const SCALING: &[Column] = &[
    ("run", 7, "run", Name),
    ("ranks", 0, "ranks", Count),
    ("length", 2, "length", Time),
    ("speedup", 4, "speedup", Amount),
    ("global", 0, "global", Percent),
    ("parallel", 0, "parallel", Percent),
    ("balance", 0, "load_balance", Percent),
    ("communic.", 1, "communication", Percent),
    ("serialis.", 0, "serialisation", Percent),
    ("transfer", 0, "transfer", Percent),
    ("scaling", 3, "scaling", Percent),
];

const SUMMARY: &[Column] = &[("", 0, "name", Name), ("", 0, "value", Name)];

const KINDS: &[Column] = &[
    ("waiting", 0, "kind", Name),
    ("share", 2, "share", Bar),
    ("", 0, "share", Percent),
    ("seconds", 0, "seconds", Time),
    ("count", 0, "count", Count),
    ("mean", 3, "mean", Time),
    ("max", 4, "max", Time),
];

const VALUES: &[Column] = &[
    ("value", 0, "value", Name),
    ("waiting", 0, "kind", Name),
    ("share", 3, "share", Bar),
    ("", 0, "share", Percent),
    ("seconds", 0, "seconds", Time),
    ("count", 2, "count", Count),
    ("mean", 4, "mean", Time),
    ("max", 5, "max", Time),
    ("most for", 1, "whom", Name),
];

const PATHS: &[Column] = &[
    ("waiting", 0, "kind", Name),
    ("container", 0, "container", Name),
    ("path", 0, "path", Name),
    ("", 3, "share", Percent),
    ("seconds", 0, "seconds", Time),
    ("count", 4, "count", Count),
    ("mean", 5, "mean", Time),
    ("max", 6, "max", Time),
    ("delay", 0, "delay", Time),
    ("indirect", 1, "indirect", Time),
];

const WAITERS: &[Column] = &[
    ("container", 0, "container", Name),
    ("share", 2, "share", Bar),
    ("", 0, "share", Percent),
    ("waits", 0, "seconds", Time),
    ("count", 3, "count", Count),
    ("mean", 4, "mean", Time),
    ("max", 5, "max", Time),
    ("waited for", 1, "caused", Time),
    ("began with it", 0, "delay", Time),
];

const PAIRS: &[Column] = &[
    ("waiter", 0, "waiter", Name),
    ("waits for", 0, "whom", Name),
    ("share", 2, "share", Bar),
    ("", 0, "share", Percent),
    ("seconds", 0, "seconds", Time),
    ("count", 3, "count", Count),
    ("mean", 4, "mean", Time),
    ("max", 5, "max", Time),
    ("most", 1, "most", Most),
];

const CRITICAL: &[Column] = &[
    ("value", 0, "value", Activity),
    ("container", 0, "container", Name),
    ("share", 1, "share", Bar),
    ("", 0, "share", Percent),
    ("seconds", 0, "seconds", Time),
];

const IMBALANCE: &[Column] = &[
    ("value", 0, "value", Activity),
    ("share", 3, "share", Bar),
    ("", 0, "share", Percent),
    ("on path", 0, "seconds", Time),
    ("mean", 2, "mean", Time),
    ("imbalance", 1, "imbalance", Time),
    ("cost", 0, "cost", Time),
];

const PATH: &[Column] = &[
    ("value", 0, "value", Activity),
    ("share", 1, "share", Bar),
    ("", 0, "share", Percent),
    ("on path", 0, "seconds", Time),
    ("tasks", 0, "count", Count),
];

const WORKERS: &[Column] = &[
    ("kind", 0, "kind", Name),
    ("container", 0, "container", Name),
    ("workers", 7, "workers", Count),
    ("tasks", 0, "tasks", Count),
    ("", 0, "share", Percent),
    ("execution", 0, "execution", Time),
    ("transfer", 1, "transfer", Time),
    ("overhead", 1, "overhead", Time),
    ("dependencies", 0, "dependencies", Time),
    ("submission", 2, "submission", Time),
    ("ready", 0, "ready", Time),
    ("none left", 2, "none_left", Time),
];

const KERNELS: &[Column] = &[
    ("kernel", 0, "kernel", Name),
    ("kind", 0, "kind", Name),
    ("count", 0, "count", Count),
    ("seconds", 0, "seconds", Time),
    ("mean", 1, "mean", Time),
    ("queued", 2, "queued", Time),
    ("beside idle", 0, "beside_idle", Time),
    ("transfer", 1, "transfer", Time),
];

const TASKS: &[Column] = &[
    ("job", 0, "job", Name),
    ("kernel", 0, "kernel", Name),
    ("container", 0, "container", Name),
    ("priority", 4, "priority", Amount),
    ("ready", 2, "ready", Time),
    ("start", 1, "start", Time),
    ("seconds", 3, "seconds", Time),
    ("queued", 2, "queued", Time),
    ("beside idle", 0, "beside_idle", Time),
    ("transfer", 2, "transfer", Time),
];

//! Compares two runs, and shows which states became longer or shorter.

mod words;

use std::collections::BTreeMap;

use crate::states::Row as States;
use crate::{Data, Label, Seconds, Table};
pub use words::words;

/// One of the two runs.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Run<'r> {
    pub states: &'r [States],
    pub makespan: Seconds,
}

/// A state value that occurs in at least one of the runs.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Row {
    /// The container, if each container has separate rows.
    pub container: Option<Label>,
    pub type_: Label,
    pub value: Label,
    pub count: [u64; 2],
    pub exclusive: [Seconds; 2],
    /// Increase from the first run to the second.
    pub change: Seconds,
    /// Relative increase. `None` if the first run spends no time in the value.
    pub percent: Option<f64>,
    /// Mean change per container of the type, divided by the change in makespan. `None` if the
    /// makespan did not change.
    pub share: Option<f64>,
}

/// Matches states by the names of their containers, types and values. States with equal names are
/// matched by position. Rows are sorted by the absolute change, the largest first.
#[must_use]
pub fn rows(a: Run<'_>, b: Run<'_>) -> Vec<Row> {
    let mut all: BTreeMap<_, [Option<&States>; 2]> = BTreeMap::new();
    for (side, run) in [a, b].into_iter().enumerate() {
        let mut met: BTreeMap<_, usize> = BTreeMap::new();
        for row in run.states {
            let name = (row.container.clone(), row.type_.clone(), row.value.clone());
            let times = met.entry(name.clone()).or_default();
            *times += 1;
            all.entry((name, *times)).or_default()[side] = Some(row);
        }
    }
    let longer = (b.makespan - a.makespan).to_f64();
    let row = |(((container, type_, value), _), both): (_, [Option<&States>; 2])| {
        let exclusive = both.map(|row| row.map_or(Seconds::ZERO, |row| row.exclusive));
        let change = exclusive[1] - exclusive[0];
        let longer_side = exclusive[0].max(exclusive[1]).to_f64();
        // Sums of the same times differ by rounding errors.
        let is_noise = change.to_f64().abs() <= 1e-9 * longer_side;
        let change = if is_noise { Seconds::ZERO } else { change };
        let lanes = both.iter().flatten().map(|row| row.lanes).max().unwrap_or(1);
        let share = change.to_f64() / lanes as f64 / longer;
        Row {
            container,
            type_,
            value,
            count: both.map(|row| row.map_or(0, |row| row.count)),
            exclusive,
            change,
            percent: (!exclusive[0].is_zero()).then(|| change.share_of(exclusive[0])),
            share: (longer != 0.0).then_some(share),
        }
    };
    let mut rows: Vec<Row> = all.into_iter().map(row).collect();
    // The sort is stable, so rows with the same change stay in alphabetical order.
    rows.sort_by_key(|row| std::cmp::Reverse(row.change.max(-row.change)));
    rows
}

/// Converts the rows to a table.
#[must_use]
pub fn table(rows: &[Row]) -> Table {
    Table::new("compare")
        .with_containers(rows, |row| row.container.as_ref())
        .with("type", Data::text(rows, |row| &row.type_))
        .with("value", Data::text(rows, |row| &row.value))
        .with("count_a", Data::count(rows, |row| row.count[0]))
        .with("count_b", Data::count(rows, |row| row.count[1]))
        .with("exclusive_a", Data::seconds(rows, |row| row.exclusive[0]))
        .with("exclusive_b", Data::seconds(rows, |row| row.exclusive[1]))
        .with("change", Data::seconds(rows, |row| row.change))
        .with("percent", Data::number(rows, |row| row.percent))
        .with("share", Data::number(rows, |row| row.share))
}

#[cfg(test)]
mod tests {
    use paje_sim::{Options, Trace};
    use paje_workers::Workers;

    use super::*;
    use crate::{By, Scope, states};

    fn run(lines: &str) -> (Vec<States>, Seconds) {
        let head = "\
%EventDef PajeDefineContainerType 1\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeDefineStateType 2\n% Name string\n% Type string\n%EndEventDef
%EventDef PajeCreateContainer 3\n% Time date\n% Name string\n% Type string\n% Container string\n%EndEventDef
%EventDef PajeSetState 4\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef
1 P 0\n2 S P\n3 0 p P 0\n3 0 q P 0\n";
        let text = [head, lines].concat();
        let trace = Trace::read(text.as_bytes(), &Options::default()).expect("the trace is valid");
        let mut all = states::States::new(Scope::default(), By::Value);
        all.see(&trace, &Workers::one());
        (all.rows(&trace), crate::time::makespan(&trace, &Scope::default()))
    }

    #[test]
    fn the_largest_change_comes_first() {
        let (a, a_span) = run("4 0 S p run\n4 0 S q run\n4 4 S p io\n4 5 S q run\n");
        let (b, b_span) = run("4 0 S p run\n4 0 S q run\n4 4 S p wait\n4 7 S q run\n");
        let rows = rows(Run { states: &a, makespan: a_span }, Run { states: &b, makespan: b_span });
        let lines: Vec<_> = rows
            .iter()
            .map(|row| {
                (row.value.to_string(), row.count, row.change.to_f64(), row.percent, row.share)
            })
            .collect();
        let wanted = [
            ("wait".to_owned(), [0, 1], 3.0, None, Some(0.75)),
            ("run".to_owned(), [3, 3], 2.0, Some(2.0 / 9.0), Some(0.5)),
            ("io".to_owned(), [1, 0], -1.0, Some(-1.0), Some(-0.25)),
        ];
        assert_eq!(lines, wanted);
    }
}

//! Pictures of pairs of containers, and density maps.

use std::collections::BTreeMap;

use paje_analysis::dot;
use paje_console::Failure;
use paje_decimal::amounts::{amount, duration};
use paje_pictures::{Density, Edge, Graph, Matrix, Picture, natural};
use paje_sim::nearest;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cli::Cli;
use crate::output::TableView;

/// Pairs of containers, and the sum of a column for each of them.
pub(crate) struct Pairs {
    /// Names of the containers, in natural order.
    pub(crate) names: Vec<String>,
    pub(crate) cells: BTreeMap<(usize, usize), f64>,
}

/// Adds up a column for each pair of containers, which `ends` names.
pub(crate) fn pairs(
    seen: TableView<'_>,
    rows: impl Iterator<Item = usize> + Clone,
    ends: [&str; 2],
    column: &str,
) -> Pairs {
    let all: FxHashSet<String> =
        rows.clone().flat_map(|row| ends.map(|end| seen.text(end, row))).collect();
    let mut names: Vec<String> = all.into_iter().collect();
    names.sort_by(|a, b| natural(a, b));
    let places: FxHashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let mut cells = BTreeMap::new();
    for row in rows {
        let place = |end| places[seen.text(end, row).as_str()];
        let number = seen.number(column, row).filter(|number| number.is_finite());
        *cells.entry((place(ends[0]), place(ends[1]))).or_default() += number.unwrap_or(0.0);
    }
    Pairs { names, cells }
}

/// Returns the column of links to show, and its title. It has numbers of bytes if they are known,
/// and otherwise numbers of links.
fn traffic(seen: TableView<'_>) -> (&'static str, &'static str) {
    match (0..seen.0.len()).any(|row| seen.number("bytes", row).is_some()) {
        true => ("bytes", "bytes sent"),
        false => ("count", "number of links"),
    }
}

pub(super) fn comm_matrix(seen: TableView<'_>) -> Picture {
    let (column, what) = traffic(seen);
    let Pairs { names, cells } = pairs(seen, 0..seen.0.len(), ["from", "to"], column);
    Matrix {
        title: format!("Communication matrix: {what}"),
        names,
        cells,
        axes: ["from".into(), "to".into()],
        what: what.into(),
        number: Some(amount),
    }
    .picture()
}

pub(super) fn pairs_matrix(seen: TableView<'_>) -> Picture {
    let Pairs { names, cells } = pairs(seen, 0..seen.0.len(), ["waiter", "whom"], "seconds");
    Matrix {
        title: "Waiting by pair".into(),
        names,
        cells,
        axes: ["who waits".into(), "for whom".into()],
        what: "time waited".into(),
        number: Some(duration),
    }
    .picture()
}

fn graph(title: String, note: &str, pairs: Pairs, number: fn(f64) -> String) -> Picture {
    let Pairs { names, cells } = pairs;
    let most = cells.values().copied().fold(0.0, f64::max);
    let edge = |(&(from, to), weight): (&(usize, usize), &f64)| Edge {
        ends: [from, to],
        weight: *weight,
        text: format!("{} → {}: {}", names[from], names[to], number(*weight)),
    };
    let edges = cells.iter().map(edge).collect();
    let note = format!("{note}; the widest arrow is {}", number(most));
    Graph { title, names, edges, note }.picture()
}

pub(super) fn comm_graph(seen: TableView<'_>) -> Picture {
    let (column, what) = traffic(seen);
    let pairs = pairs(seen, 0..seen.0.len(), ["from", "to"], column);
    graph(format!("Communication graph: {what}"), &format!("arrows: {what}"), pairs, amount)
}

pub(crate) fn comm_dot(seen: TableView<'_>) -> String {
    let (column, _) = traffic(seen);
    let Pairs { names, cells } = pairs(seen, 0..seen.0.len(), ["from", "to"], column);
    let edge = |(&(from, to), weight): (&(usize, usize), &f64)| dot::Edge {
        ends: [&names[from], &names[to]],
        label: weight.to_string(),
        weight: *weight,
    };
    let edges: Vec<dot::Edge<'_>> = cells.iter().map(edge).collect();
    dot::digraph("comm", &edges)
}

pub(super) fn pairs_graph(seen: TableView<'_>) -> Picture {
    let most = (0..seen.0.len()).filter(|row| seen.number("most", *row) == Some(1.0));
    let pairs = pairs(seen, most, ["waiter", "whom"], "seconds");
    let note = "arrows: from each container to the one it waits for longest";
    graph("The most-waited graph".into(), note, pairs, duration)
}

fn density(
    cli: &Cli,
    title: String,
    what: &str,
    number: fn(f64) -> String,
    amounts: BTreeMap<String, f64>,
) -> Picture {
    let mut cells: Vec<(String, f64)> = amounts.into_iter().collect();
    cells.sort_by(|(a, _), (b, _)| natural(a, b));
    let columns = cli.grid.map(|grid| grid.columns);
    Density { title, cells, columns, what: what.into(), number }.picture()
}

pub(super) fn comm_density(cli: &Cli, seen: TableView<'_>) -> Picture {
    let (column, what) = traffic(seen);
    let mut amounts: BTreeMap<String, f64> = BTreeMap::new();
    for row in 0..seen.0.len() {
        let number = seen.number(column, row).filter(|number| number.is_finite());
        *amounts.entry(seen.text("from", row)).or_default() += number.unwrap_or(0.0);
        // Adds containers that only receive.
        amounts.entry(seen.text("to", row)).or_default();
    }
    density(cli, format!("Sent by each container: {what}"), what, amount, amounts)
}

pub(super) fn states_density(cli: &Cli, seen: TableView<'_>) -> Result<Picture, Failure> {
    let value = value(cli, seen, "exclusive")?;
    let mut amounts: BTreeMap<String, f64> = BTreeMap::new();
    for row in 0..seen.0.len() {
        let sum = amounts.entry(seen.text("container", row)).or_default();
        if seen.text("value", row) == value {
            *sum += seen.number("exclusive", row).unwrap_or(0.0);
        }
    }
    let what = format!("exclusive time in {value}");
    Ok(density(cli, format!("Exclusive time by container in {value}"), &what, duration, amounts))
}

pub(super) fn waiters_density(cli: &Cli, seen: TableView<'_>) -> Picture {
    let amounts = seen.sums("container", "seconds");
    density(cli, "Waiting by container".into(), "time waited", duration, amounts)
}

/// Returns the value of `--value`, or the value with the most time.
pub(super) fn value(cli: &Cli, seen: TableView<'_>, column: &str) -> Result<String, Failure> {
    let sums = seen.sums("value", column);
    match &cli.value {
        Some(value) if !sums.contains_key(value) => {
            let hint = nearest(value.as_bytes(), sums.keys().map(String::as_bytes));
            Err(Failure::Other(format!("--value {value}: the report has no such value; {hint}")))
        }
        Some(value) => Ok(value.clone()),
        None => {
            let most = sums.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
            Ok(most.map_or(String::new(), |(value, _)| value))
        }
    }
}

//! Curves of efficiencies over the number of ranks.

use paje_pictures::{Curve, Curves, Picture};

use crate::output::TableView;

/// Columns of the table and names in the legend.
const CURVES: [(&str, &str); 6] = [
    ("global", "global"),
    ("parallel", "parallel"),
    ("load_balance", "load balance"),
    ("serialisation", "serialisation"),
    ("transfer", "transfer"),
    ("scaling", "computation scaling"),
];

pub(super) fn scaling(seen: TableView<'_>) -> Picture {
    let rows = 0..seen.0.len();
    let curve = |(column, name): (&str, &str)| Curve {
        name: name.into(),
        points: rows.clone().map(|row| seen.number(column, row)).collect(),
    };
    let ranks = |row| seen.number("ranks", row).unwrap_or(0.0).to_string();
    let picture = Curves {
        title: "Efficiencies by number of ranks".into(),
        curves: CURVES.map(curve).to_vec(),
        steps: rows.clone().map(ranks).collect(),
        axis: "ranks".into(),
    };
    picture.picture()
}

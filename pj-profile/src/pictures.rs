//! Pictures of reports.

mod bars;
mod curves;
mod ends;
mod over_time;

use clap::ValueEnum;
use paje_analysis::Table;
use paje_console::Failure;
use paje_pictures::{Colours, Picture, ValueColours};

use crate::cli::Cli;
use crate::output::TableView;

pub(crate) use ends::{Pairs, comm_dot, pairs};
pub(crate) use over_time::on_one_axis;

/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Amounts as bars
    Bars,
    /// A strip over time for each container
    Strips,
    /// Amounts by pair, or of one value by container and time
    Matrix,
    /// Pairs as arrows on a circle
    Graph,
    /// Efficiencies by number of ranks
    Curves,
    /// Division of time between computing, waiting, messages and collectives
    Quadrant,
    /// Amounts of containers on a grid
    Density,
}

impl Kind {
    fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    fn of(table: &Table) -> &'static [Kind] {
        let has = |name| table.column(name).is_some();
        match table.name {
            "states" if has("container") => &[Kind::Bars, Kind::Density],
            "comm" => &[Kind::Matrix, Kind::Graph, Kind::Density],
            "time" => &[Kind::Strips, Kind::Matrix, Kind::Quadrant],
            "variables" if has("bin") => &[Kind::Strips],
            "waiters" => &[Kind::Bars, Kind::Density],
            "pairs" => &[Kind::Graph, Kind::Matrix],
            "summary" | "why" => &[],
            "scaling" => &[Kind::Curves],
            _ => &[Kind::Bars],
        }
    }
}

pub(crate) fn one(
    cli: &Cli,
    title: &str,
    table: &Table,
    values: &ValueColours,
) -> Result<Picture, Failure> {
    let kinds = Kind::of(table);
    let report = cli.report().name();
    let Some(kind) = cli.picture.or(kinds.first().copied()) else {
        let why = format!(
            "--svg writes one picture, but {report} has several; use --html for all of them"
        );
        return Err(Failure::Other(why));
    };
    if !kinds.contains(&kind) {
        let known: Vec<String> = kinds.iter().map(|kind| kind.name()).collect();
        let (kind, known) = (kind.name(), known.join(", "));
        return Err(Failure::Other(format!(
            "--picture {kind} does not apply to the report {report}; kinds are {known}"
        )));
    }
    let colours = colours(table, values);
    let mut picture = draw(cli, table, kind, &colours)?;
    picture.name(&format!("{title}: {}", picture.title()));
    Ok(picture)
}

/// Returns the pictures of a table for a page. If no kinds are given, there is one for each useful
/// kind.
pub(crate) fn all(
    cli: &Cli,
    table: &Table,
    colours: &Colours,
    kinds: Option<&[Kind]>,
) -> Vec<Picture> {
    let wanted = |kind: &Kind| match (kinds, kind) {
        (Some(kinds), kind) => kinds.contains(kind),
        // This picture needs classes.
        (None, Kind::Quadrant) => cli.by_class(),
        // A density map is only useful if the grid reflects how the containers are arranged.
        (None, Kind::Density) => cli.grid.is_some(),
        _ => true,
    };
    let kinds = Kind::of(table).iter().copied().filter(wanted);
    // Leaves out kinds for which the table lacks data.
    kinds.filter_map(|kind| draw(cli, table, kind, colours).ok()).collect()
}

fn draw(cli: &Cli, table: &Table, kind: Kind, colours: &Colours) -> Result<Picture, Failure> {
    if table.is_empty() {
        return Err(Failure::Other("there is nothing to draw".into()));
    }
    let seen = TableView(table);
    match (table.name, kind) {
        ("states", Kind::Density) => ends::states_density(cli, seen),
        ("waiters", Kind::Density) => Ok(ends::waiters_density(cli, seen)),
        ("comm", Kind::Density) => Ok(ends::comm_density(cli, seen)),
        ("comm", Kind::Graph) => Ok(ends::comm_graph(seen)),
        ("comm", _) => Ok(ends::comm_matrix(seen)),
        ("pairs", Kind::Matrix) => Ok(ends::pairs_matrix(seen)),
        ("pairs", _) => Ok(ends::pairs_graph(seen)),
        ("time", Kind::Matrix) => over_time::matrix(cli, seen),
        ("time", Kind::Quadrant) => over_time::quadrant(seen),
        ("time", _) => Ok(over_time::strips(seen, colours)),
        ("scaling", _) => Ok(curves::scaling(seen)),
        ("variables", Kind::Strips) => Ok(over_time::means(seen)),
        _ => Ok(bars::picture(seen, colours)),
    }
}

/// Assigns colours to the values of a table. The value with the largest amount gets the first
/// colour.
pub(crate) fn colours(table: &Table, values: &ValueColours) -> Colours {
    let seen = TableView(table);
    let by = ["exclusive", "seconds", "exclusive_a", "count"];
    let by = by.into_iter().find(|name| table.column(name).is_some()).unwrap_or("mean");
    let mut sums: Vec<(String, f64)> = seen.sums("value", by).into_iter().collect();
    sums.sort_by(|(a, one), (b, other)| other.total_cmp(one).then_with(|| a.cmp(b)));
    Colours::of(sums.into_iter().map(|(name, _)| name), values)
}

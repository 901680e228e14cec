//! Efficiencies of runs of one program with different numbers of ranks.

use super::Pop;
use crate::{Data, Label, Table};

/// Returns a table of runs, with few ranks first:
/// `run,ranks,length,speedup,global,parallel,load_balance,communication,serialisation,transfer,scaling`.
/// Speedup and scaling are relative to the first run. `scaling` is the computation scaling: the
/// computing time of all ranks in the first run, divided by that in this run. The global efficiency
/// is the product of scaling and parallel efficiency.
#[must_use]
pub fn table(runs: &[(Label, Pop)]) -> Table {
    let mut runs: Vec<&(Label, Pop)> = runs.iter().collect();
    runs.sort_by_key(|(_, pop)| pop.ranks);
    let first = runs.first().map(|(_, pop)| (pop.length, pop.computing));
    let (length, computing) = first.unwrap_or_default();
    let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
    let scaling = |pop: &Pop| ratio(computing, pop.computing);
    Table::new("scaling")
        .with("run", Data::text(&runs, |(name, _)| name))
        .with("ranks", Data::count(&runs, |(_, pop)| pop.ranks as u64))
        .with("length", Data::time(&runs, |(_, pop)| Some(pop.length)))
        .with("speedup", Data::amount(&runs, |(_, pop)| ratio(length, pop.length)))
        .with("global", Data::number(&runs, |(_, pop)| Some(scaling(pop)? * pop.all.parallel)))
        .with("parallel", Data::number(&runs, |(_, pop)| Some(pop.all.parallel)))
        .with("load_balance", Data::number(&runs, |(_, pop)| Some(pop.all.load_balance)))
        .with("communication", Data::number(&runs, |(_, pop)| Some(pop.all.communication)))
        .with("serialisation", Data::number(&runs, |(_, pop)| pop.serialisation()))
        .with("transfer", Data::number(&runs, |(_, pop)| pop.transfer.clone().ok()))
        .with("scaling", Data::number(&runs, |(_, pop)| scaling(pop)))
}

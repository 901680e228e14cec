//! The reports `waits` and `critical`, which need all rows.

use std::path::{Path, PathBuf};

use paje_analysis::Table;
use paje_analysis::classes::Map;
use paje_analysis::collectives::Grouping;
use paje_analysis::critical::{CriticalPath, refusal};
use paje_analysis::waits::rest::Efficiency;
use paje_analysis::waits::{Options, Waits};
use paje_console::Failure;
use paje_decimal::amounts::{duration, percent};
use paje_sim::Trace;

use crate::cli::{Cli, Report};
use crate::{output, tasks};

pub(crate) fn is_asked(cli: &Cli) -> bool {
    matches!(
        cli.report(),
        Report::Waits | Report::Critical | Report::Tasks | Report::Why | Report::Scaling
    )
}

/// Returns the report and its assumptions. Also writes the most-waited graph.
pub(crate) fn table(
    cli: &Cli,
    name: &Path,
    trace: &Trace,
) -> Result<(Table, Vec<String>), Failure> {
    let by = cli.by.as_deref();
    let known: &[&str] = match cli.report() {
        Report::Waits => &["kind", "value", "waiter", "pair", "path"],
        Report::Tasks => &["kind", "worker", "kernel", "task"],
        _ => &["container", "value"],
    };
    if let Some(by) = by.filter(|by| !known.contains(by)) {
        let (report, known) = (cli.report().name(), known.join(", "));
        let hint = match (cli.report(), by) {
            (Report::Critical, "kernel") => "; --by value shows the kernels of tasks",
            _ => "",
        };
        return Err(Failure::Other(format!(
            "--by {by} does not apply to {report}; values are {known}{hint}"
        )));
    }
    let map = map(cli)?.unwrap_or_else(|| Map::of_trace(trace));
    if let Some(found) = tasks::find(cli, name, trace, &map)? {
        return tasks::table(cli, &found);
    }
    let waits = waits(cli, name, trace, &map)?;
    if waits.facts.tracks.classes().is_empty() {
        return Err(Failure::Unsuitable(name.to_owned(), map.unknown(trace, "--map FILE")));
    }
    let refused = refusal(&waits, &map).filter(|_| cli.report() == Report::Critical);
    if let Some(why) = refused {
        return Err(Failure::Unsuitable(name.to_owned(), why));
    }
    let window = window(cli, &waits);
    let mut notes = notes(&waits, &map, window);
    if cli.talk.warnings.no_warnings {
        notes.retain(|note| note.starts_with(EFFICIENCY));
    }
    if let Some(path) = &cli.graph {
        output::write_file(path, &waits.most_waited_dot(window))?;
    }
    let table = match (cli.report(), by) {
        (Report::Waits, Some("value")) => waits.values_table(window),
        (Report::Waits, Some("waiter")) => waits.waiters_table(window),
        (Report::Waits, Some("pair")) => waits.pairs_table(window),
        (Report::Waits, Some("path")) => waits.paths_table(window),
        (Report::Waits, _) => waits.kinds_table(window),
        (_, by) => match CriticalPath::new(&waits) {
            None => Table::new("critical"),
            Some(path) if by == Some("value") => path.imbalance_table(&waits, window),
            Some(path) if by == Some("container") => path.containers_table(&waits, window),
            Some(path) => path.activity_table(&waits, window),
        },
    };
    Ok((table, notes))
}

pub(crate) fn waits<'t>(
    cli: &Cli,
    name: &Path,
    trace: &'t Trace,
    map: &Map,
) -> Result<Waits<'t>, Failure> {
    needs(cli, name, Waits::bytes(trace))?;
    Ok(Waits::new(trace, map, &options(cli, name, trace)?))
}

/// Fails if an analysis needs more memory, in bytes, than `--memory-limit` allows.
pub(crate) fn needs(cli: &Cli, name: &Path, needed: u64) -> Result<(), Failure> {
    let Some(limit) = cli.memory.limit().filter(|limit| limit.bytes < needed) else {
        return Ok(());
    };
    let [needed, bytes] = [needed, limit.bytes].map(|bytes| bytes.div_ceil(1_000_000));
    let why = format!(
        "the analysis of waiting needs about {needed} MB beside the rows, but --memory-limit is {bytes} MB; only rows \
         can go to a file"
    );
    Err(Failure::Unsuitable(name.to_owned(), why))
}

/// Returns the settings for reading communication.
pub(crate) fn options(cli: &Cli, name: &Path, trace: &Trace) -> Result<Options, Failure> {
    let grouping = Grouping::named(trace, cli.group.as_deref(), cli.root.as_deref());
    let grouping = grouping.map_err(|why| Failure::Unsuitable(name.to_owned(), why))?;
    Ok(Options { grouping, eager: cli.eager, bytes: cli.bytes.clone() })
}

/// Returns the requested window. By default, it is the time span of all states.
pub(crate) fn window(cli: &Cli, waits: &Waits<'_>) -> (f64, f64) {
    let whole = waits.whole();
    (cli.span.start.unwrap_or(whole.0), cli.span.end.unwrap_or(whole.1))
}

pub(crate) fn map(cli: &Cli) -> Result<Option<Map>, Failure> {
    let open = |path: &PathBuf| Map::open(path).map_err(|error| Failure::File(path.clone(), error));
    cli.map.as_ref().map(open).transpose()
}

/// Start of the note on efficiency, the only note that is a result.
const EFFICIENCY: &str = "note: parallel efficiency";

/// Returns notes on assumptions, on ignored states, and on efficiency.
pub(crate) fn notes(waits: &Waits<'_>, map: &Map, window: (f64, f64)) -> Vec<String> {
    let mut notes = waits.assumptions(map);
    notes.extend(waits.unknown_computing());
    let (sent, received) = waits.facts.messages.without_state();
    // Without their states, time in messages would count as computing.
    let has_states = sent + received <= waits.facts.messages.list().len() as u64;
    let measured = has_states && waits.has_dependences();
    if measured {
        let between = waits.between(window);
        if !between.is_zero() {
            let seconds =
                duration(between.scaled(waits.facts.tracks.trace().time_scale()).to_f64());
            notes.push(format!(
                "note: {seconds} between states have messages of calls that are not recorded, so this time does not count \
                 as computing"
            ));
        }
        notes.extend(waits.efficiency(window).map(efficiency));
    }
    notes
}

fn efficiency(all: Efficiency) -> String {
    let Efficiency { parallel, load_balance, communication } = all;
    let [parallel, balance, communication] = [parallel, load_balance, communication].map(percent);
    format!(
        "{EFFICIENCY} {parallel} = load balance {balance} x communication efficiency \
         {communication} (POP)"
    )
}

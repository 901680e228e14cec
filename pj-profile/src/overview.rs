//! Parts of web pages: of the page about a trace, and of the page that compares two traces.

use std::path::Path;

use paje_analysis::classes::Map;
use paje_analysis::comm::{self, Comm, Ends};
use paje_analysis::critical::{CriticalPath, refusal};
use paje_analysis::states::{self, States};
use paje_analysis::tasks::Findings;
use paje_analysis::time::{self, Time};
use paje_analysis::why::capital;
use paje_analysis::{Bins, By, Label, Scope, Table};
use paje_console::Failure;
use paje_decimal::amounts::percent;
use paje_sim::Trace;
use paje_workers::Workers;

use crate::cli::Cli;
use crate::output::TableView;
use crate::page::Part;
use crate::pictures::Kind;
use crate::{tasks, waiting, why};

const BINS: u32 = 150;

const ROWS: usize = 200;

/// Returns the parts of the page about a trace with all its rows. Must be called inside the worker
/// pool.
pub(crate) fn parts(
    cli: &Cli,
    name: &Path,
    trace: &Trace,
    workers: &Workers,
) -> Result<Vec<Part>, Failure> {
    let scope = Scope::new(&cli.selection());
    let map = waiting::map(cli)?.unwrap_or_else(|| Map::of_trace(trace));
    let tasks = tasks::find(cli, name, trace, &map)?;
    let mut parts = why(&match &tasks {
        Some(tasks) => why::of_tasks(tasks, name),
        None => why::table(cli, name, trace, workers)?,
    });
    let states = |by: By| {
        let mut states = States::new(scope.clone(), by);
        states.see(trace, workers);
        states::table(&states.rows(trace))
    };
    parts.push(Part::new("Where the time goes", "", states(By::Value)));
    parts.push(Part::pictured("Load balance", states(By::Container), &[Kind::Bars]));
    let (start, end) = time::range(trace, &scope);
    let bins = Bins::new(cli.span.start.unwrap_or(start), cli.span.end.unwrap_or(end), BINS);
    let mut time = Time::new(scope.clone(), By::Container, bins, false);
    time.see(trace, workers);
    parts.push(Part::pictured("When", time.table(trace), &[Kind::Strips]));
    let mut comm = Comm::new(scope, cli.bytes.as_deref());
    comm.see(trace, workers);
    let traffic = comm::table(&comm.rows(trace, &Ends::Containers)).top(ROWS, &["bytes", "count"]);
    if !traffic.is_empty() {
        let all = comm::table(&comm.rows(trace, &Ends::Containers));
        let kinds = &[Kind::Matrix, Kind::Graph];
        parts.push(Part::pictured("Traffic", all, kinds));
        parts.push(Part { kinds: Some(&[]), ..Part::new("Traffic", "", traffic) });
    }
    if let Some(tasks) = &tasks {
        let by_class = time.table_by_class(trace, tasks.run.tracks.classes());
        parts.push(Part::pictured("When", by_class, &[Kind::Quadrant]));
        parts.extend(of_tasks(tasks));
        return Ok(in_order(parts));
    }
    let waits = waiting::waits(cli, name, trace, &map)?;
    if waits.facts.tracks.classes().is_empty() {
        let why = format!("Waiting was not analysed: {}.", map.unknown(trace, "--map FILE"));
        parts.push(Part::new("Waiting", &why, Table::new("kinds")));
        return Ok(parts);
    }
    let classes = waits.facts.tracks.classes();
    let by_class = time.table_by_class(trace, classes);
    parts.push(Part::pictured("When", by_class, &[Kind::Quadrant]));
    let window = waiting::window(cli, &waits);
    let heading = "Waiting";
    let notes = waiting::notes(&waits, &map, window).join("; ");
    parts.push(Part::new(heading, &notes, waits.kinds_table(window)));
    let caused = "caused: how long others wait for it; delay: how much waiting it causes directly and indirectly.";
    parts.push(Part::new(heading, caused, waits.waiters_table(window)));
    let pairs = waits.pairs_table(window);
    parts.push(Part::pictured(heading, pairs.clone(), &[Kind::Graph, Kind::Matrix]));
    parts.push(Part { kinds: Some(&[]), ..Part::new(heading, "", pairs.top(ROWS, &["seconds"])) });
    if let Some(why) = refusal(&waits, &map) {
        parts.push(Part::new("Critical path", &why, Table::new("critical")));
    } else if let Some(path) = CriticalPath::new(&waits) {
        let note = "The chain of states that determines the length of the run. imbalance: how much longer the path is \
                    in a value than containers on average; cost: the imbalance times the number of containers.";
        parts.push(Part::new("Critical path", note, path.imbalance_table(&waits, window)));
        let activities = path.activity_table(&waits, window).top(ROWS, &["seconds"]);
        parts.push(Part { kinds: Some(&[]), ..Part::new("Critical path", "", activities) });
    }
    Ok(in_order(parts))
}

/// Puts parts with the same heading together.
fn in_order(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_by_key(|part| {
        ["Why", "Where the time goes", "Load balance", "When", "Traffic"]
            .iter()
            .position(|heading| *heading == part.heading)
            .unwrap_or(9)
    });
    parts
}

/// Returns the parts about waiting and the critical path of a run of tasks.
fn of_tasks(found: &Findings<'_>) -> Vec<Part> {
    let waiting = "Time in which workers execute no task, by reason.";
    let path =
        "The chain of tasks and of their dependencies that determines the length of the run.";
    vec![
        Part::new("Waiting", waiting, found.waits_table()),
        Part::new("Waiting", "", found.workers_table()),
        Part::new("Waiting", "", found.kernels_table()),
        Part::new("Critical path", path, found.path_table(true)),
        Part { kinds: Some(&[]), ..Part::new("Critical path", "", found.path_table(false)) },
    ]
}

/// Returns a part for each line of a verdict.
fn why(verdict: &Table) -> Vec<Part> {
    let seen = TableView(verdict);
    let line = |row: usize| {
        let [name, text, next, whatif] =
            ["name", "text", "next", "whatif"].map(|column| seen.text(column, row));
        let share = seen.number("share", row);
        let share = share.map_or(String::new(), |it| format!(", {} of the run", percent(it)));
        let command = |intro: &str, command: &str| match command.is_empty() {
            true => String::new(),
            false => format!(". {intro}: {command}"),
        };
        let next = command("See also", &next);
        let whatif = command("Prediction without this cause", &whatif);
        let note = format!("{}{share}: {text}{next}{whatif}", capital(&name));
        Part { is_shown: false, ..Part::new("Why", &note, Table::new("why")) }
    };
    (0..verdict.len()).map(line).collect()
}

/// Returns a table over time for each run, in bins of the same length. The first bin of each run
/// begins at the run's start.
pub(crate) fn times(cli: &Cli, runs: [&Trace; 2], workers: &Workers) -> [Table; 2] {
    let scope = Scope::new(&cli.selection());
    let ranges = runs.map(|trace| time::range(trace, &scope));
    // Units may differ.
    let scales = runs.map(Trace::time_scale);
    let lengths = [0, 1].map(|run| scales[run].seconds(ranges[run].1 - ranges[run].0));
    let longest = lengths[0].max(lengths[1]);
    let by = match cli.by() {
        By::Type(name) => By::Type(Label::clone(&name)),
        _ => By::Container,
    };
    [0, 1].map(|run| {
        let start = ranges[run].0;
        let bins = Bins::new(start, start + scales[run].time(longest), BINS);
        let mut time = Time::new(scope.clone(), by.clone(), bins, false);
        time.see(runs[run], workers);
        time.table(runs[run])
    })
}

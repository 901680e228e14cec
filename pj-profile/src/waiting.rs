//! The reports `waits` and `critical`, which need all rows.

use std::path::{Path, PathBuf};

use paje_analysis::Table;
use paje_analysis::classes::{Class, Classes, Map};
use paje_analysis::collectives::{Collectives, Grouping, Level};
use paje_analysis::critical::{CriticalPath, refusal};
use paje_analysis::tasks::NO_FILE;
use paje_analysis::waits::rest::Efficiency;
use paje_analysis::waits::{Options, Waits};
use paje_console::Failure;
use paje_decimal::amounts::{duration, percent};
use paje_sim::{Trace, TypeId, ValueId};

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
        return Err(Failure::Other(format!(
            "--by {by} does not apply to {report}; values are {known}"
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
    let notes = notes(&waits, &map, window);
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

/// Returns notes on assumptions, on ignored states, and on efficiency.
pub(crate) fn notes(waits: &Waits<'_>, map: &Map, window: (f64, f64)) -> Vec<String> {
    let mut notes = assumptions(waits, map);
    let classes = waits.facts.tracks.classes();
    let own = unknown(classes, |class| class == Class::Compute);
    if !own.is_empty() {
        let types = waits.facts.tracks.trace().types();
        let own = list(own.iter().map(|it| types.value_name(it.0, it.1).to_string()).collect());
        notes.push(format!("note: these values count as computing (change with --map): {own}"));
    }
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

/// Returns the values that the map does not contain, and whose class fits.
fn unknown(classes: &Classes, fits: fn(Class) -> bool) -> Vec<(TypeId, ValueId)> {
    let all = classes.unknown().iter().copied();
    all.filter(|it| fits(classes.class(it.0, it.1))).collect()
}

/// Joins the first names of a list, and counts the others.
fn list(names: Vec<String>) -> String {
    let (shown, more) = (names.len().min(5), names.len().saturating_sub(5));
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names[..shown].join(", "))
}

/// Returns notes on assumptions and on ignored states.
pub(crate) fn assumptions(waits: &Waits<'_>, map: &Map) -> Vec<String> {
    let types = waits.facts.tracks.trace().types();
    let classes = waits.facts.tracks.classes();
    let value = |type_: TypeId, value: ValueId| types.value_name(type_, value).to_string();
    let mut notes = Vec::new();
    if !classes.passed_over().is_empty() {
        let name = |id: TypeId| types.name(id).to_string();
        let chosen = list(classes.chosen().map(name).collect());
        let others = list(classes.passed_over().iter().map(|id| name(*id)).collect());
        notes.push(format!("note: waits analysed in {chosen}; ignored: {others}"));
    }
    let unknown = unknown(classes, |class| class != Class::Compute);
    if !unknown.is_empty() {
        let (count, map) = (unknown.len(), map.name());
        let values = if count == 1 { "value is" } else { "values are" };
        let unknown = list(unknown.iter().map(|it| value(it.0, it.1)).collect());
        notes.push(format!(
            "note: {count} {values} not in the map `{map}`, so never waiting (classify with --map FILE): {unknown}"
        ));
    }
    if waits.facts.shift > 0.0 {
        notes.push(format!(
            "note: clocks differ by up to {:.6} s, as messages and collectives show; times are compared on one clock",
            waits.facts.shift
        ));
    }
    notes.extend(notes_on_groups(waits));
    let collectives = &waits.facts.collectives;
    let uneven = collectives.uneven.iter().map(|uneven| {
        let first = waits.name(collectives.groups[uneven.group][0]);
        let (name, least, most) = (value(uneven.type_, uneven.value), uneven.least, uneven.most);
        format!("{name} in the group of {first} ({least} to {most})")
    });
    let uneven: Vec<String> = uneven.collect();
    if !uneven.is_empty() {
        notes.push(format!(
            "warning: these collectives are ignored, as containers have different numbers of them: {}",
            list(uneven)
        ));
    }
    let rooted = collectives.series.iter().filter(|series| series.assumed);
    let assumed = rooted.filter_map(|series| {
        let members = &series.tracks;
        let root = waits.name(members[series.root.filter(|_| members.len() > 1)?]);
        let turn = if series.is_turning { ", rotating," } else { "" };
        Some(format!("{root}{turn} for {}", value(series.type_, series.value)))
    });
    let assumed: Vec<String> = assumed.collect();
    let parts = collectives.series.iter().filter(|series| series.is_part);
    let mut parts: Vec<String> = parts.map(|it| value(it.type_, it.value)).collect();
    parts.dedup();
    if !parts.is_empty() {
        notes.push(format!(
            "note: groups of containers are inferred from the times of {}; the trace has no communicators",
            list(parts)
        ));
    }
    if !assumed.is_empty() {
        notes.push(format!("note: assuming the root is {} (change with --root)", list(assumed)));
    }
    let combined = waits.combined();
    if waits.lacks_messages() {
        notes.push(format!(
            "note: of {} Sendrecv states, {} have a message, as SMPI does not record it; waiting there is \
             ignored",
            combined.0, combined.1
        ));
    } else if !waits.has_dependences() {
        let why = match map.name() {
            "starpu" => NO_FILE,
            _ => "no messages between containers with these states, and no collectives",
        };
        notes.push(format!("note: no waiting can be found: {why}"));
    }
    let (sent, received) = waits.facts.messages.without_state();
    if sent + received > 0 {
        let all = waits.facts.messages.list().len();
        notes.push(format!(
            "note: of {all} messages, {sent} have no sending state and {received} no receiving state"
        ));
    }
    notes
}

/// Explains how containers were grouped, if that is not evident.
fn notes_on_groups(waits: &Waits<'_>) -> Option<String> {
    let Collectives { groups, series, level, .. } = &*waits.facts.collectives;
    if series.is_empty() {
        return None;
    }
    if groups.iter().all(|group| group.len() == 1) {
        let why =
            "collectives not analysed, as each group has one container; try another --group TYPE";
        return Some(format!("note: {why}"));
    }
    let containers = waits.facts.tracks.trace().containers();
    let parent =
        |track: &u32| containers.parent(waits.facts.tracks.list()[*track as usize].container);
    let is_evident = |group: &Vec<u32>| group.iter().all(|it| parent(it) == parent(&group[0]));
    match level {
        Level::All if !groups.iter().all(is_evident) => {
            let count = series.iter().map(|it| groups[it.group].len()).max().unwrap_or(0);
            let all = format!("assuming all {count} containers with such states are one group");
            Some(format!("note: {all} (change with --group)"))
        }
        Level::Depth(_) => {
            let count = groups.len();
            Some(format!(
                "note: assuming {count} groups, as collectives agree (change with --group)"
            ))
        }
        Level::All | Level::Given | Level::Recorded => None,
    }
}

fn efficiency(all: Efficiency) -> String {
    let Efficiency { parallel, load_balance, communication } = all;
    let [parallel, balance, communication] = [parallel, load_balance, communication].map(percent);
    format!(
        "note: parallel efficiency {parallel} = load balance {balance} x communication efficiency \
         {communication} (POP)"
    )
}

//! Reports on several traces.

use std::path::PathBuf;

use paje_analysis::compare::{Row, Run, rows, table, words};
use paje_analysis::states::States;
use paje_analysis::why::scaling::table as efficiencies;
use paje_analysis::{By, Scope, time};
use paje_console::Failure;
use paje_decimal::amounts::duration;
use paje_pictures::ValueColours;
use paje_sim::Trace;
use paje_workers::Workers;

use super::{Cuts, Found, read};
use crate::analysis::Analysis;
use crate::cli::Cli;
use crate::report::converted;
use crate::{overview, page};

/// Compares two runs.
pub(super) fn compare(
    cli: &Cli,
    files: &[PathBuf],
    cuts: Cuts,
    workers: &Workers,
) -> Result<Found, Failure> {
    let [first, second] = files else {
        return Err(Failure::Other("compare needs two traces".into()));
    };
    let mut title_of_both = String::new();
    let (mut sides, mut scales) = (Vec::new(), Vec::new());
    // The report is kept for the page, because the bins of both runs depend on the length of the
    // longer run.
    let mut kept = Vec::new();
    let (mut is_sound, mut colours) = (true, ValueColours::default());
    for (letter, file) in ["A", "B"].into_iter().zip([first, second]) {
        let read = read(cli, std::slice::from_ref(file), cuts, workers, &mut None)?;
        let makespan = time::makespan(&read.trace, &Scope::new(&cli.selection()));
        let comma = if letter == "A" { "" } else { "; " };
        title_of_both +=
            &format!("{comma}{letter}: {}, {}", read.name.display(), duration(makespan.to_f64()));
        scales.push(read.trace.time_scale());
        sides.push((read.analysis.states(&read.trace), makespan));
        is_sound &= read.is_sound;
        if letter == "A" {
            colours = ValueColours::new(read.trace.types());
        }
        kept.extend((cli.is_whole_page() || cli.compares_in_words()).then_some(read.trace));
    }
    title_of_both += &match scales[0] == scales[1] {
        true => format!("; {}", scales[0]),
        false => format!("; A: {}; B: {}", scales[0], scales[1]),
    };
    scales.into_iter().for_each(|scale| converted(cli, scale));
    let run = |side: usize| Run { states: &sides[side].0, makespan: sides[side].1 };
    let mut notes = Vec::new();
    let mut rows = rows(run(0), run(1));
    if let ([a, b], true) = (kept.as_slice(), cli.compares_in_words()) {
        notes = in_words(cli, [a, b], [run(0), run(1)], &rows, workers);
    }
    rows.truncate(cli.top.unwrap_or(usize::MAX));
    let (title, table) = (title_of_both, table(&rows));
    let page = match kept.as_slice() {
        [a, b] if cli.is_whole_page() => Some(workers.run(|| {
            let [a, b] = overview::times(cli, [a, b], workers);
            page::of_two(cli, &title, &notes, &table, [("A", &a), ("B", &b)], &colours)
        })),
        _ => None,
    };
    Ok(Found { title, notes, table, page, colours, is_sound })
}

/// Returns why the second run is slower than the first, line by line.
fn in_words(
    cli: &Cli,
    traces: [&Trace; 2],
    runs: [Run<'_>; 2],
    by_value: &[Row],
    workers: &Workers,
) -> Vec<String> {
    let scope = Scope::new(&cli.selection());
    let states = |trace: &Trace| {
        let mut states = States::new(scope.clone(), By::Container);
        states.see(trace, workers);
        states.rows(trace)
    };
    let states = traces.map(states);
    let [a, b] = [0, 1].map(|at| Run { states: &states[at], makespan: runs[at].makespan });
    let by_container = rows(a, b);
    words(traces, runs, by_value, &by_container, &scope)
}

/// Returns the efficiencies of several runs. Their traces are read one after the other.
pub(super) fn scaling(
    cli: &Cli,
    files: &[PathBuf],
    cuts: Cuts,
    workers: &Workers,
) -> Result<Found, Failure> {
    if files.len() < 2 {
        return Err(Failure::Other("scaling needs at least two traces".into()));
    }
    let (mut runs, mut notes, mut is_sound) = (Vec::new(), Vec::new(), true);
    for file in files {
        let read = read(cli, std::slice::from_ref(file), cuts, workers, &mut None)?;
        converted(cli, read.trace.time_scale());
        is_sound &= read.is_sound;
        let Analysis::Run(pop) = read.analysis else { continue };
        let name = read.name.display().to_string();
        if let Err(why) = &pop.transfer {
            notes.push(format!(
                "note: {name}: serialisation and transfer are not told apart: {why}"
            ));
        }
        runs.push((name.as_str().into(), *pop));
    }
    let table = efficiencies(&runs);
    let title = format!("Efficiencies (POP) of {} runs", runs.len());
    let colours = ValueColours::default();
    Ok(Found { title, notes, table, page: None, colours, is_sound })
}

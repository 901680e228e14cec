//! The program: replays two traces, compares them, and prints the result.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::CommandFactory;
use paje_console::contents::{self, Contents};
use paje_console::failure::TROUBLE;
use paje_console::progress::Display;
use paje_console::reading;
use paje_console::voice::{ALLOW_LONG_LINES, SORTED_BY_FILE};
use paje_console::{Failure, Voice, output};
use paje_parser::error::shown_path;
use paje_sim::Trace;
use paje_workers::Workers;
use splitter::Limits;

use crate::cli::Cli;
use crate::exact;
use crate::pajeng;

/// Prints messages on standard error. Problems of a trace have the same form as in `pj_dump`.
const VOICE: Voice = Voice {
    program: "pj_equals",
    on_disorder: "`--sort` compares traces sorted by time",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: None,
};

/// Runs the program. The exit status is 2 after a failure, and otherwise 0. With `--quiet`, it is 1
/// if the traces are equal and 0 if not, as in PajeNG. With `--diff`, it is 0 if they are equal and
/// 1 if not, as in `diff`.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    main_with(cli, Limits::default())
}

/// Runs the program with blocks of another size, which only affects speed and memory.
#[must_use]
pub fn main_with(cli: &Cli, limits: Limits) -> ExitCode {
    let (false, Some(first), Some(second)) = (cli.usage, &cli.file1, &cli.file2) else {
        let printed = print(|out| writeln!(out, "{}", Cli::command().render_usage()));
        return printed.map_or_else(|failure| failed(&failure), |()| ExitCode::SUCCESS);
    };
    match answer(cli, [first, second], limits) {
        Ok((_, false)) => ExitCode::from(TROUBLE),
        Ok((equal, _)) if cli.diff.is_some() => ExitCode::from(u8::from(!equal)),
        Ok((equal, _)) if cli.quiet => ExitCode::from(u8::from(equal)),
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) if cli.reading.accepted.sort => {
            Voice { on_disorder: SORTED_BY_FILE, ..VOICE }.failure(&failure);
            ExitCode::from(TROUBLE)
        }
        Err(failure) => failed(&failure),
    }
}

fn failed(failure: &Failure) -> ExitCode {
    VOICE.failure(failure);
    ExitCode::from(TROUBLE)
}

/// Line that `--diff` without other options prints if no rows differ, but PajeNG finds a
/// difference.
const OTHER_ORDER: &str = "All rows are the same. PajeNG (pj_equals without --diff) prints 0, since aliases or\n\
                           definitions are in another order; --exact --diff ignores that.";

/// Line that `--diff` without other options prints if only contents differ that PajeNG does not
/// compare.
const EQUAL_TO_PAJENG: &str = "PajeNG (pj_equals without --diff) prints 1, since it compares no times, numbers or\n\
                               names of containers; --exact prints 0.";

/// Prints the answer unless the user does not want it. Returns whether the traces are equal, and
/// whether both are sound.
fn answer(cli: &Cli, files: [&Path; 2], limits: Limits) -> Result<(bool, bool), Failure> {
    if files == [Path::new("-"); 2] {
        return Err(Failure::Other("only one of the traces can be standard input".into()));
    }
    let workers = cli.parallel.workers()?;
    if cli.talk.verbose {
        VOICE.workers(&workers);
    }
    let began = Instant::now();
    let (a, a_name) = read(cli, files[0], cli.stop_at1, limits, &workers)?;
    let (b, b_name) = read(cli, files[1], cli.stop_at2, limits, &workers)?;
    let (traces, names) = ([&a, &b], [a_name, b_name]);
    let as_pajeng = || pajeng::are_equal(traces, cli.case(), cli.windows());
    let equal = match (cli.rules(), cli.diff) {
        (None, _) => as_pajeng(),
        (Some(rules), Some(most)) if !cli.quiet => {
            let found = exact::compare(traces, &rules, most.get());
            let names = names.each_ref().map(|name| shown_path(name).to_string());
            print(|mut out| found.write(traces, &rules, [&names[0], &names[1]], &mut out))?;
            match found.is_none() {
                is_same if cli.chooses() || is_same == as_pajeng() => is_same,
                is_same => {
                    let why = if is_same { OTHER_ORDER } else { EQUAL_TO_PAJENG };
                    print(|out| writeln!(out, "{why}"))?;
                    false
                }
            }
        }
        (Some(rules), _) => exact::are_equal(traces, &rules) && (cli.chooses() || as_pajeng()),
    };
    if cli.diff.is_none() && !cli.quiet {
        print(|out| writeln!(out, "{}", u8::from(equal)))?;
    }
    stats(cli, traces, began);
    for (trace, name) in traces.iter().zip(&names) {
        VOICE.recovered(name, trace, "compared", cli.reading.accepted.late_events());
    }
    Ok((equal, traces.iter().all(|trace| trace.recovered().problems.is_empty())))
}

/// Prints the counts of both traces, the time and the memory.
fn stats(cli: &Cli, traces: [&Trace; 2], began: Instant) {
    let Some(format) = cli.talk.stats else { return };
    let mut counts = Vec::new();
    for (trace, number) in traces.into_iter().zip(1..) {
        let all = [("bytes", trace.bytes()), ("lines", trace.lines())];
        let all = all.into_iter().chain(Contents::of(trace).counts());
        counts.extend(all.map(|(name, count)| (format!("{name} {number}"), count)));
    }
    counts.push(("spilled".into(), traces.iter().map(|trace| trace.spilled()).sum()));
    let counts: Vec<_> = counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    VOICE.print(&contents::stats(format, &counts, None, began));
}

/// Replays a trace, which must be valid. Returns it with its name for messages.
fn read(
    cli: &Cli,
    path: &Path,
    stop_at: Option<f64>,
    limits: Limits,
    workers: &Workers,
) -> Result<(Trace, PathBuf), Failure> {
    let opened = reading::open(&[path], Some(&cli.reading), VOICE)?;
    let name = opened.name().to_owned();
    if cli.talk.verbose {
        VOICE.input(&opened.input);
    }
    let mut options = cli.reading.options(limits);
    options.stop_at = stop_at;
    options.memory = cli.memory.limit();
    let display = Display::new(!cli.talk.no_progress, Instant::now());
    let trace = reading::replay(opened, &options, workers, display)?;
    if !(cli.quiet || cli.talk.warnings.no_warnings) {
        VOICE.warnings(&name, &trace);
    }
    Ok((trace, name))
}

fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    match output::print(write) {
        Err(failure) if failure.is_closed_pipe() => Ok(()),
        printed => printed,
    }
}

//! The program: replays two traces, compares them, and prints the result.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::CommandFactory;
use paje_console::contents::Contents;
use paje_console::failure::TROUBLE;
use paje_console::memory::peak_memory;
use paje_console::progress::Display;
use paje_console::reading::Opened;
use paje_console::voice::SORTED_BY_FILE;
use paje_console::{Failure, Voice, output};
use paje_parser::error::shown_path;
use paje_sim::{Options, Trace};
use paje_workers::Workers;
use splitter::Limits;

use crate::cli::Cli;
use crate::exact;
use crate::pajeng;
use crate::report::VOICE;

/// Runs the program. The exit status is 0 if the answer is printed, and 2 if there is no answer.
/// With `--quiet`, the status is the answer as in PajeNG (1 equal, 0 different). With `--diff`, it
/// is the answer as in `diff` (0 equal, 1 different).
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
        Ok(equal) if cli.diff.is_some() => ExitCode::from(u8::from(!equal)),
        Ok(equal) if cli.quiet => ExitCode::from(u8::from(equal)),
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) if cli.accepted.sort => {
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

/// Returns whether the traces are equal, and prints the answer if requested.
fn answer(cli: &Cli, files: [&Path; 2], limits: Limits) -> Result<bool, Failure> {
    if files == [Path::new("-"); 2] {
        return Err(Failure::Other("only one of the traces can be standard input".into()));
    }
    let workers = cli.parallel.workers()?;
    if cli.verbose {
        VOICE.workers(&workers);
    }
    let (a, a_name) = read(cli, files[0], cli.stop_at1, limits, &workers)?;
    let (b, b_name) = read(cli, files[1], cli.stop_at2, limits, &workers)?;
    let (traces, names) = ([&a, &b], [a_name, b_name]);
    if cli.stats {
        for (trace, name) in traces.iter().zip(&names) {
            VOICE.say(format_args!("{}:", shown_path(name)));
            VOICE.print(&Contents::of(trace).table());
        }
    }
    let equal = match (cli.rules(), cli.diff) {
        (None, _) => pajeng::are_equal(traces, cli.case(), cli.windows()),
        (Some(rules), Some(most)) if !cli.quiet => {
            let found = exact::compare(traces, &rules, most.get());
            let names = names.map(|name| shown_path(&name).to_string());
            print(|mut out| found.write(traces, &rules, [&names[0], &names[1]], &mut out))?;
            found.is_none()
        }
        (Some(rules), _) => exact::are_equal(traces, &rules),
    };
    if cli.diff.is_none() && !cli.quiet {
        print(|out| writeln!(out, "{}", u8::from(equal)))?;
    }
    if cli.verbose
        && let Some(memory) = peak_memory()
    {
        let spilled = a.spilled() + b.spilled();
        VOICE.say(format_args!(
            "{:.1} MB of memory, {:.1} MB in temporary files",
            memory as f64 / 1e6,
            spilled as f64 / 1e6
        ));
    }
    Ok(equal)
}

/// Replays a trace, which must be valid. Returns it with its name for messages.
fn read(
    cli: &Cli,
    path: &Path,
    stop_at: Option<f64>,
    limits: Limits,
    workers: &Workers,
) -> Result<(Trace, PathBuf), Failure> {
    let opened = Opened::open(Some(path), VOICE)?.with_files(&[], &cli.named)?;
    let name = opened.name().to_owned();
    if cli.verbose {
        VOICE.input(&opened.input);
    }
    let mut options = Options::default();
    options.limits = limits.with_line(cli.longest.max_line);
    cli.accepted.set(&mut options);
    options.stop_at = stop_at;
    options.memory = cli.memory.limit();
    let display = Display::new(!cli.talk.no_progress, Instant::now());
    let trace = opened.replay(&options, workers, display)?;
    if !(cli.quiet || cli.talk.warnings.no_warnings) {
        VOICE.warnings(&name, &trace);
    }
    Ok((trace, name))
}

/// Prints to standard output. A closed pipe is not a failure.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    match output::print(write) {
        Err(failure) if failure.is_closed_pipe() => Ok(()),
        printed => printed,
    }
}

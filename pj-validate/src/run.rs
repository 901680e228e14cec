//! The program: opens each trace, checks it, and writes the report.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use paje_console::contents;
use paje_console::failure::{INVALID, TROUBLE};
use paje_console::fill::Filled;
use paje_console::options::Format;
use paje_console::progress::{Display, Shown};
use paje_console::voice::ALLOW_LONG_LINES;
use paje_console::{Failure, Voice};
use paje_parser::FieldNames;
use paje_parser::error::shown_path;
use paje_workers::{Pin, Workers};
use splitter::{Folders, Input, is_damaged_archive};

use crate::again;
use crate::check::{Options, Report, check_files_with};
use crate::cli::{Checker, Cli};
use crate::manual::MANUAL;
use crate::report::{Human, Styles, csv, json};
use crate::sound::{Replaying, check_quickly};

/// Messages report failures only. Problems of a trace are in the report.
const VOICE: Voice = Voice {
    program: "pj_validate",
    on_disorder: "`pj_dump --sort` replays a trace sorted by time, as `sort -s` would",
    on_long_lines: ALLOW_LONG_LINES,
    on_damage: None,
};

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    match run(&paje_console::generate::parse::<Cli>(&MANUAL)) {
        Ok(status) => ExitCode::from(status),
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            VOICE.failure(&failure);
            ExitCode::from(failure.status())
        }
    }
}

fn run(cli: &Cli) -> Result<u8, Failure> {
    let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if cli.files.iter().filter(is_stdin).count() > 1 {
        return Err(Failure::Other("only one of the traces can be standard input".into()));
    }
    let workers = match cli.checker {
        Checker::Auto => match cli.parallel.workers() {
            // If threads cannot be started, the checker works without them.
            Err(_) if cli.parallel.threads.is_none() && cli.parallel.pin == Pin::None => None,
            workers => Some(workers?),
        },
        Checker::Careful => None,
    };
    let mut out = BufWriter::new(paje_console::output::standard_output().map_err(Failure::Output)?);
    let mut worst = 0;
    for (index, path) in cli.files.iter().enumerate() {
        let apart = index > 0 && !cli.quiet;
        let status = match check_one(cli, path, workers.as_ref(), (index, apart), &mut out) {
            Ok(true) => 0,
            Ok(false) => INVALID,
            Err(failure @ Failure::Output(_)) => return Err(failure),
            Err(failure) => {
                // Writes the reports on earlier traces first.
                out.flush().map_err(Failure::Output)?;
                VOICE.failure(&failure);
                TROUBLE
            }
        };
        worst = worst.max(status);
    }
    Ok(worst)
}

/// Checks a trace and writes the report, after a blank line if `apart` is true. Returns whether the
/// trace is valid. The first report has `index` 0.
fn check_one(
    cli: &Cli,
    path: &Path,
    workers: Option<&Workers>,
    (index, apart): (usize, bool),
    out: &mut impl Write,
) -> Result<bool, Failure> {
    let stdin = path.as_os_str() == "-";
    let name = if stdin { Path::new("standard input") } else { path };
    let unreadable = |error| Failure::File(name.to_owned(), error);
    let started = Instant::now();
    let input = Input::open(Some(path)).map_err(unreadable)?;
    let options = options(cli);
    if cli.talk.verbose {
        VOICE.input(&input);
        workers.into_iter().for_each(|workers| VOICE.workers(workers));
    }
    let display = Display::new(!cli.talk.no_progress, started);
    let mut shown: Option<Shown> = None;
    let mut show = |input: &Input| {
        // Clears the progress line of the previous file first.
        drop(shown.take());
        shown = Some(display.reading("checking", input));
    };
    let named = &cli.named;
    let folders = (!named.no_files).then(|| Folders::of([path]).and_all(&named.files_from));
    let folders = folders.transpose()?;
    let folders = folders.as_ref();
    let report = match workers {
        Some(workers) => {
            let replaying = Replaying::by(workers);
            check_quickly(input, path, folders, &options, &replaying, &mut show)
        }
        None => check_files_with(input, path, folders, &options, &mut show),
    };
    drop(shown);
    let mut report = match report {
        Ok(report) => report,
        Err(error) if is_damaged_archive(&error) => {
            // The report says nothing about lines, because an archive has none.
            for fault in Input::open(Some(path)).map_err(unreadable)?.faults() {
                VOICE.say(format_args!("{}: error: {fault}", shown_path(name)));
            }
            return Ok(false);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let seconds = started.elapsed().as_secs_f64();
    again::excerpts(&mut report.findings, &report.files);
    let sound = report.is_valid() && !(cli.strict && report.doubts > 0);
    let plain = || names(&report, "-", |path| path.display().to_string());
    let written = match cli.formatted.format {
        Format::Json => write_json(cli, out, plain(), &report, sound, seconds),
        Format::Csv => csv::findings(out, &plain(), &report.findings, index == 0),
        Format::Text | Format::Parquet => {
            let separated = if apart { writeln!(out) } else { Ok(()) };
            let names = names(&report, "<stdin>", |path| shown_path(path).to_string());
            separated.and_then(|()| {
                write_human(cli, Filled::to_output(out), names, &report, sound, seconds)
            })
        }
    };
    written.map_err(Failure::Output)?;
    if let Some(format) = cli.talk.stats {
        let summary = &report.summary;
        let bytes = report.files.iter().map(|file| file.bytes).sum();
        let counts = [
            ("bytes", bytes),
            ("lines", summary.lines),
            ("errors", report.errors),
            ("warnings", report.warnings),
            ("threads", workers.map_or(1, |workers| workers.threads() as u64)),
        ];
        VOICE.print(&contents::stats(format, &counts, None, started));
    }
    Ok(sound)
}

fn options(cli: &Cli) -> Options {
    Options {
        field_names: if cli.no_strict { FieldNames::Old } else { FieldNames::Strict },
        ignore_incomplete_links: cli.ignore_incomplete_links,
        max_findings: cli.max_errors,
        longest_line: cli.longest.max_line,
        warnings: !cli.talk.warnings.no_warnings,
        only: cli.only.clone(),
        allowed: cli.allow.clone(),
        ..Options::default()
    }
}

/// Returns the names of the files in a report. `show` formats a path, and `stdin` is the name of
/// standard input.
fn names(report: &Report, stdin: &str, show: fn(&Path) -> String) -> Vec<String> {
    let mut paths = report.files.iter().map(|file| show(&file.path));
    let first = paths.next().map(|first| if first == "-" { stdin.into() } else { first });
    first.into_iter().chain(paths).collect()
}

fn write_json(
    cli: &Cli,
    mut out: impl Write,
    files: Vec<String>,
    report: &Report,
    sound: bool,
    seconds: f64,
) -> io::Result<()> {
    for finding in &report.findings {
        json::finding(&mut out, &files, finding)?;
    }
    if !cli.quiet {
        let seconds = cli.time.then_some(seconds);
        json::summary(&mut out, &files, report, sound, cli.container_hierarchy, seconds)?;
    }
    out.flush()
}

fn write_human(
    cli: &Cli,
    out: impl Write,
    files: Vec<String>,
    report: &Report,
    sound: bool,
    seconds: f64,
) -> io::Result<()> {
    let coloured = cli.coloured.is_wanted(&io::stdout());
    let styles = if coloured { Styles::coloured() } else { Styles::default() };
    let mut human = Human::new(out, files, styles);
    if !cli.quiet || !report.findings.is_empty() {
        human.verdict(report, sound, !cli.talk.warnings.no_warnings)?;
    }
    if human.findings(&report.findings, !cli.only.is_empty())? {
        human.how_to_see_each()?;
    }
    human.remarks(report)?;
    let summary = &report.summary;
    if !cli.quiet {
        human.summary(report)?;
    }
    if cli.container_hierarchy {
        human.containers(summary)?;
    }
    if cli.type_hierarchy {
        human.types(summary)?;
    }
    if cli.time {
        human.seconds(seconds)?;
    }
    human.hint(report)?;
    human.finish()
}

//! The program: opens the trace, checks it, writes the report.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use paje_parser::FieldNames;
use paje_parser::error::shown_path;
use splitter::Input;

use crate::again;
use crate::check::{self, Options, Report};
use crate::cli::{Cli, When};
use crate::manual::MANUAL;
use crate::report::{Human, Styles, json};

/// The exit status of a trace that is not sound.
const INVALID: u8 = 1;
/// The exit status of wrong usage and of input or output that fails.
const FAILED: u8 = 2;

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    match run(&console::generate::parse::<Cli>(&MANUAL)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(INVALID),
        // Whoever reads the report has seen enough.
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            // With standard error gone there is no one left to tell.
            let _ = writeln!(io::stderr(), "pj_validate: {failure}");
            ExitCode::from(FAILED)
        }
    }
}

/// Why there is no verdict.
#[derive(Debug)]
enum Failure {
    /// The trace cannot be read.
    Read { name: String, error: io::Error },
    /// The report cannot be written.
    Write(io::Error),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Read { name, error } => write!(f, "{name}: {}", reason(error)),
            Failure::Write(error) => write!(f, "standard output: {}", reason(error)),
        }
    }
}

impl std::error::Error for Failure {}

/// The error without the number that Rust appends.
fn reason(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(at) = text.find(" (os error") {
        text.truncate(at);
    }
    text
}

/// Checks and reports; whether the trace is sound.
fn run(cli: &Cli) -> Result<bool, Failure> {
    let stdin = cli.file.as_os_str() == "-";
    let name = if stdin { "standard input".into() } else { shown_path(&cli.file).to_string() };
    let unreadable = |error| Failure::Read { name: name.clone(), error };
    let started = Instant::now();
    let input = Input::open(Some(&cli.file)).map_err(unreadable)?;
    let mut options = Options {
        ignore_incomplete_links: cli.ignore_incomplete_links,
        max_findings: cli.max_errors,
        longest_line: cli.max_line,
        ..Options::default()
    };
    if cli.no_strict {
        options.field_names = FieldNames::Old;
    }
    let folders = cli.named.folders([&*cli.file]);
    let folders = folders.map_err(|(folder, error)| {
        let name = shown_path(&folder).to_string();
        Failure::Read { name, error }
    })?;
    let report = check::check_files(input, &cli.file, folders.as_ref(), &options);
    let mut report = report.map_err(unreadable)?;
    let seconds = started.elapsed().as_secs_f64();
    again::excerpts(&mut report.findings, &report.files);
    let sound = report.is_valid() && !(cli.strict && report.warnings > 0);
    let out = BufWriter::new(console::output::standard_output().map_err(Failure::Write)?);
    let written = if cli.json {
        write_json(cli, out, &report, sound, seconds)
    } else {
        let names = names(&report, "<stdin>", |path| shown_path(path).to_string());
        write_human(cli, out, names, &report, sound, seconds)
    };
    written.map_err(Failure::Write)?;
    Ok(sound)
}

/// What the files are called in the report, as `show` makes text of them; the first one if it is standard
/// input as `stdin`.
fn names(report: &Report, stdin: &str, show: fn(&Path) -> String) -> Vec<String> {
    let mut paths = report.files.iter().map(|file| show(&file.path));
    let first = paths.next().map(|first| if first == "-" { stdin.into() } else { first });
    first.into_iter().chain(paths).collect()
}

fn write_json(
    cli: &Cli,
    mut out: impl Write,
    report: &Report,
    sound: bool,
    seconds: f64,
) -> io::Result<()> {
    // JSON has its own way to write what is no text.
    let files = names(report, "-", |path| path.display().to_string());
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
    let coloured = match cli.color {
        When::Always => true,
        When::Never => false,
        When::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            io::stdout().is_terminal() && !refused
        }
    };
    let styles = if coloured { Styles::coloured() } else { Styles::default() };
    let mut human = Human::new(out, files, styles);
    for finding in &report.findings {
        human.finding(finding)?;
    }
    human.remarks(report)?;
    let summary = &report.summary;
    if !cli.quiet {
        human.summary(report)?;
    }
    if cli.container_hierarchy {
        human.containers(summary)?;
    }
    if !cli.quiet || cli.type_hierarchy {
        human.types(summary)?;
    }
    if cli.time {
        human.seconds(seconds)?;
    }
    if !cli.quiet {
        human.verdict(report, sound)?;
    }
    human.hint(report)?;
    human.finish()
}

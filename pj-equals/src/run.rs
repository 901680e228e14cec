//! The program: replays two traces, compares them, says what came of it.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::CommandFactory;
use paje_dump::memory;
use paje_dump::progress::Display;
use paje_dump::stats::peak_memory;
use paje_sim::{ErrorKind, FieldNames, Options, Progress, Source, Trace};
use splitter::{Input, Limits};
use workers::Workers;

use crate::cli::Cli;
use crate::exact;
use crate::pajeng;
use crate::report::{self, Failure, TROUBLE, VOICE};

/// Runs the program. The exit status is 0 where the answer is printed; with `--quiet` it is the answer, as
/// PajeNG gives it (1 equal, 0 not); with `--diff` it is that of `diff` (0 equal, 1 not). Where there
/// is no answer, it is 2.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    main_with(cli, Limits::default())
}

/// The same, with blocks of another size; which makes no difference but to speed and memory.
#[must_use]
pub fn main_with(cli: &Cli, limits: Limits) -> ExitCode {
    let (false, Some(first), Some(second)) = (cli.usage, &cli.file1, &cli.file2) else {
        println!("{}", Cli::command().render_usage());
        return ExitCode::SUCCESS;
    };
    match answer(cli, [first, second], limits) {
        Ok(equal) if cli.diff.is_some() => ExitCode::from(u8::from(!equal)),
        Ok(equal) if cli.quiet => ExitCode::from(u8::from(equal)),
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            report::failure(&failure);
            ExitCode::from(TROUBLE)
        }
    }
}

/// Whether the traces are equal; that is printed if it is to be.
fn answer(cli: &Cli, files: [&Path; 2], limits: Limits) -> Result<bool, Failure> {
    if files == [Path::new("-"); 2] {
        return Err(Failure::TwoInputs);
    }
    let workers = Workers::new(cli.threads, &cli.pin).map_err(Failure::Workers)?;
    if cli.verbose {
        VOICE.workers(&workers);
    }
    let a = read(cli, files[0], cli.stop_at1, limits, &workers)?;
    let b = read(cli, files[1], cli.stop_at2, limits, &workers)?;
    let (traces, names) = ([&a, &b], files.map(name));
    let equal = match (cli.rules(), cli.diff) {
        (None, _) => pajeng::are_equal(traces, cli.case(), cli.windows()),
        (Some(rules), Some(most)) if !cli.quiet => {
            let found = exact::compare(traces, &rules, most.get());
            let names = names.map(|name| name.display().to_string());
            print(|out| found.write(traces, &rules, [&names[0], &names[1]], out))?;
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

fn name(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("<stdin>") } else { path }
}

/// Replays a trace, which must be valid.
fn read(
    cli: &Cli,
    path: &Path,
    stop_at: Option<f64>,
    limits: Limits,
    workers: &Workers,
) -> Result<Trace, Failure> {
    let name = name(path);
    let mut input = Input::open(Some(path)).map_err(|error| Failure::File(name.into(), error))?;
    if cli.verbose {
        VOICE.input(&input);
    }
    let mut options = Options::default();
    options.limits = limits.with_line(cli.max_line);
    options.field_names = if cli.no_strict { FieldNames::Old } else { FieldNames::Strict };
    options.ignore_incomplete_links = cli.ignore_incomplete_links;
    options.stop_at = stop_at;
    options.sort = cli.sort;
    options.memory = memory::limit(cli.memory_limit, cli.temp_dir.as_deref());
    let display = Display::new(!cli.no_progress, Instant::now());
    let progress = Arc::new(Progress::default());
    let shown = display.replay(&input, &progress, None);
    let replay = |mut source: Source<'_>| {
        if !cli.no_files {
            source = source.reading_files((path != Path::new("-")).then(|| path.to_owned()));
        }
        Trace::read_with(source, &options, workers, &progress)
    };
    let trace = if input.compression().is_some() {
        let trace = replay(Source::stream(&mut input));
        match &trace {
            // Damage that made it invalid is what its user must know of: checksums come at the end.
            Err(error) if matches!(error.kind(), ErrorKind::Invalid(_)) => {
                match io::copy(&mut input, &mut io::sink()) {
                    Err(error) => Err(error.into()),
                    Ok(_) => trace,
                }
            }
            _ => trace,
        }
    } else {
        replay(Source::from(input))
    };
    drop(shown);
    let trace = trace.map_err(|error| Failure::Trace(name.into(), error))?;
    if !cli.quiet {
        VOICE.warnings(name, &trace);
    }
    Ok(trace)
}

/// Writes to standard output. That who reads it has seen enough is no failure.
fn print(write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    let file = io::stdout().as_fd().try_clone_to_owned().map_err(Failure::Output)?;
    let mut out = BufWriter::new(File::from(file));
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // What is still buffered would fail again.
            let _ = out.into_parts();
            Ok(())
        }
        written => written.map_err(Failure::Output),
    }
}

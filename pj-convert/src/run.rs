//! Reads a trace, converts it and reports losses.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use paje_console::contents::say_stats;
use paje_console::output::refuse_inputs;
use paje_console::progress::Display;
use paje_console::reading;
use paje_console::voice::all_met;
use paje_console::{Failure, failure};
use paje_sim::{Options, Progress, Source, Trace};
use paje_workers::Workers;
use splitter::Limits;

use crate::cli::Cli;
use crate::clock::Losses;
use crate::convert::{Conversion, Format, NotConverted, convert, convert_to_archive};
use crate::otf2::Lacks;
use crate::output::{NewFolder, Output};
use crate::report;

/// Runs the program. Returns exit status 0, 1 for an invalid or repaired trace, or 2 for usage and
/// I/O errors.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    // Exceeding the file size limit should be a write error instead of ending the program.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    failure::exit(report::voice(cli), run(cli))
}

fn run(cli: &Cli) -> Result<bool, Failure> {
    let began = Instant::now();
    let voice = report::voice(cli);
    let format = cli.format().map_err(Failure::Other)?;
    refuse_inputs(&[&cli.file], [cli.output.as_path()])?;
    let opened = reading::open(&[&cli.file], Some(&cli.reading), voice)?;
    let name = opened.name().to_owned();
    let workers = cli.parallel.workers()?;
    cli.talk.begin(voice, &opened.input, &workers);
    let failed = |error| match cli.writes_to_standard_output() {
        true => Failure::Output(error),
        false => Failure::File(cli.output.clone(), error),
    };
    let conversion = Conversion { format, quotes: cli.quotes, options: options(cli) };
    // The output is opened before the trace is read, so that failures are reported early.
    let target = Target::open(cli, format).map_err(failed)?;
    let progress = Arc::new(Progress::default());
    let shown = Display::new(!cli.talk.no_progress, began).replay(&opened.input, &progress, None);
    let mut trouble = None;
    let converted = reading::read(opened, &workers, |source| {
        match target.convert(source, &conversion, &workers, &progress) {
            Ok(converted) => Ok(Some(converted)),
            Err(NotConverted::Trace(error)) => Err(error),
            Err(NotConverted::Output(error)) => {
                trouble = Some(error);
                Ok(None)
            }
        }
    });
    drop(shown);
    if let Some(error) = trouble {
        return Err(failed(error));
    }
    let Some((trace, target, losses, lacks)) = converted? else { return Ok(true) };
    all_met(&name, &trace, &conversion.options.selection)?;
    target.finish().map_err(failed)?;
    if !cli.talk.warnings.no_warnings {
        let so = "no rows but those of containers are in it";
        voice.doubts(&name, &trace, &conversion.options.selection, so);
        report::unit(voice, format, trace.time_scale());
        report::losses(voice, &name, format, &losses);
        report::lacks(voice, &name, &lacks);
    }
    say_stats(voice, cli.talk, &trace, &[("threads", workers.threads() as u64)], began);
    voice.recovered(&name, &trace, "converted", cli.reading.accepted.late_events());
    Ok(trace.recovered().problems.is_empty())
}

/// Output of a conversion.
enum Target {
    Stream(Output),
    Folder(NewFolder),
}

impl Target {
    fn open(cli: &Cli, format: Format) -> io::Result<Self> {
        match format {
            Format::Otf2 => NewFolder::open(&cli.output).map(Target::Folder),
            _ => Output::open(&cli.output, cli.compresses()).map(Target::Stream),
        }
    }

    fn convert(
        self,
        source: Source<'_>,
        conversion: &Conversion,
        workers: &Workers,
        progress: &Progress,
    ) -> Result<(Trace, Self, Losses, Lacks), NotConverted> {
        match self {
            Target::Stream(output) => {
                let found = convert(source, conversion, workers, progress, output);
                let (trace, output, losses) = found?;
                Ok((trace, Target::Stream(output), losses, Lacks::new()))
            }
            Target::Folder(folder) => {
                let (options, path) = (&conversion.options, folder.path());
                let found = convert_to_archive(source, options, workers, progress, path);
                let (trace, losses, lacks) = found?;
                Ok((trace, Target::Folder(folder), losses, lacks))
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Target::Stream(output) => output.finish(),
            Target::Folder(folder) => folder.finish(),
        }
    }
}

fn options(cli: &Cli) -> Options {
    let mut options = cli.reading.options(Limits::default());
    options.user_defined = true;
    options.time_unit = cli.units.time_unit;
    options.memory = cli.memory.limit();
    options.selection = cli.which.selection();
    options
}

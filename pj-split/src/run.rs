//! The program: replays a trace, assigns containers to pieces, and writes the pieces.

use std::ffi::OsString;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use paje_console::contents::say_stats;
use paje_console::memory;
use paje_console::progress::Display;
use paje_console::reading;
use paje_console::{Failure, failure};
use paje_parser::error::shown_path;
use paje_sim::{
    ErrorKind, Opened, Options, Problem, Progress, Recovered, Remedy, Trace, WarningKind,
};
use paje_workers::Workers;
use splitter::{Kind, Limits};

use crate::cli::Cli;
use crate::cut::{self, Cut};
use crate::folder::Folder;
use crate::needs::Needs;
use crate::output::{self, Blocks};
use crate::pack::Compress;
use crate::report::VOICE;
use crate::root::OwnLines;
use crate::scatter::Rules;
use crate::shares::{self, Shares};
use crate::survey::{Survey, Surveyed};

/// Size in bytes of a portion of the trace. The objects of each portion are dropped, as in
/// `pj_dump -o`.
const PORTION: u64 = 16 << 20;

/// Runs the program. The exit status is 0, 1 for an invalid or repaired trace, or 2 for usage or
/// input/output errors.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    main_with(cli, Limits::default())
}

/// Runs the program with blocks of another size, which only affects speed and memory.
#[must_use]
pub fn main_with(cli: &Cli, limits: Limits) -> ExitCode {
    failure::exit(VOICE, make_pieces(cli, limits, true).map(|made| made.was_sound))
}

/// Result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Whether the trace was valid. If false, it was repaired.
    pub was_sound: bool,
    /// Whether the pieces are valid. If false, problems remain that no valid trace can express.
    pub are_sound: bool,
}

/// Splits a trace. Used by programs that report problems and handle signals themselves.
///
/// # Errors The pieces cannot be made, for the returned reason. The output folder then does not
/// exist.
pub fn split(cli: &Cli, limits: Limits) -> Result<Made, Failure> {
    make_pieces(cli, limits, false)
}

fn make_pieces(cli: &Cli, limits: Limits, ends_at_signals: bool) -> Result<Made, Failure> {
    let began = Instant::now();
    if cli.output == Path::new("-") {
        let why = "-: pieces and windows cannot go to standard output; for a file named - use ./-";
        return Err(Failure::Other(why.into()));
    }
    let opened = reading::open(cli.file.as_slice(), None, VOICE)?;
    if cli.recover {
        opened.input.recover();
    }
    let name = &opened.name().to_owned();
    let workers = cli.parallel.workers()?;
    cli.talk.begin(VOICE, &opened.input, &workers);
    let window = cut::window(cli, name)?;
    let cut = window.map(|window| Cut { cli, name, limits, workers: &workers, window, began });
    if let Some(cut) = cut.as_ref().filter(|_| !cli.recover && !cli.wants_pieces()) {
        cut.to_file(opened, ends_at_signals)?;
        return Ok(Made { was_sound: true, are_sound: true });
    }
    // The folder is created first, so that an unusable one is reported before a long replay.
    let folder = Folder::create(&cli.output, ends_at_signals)?;
    folder.report_cleared(cli.talk);
    let (opened, was_sound) = match &cut {
        Some(cut) => cut.to_folder(opened, &folder)?,
        None => (opened, true),
    };
    let mut cli = cli.clone();
    cli.accepted.sort &= cut.is_none();
    let cli = &cli;
    let (text, spool) = text_again(cli, &opened, &folder)?;
    let text_name = if spool.is_some() { folder.path() } else { name.as_path() };
    let (log, uses) = (folder.temporary()?, folder.temporary()?);
    let survey = Survey::new(workers.threads(), log, uses, spool);
    let display = Display::new(!cli.talk.no_progress, began);
    let trace = replay(cli, opened, limits, &workers, display, &survey);
    if let Some(error) = survey.take_failure() {
        return Err(folder.failed(error));
    }
    let trace = trace?;
    if !cli.talk.warnings.no_warnings {
        VOICE.warnings(name, &trace);
    }
    one_file(name, &trace)?;
    // The remedies of these problems would change rows.
    let changes = |problem: &&Recovered| {
        let is_early = |kind: &ErrorKind| {
            matches!(kind, ErrorKind::Invalid(Problem::DestroyedTooEarly { .. }))
        };
        problem.remedy != Remedy::Kept || is_early(problem.error.kind())
    };
    if let Some(problem) = trace.recovered().problems.iter().find(changes) {
        let why = format!("--recover: no pieces can express this: {}", problem.error);
        return Err(Failure::Unsuitable(name.clone(), why));
    }

    let surveyed = survey.finish(trace.containers().len()).map_err(|error| folder.failed(error))?;
    let shares = share(cli, name, &trace, &surveyed)?;
    let needs = Needs::new(&trace, &shares, &surveyed).map_err(|error| folder.failed(error))?;
    let Surveyed { held, entries, log, .. } = &surveyed;
    let mut own = OwnLines::new(&trace, &shares, held, cli.compress.map_or("", Compress::suffix));
    if cli.plain {
        own.end_plainly(&trace);
    }
    if cli.recover {
        // The line with the latest time may be in none of the files.
        own.first.extend_from_slice(&own.root_tail);
    }
    let rules = Rules { trace: &trace, shares: &shares, needs: &needs, own: &own };
    let blocks = Blocks { entries, text: &text, text_name, log };
    let copied = Arc::new(AtomicU64::new(0));
    let shown = display.copy(trace.bytes(), &copied);
    let written = output::write(folder.path(), cli.compress, &blocks, &rules, &workers, &copied)?;
    drop(shown);
    folder.finish()?;
    if cli.talk.verbose {
        report_pieces(&own, &shares::tally(&shares, held));
    }
    let more = [
        ("pieces", shares.count() as u64),
        ("bytes written", written),
        ("threads", workers.threads() as u64),
    ];
    say_stats(VOICE, cli.talk, &trace, &more, began);
    let are_sound = trace.recovered().problems.is_empty();
    if !are_sound {
        VOICE.say(format_args!(
            "{}: no valid trace can express some of these problems: dump the pieces with --recover too",
            shown_path(name)
        ));
    }
    Ok(Made { was_sound, are_sound })
}

fn text_again(
    cli: &Cli,
    opened: &Opened,
    folder: &Folder,
) -> Result<(File, Option<File>), Failure> {
    if let Kind::File(file, _) = opened.input.kind()
        && !cli.accepted.sort
    {
        let again = file.try_clone();
        let again = again.map_err(|error| Failure::File(opened.name().to_owned(), error))?;
        return Ok((again, None));
    }
    let spool = folder.temporary()?;
    let text = spool.try_clone().map_err(|error| folder.failed(error))?;
    Ok((text, Some(spool)))
}

fn report_pieces(own: &OwnLines, pieces: &[(u64, u64)]) {
    for (number, (containers, bytes)) in pieces.iter().enumerate() {
        let name = own.piece(number);
        let containers = match containers {
            1 => "1 container".to_owned(),
            some => format!("{some} containers"),
        };
        VOICE.say(format_args!("{name}: {containers}, {bytes} bytes of events"));
    }
}

/// Replays the trace, and logs its lines in a survey. Fails if the trace is invalid.
fn replay(
    cli: &Cli,
    opened: Opened,
    limits: Limits,
    workers: &Workers,
    display: Display,
    survey: &Survey,
) -> Result<Trace, Failure> {
    let mut options = options(cli, limits);
    if cli.recover {
        // Recovery needs all objects in memory.
        options.memory = memory::limit(None, None);
    }
    let progress = Arc::new(Progress::default());
    let _shown = display.replay(&opened.input, &progress, None);
    reading::read(opened, workers, |source| {
        Trace::read_into_ledger(source, &options, workers, &progress, PORTION, survey)
    })
}

pub(crate) fn options(cli: &Cli, limits: Limits) -> Options {
    let mut options = Options::default();
    options.limits = limits;
    cli.accepted.set(&mut options);
    options.recover = cli.recover;
    options.value_names = cli.quotes.value_names();
    options
}

pub(crate) fn one_file(name: &Path, trace: &Trace) -> Result<(), Failure> {
    let named = trace.warnings().iter().filter(|warning| warning.kind == WarningKind::FileNotRead);
    match named.map(|warning| warning.first_line).min() {
        None => Ok(()),
        Some(line) => Err(Failure::Unsuitable(
            [name.as_os_str(), format!(":{line}").as_ref()]
                .into_iter()
                .collect::<OsString>()
                .into(),
            "the trace names other files; pj_split splits traces in one file only".into(),
        )),
    }
}

fn share(cli: &Cli, name: &Path, trace: &Trace, surveyed: &Surveyed) -> Result<Shares, Failure> {
    let (containers, held) = (trace.containers(), &surveyed.held);
    if let Some(type_) = &cli.by {
        let types = shares::types_called(trace.types(), type_.as_bytes());
        if types.is_empty() {
            let why = format!("--by {type_}: the trace has no container type of this name");
            return Err(Failure::Unsuitable(name.to_owned(), why));
        }
        return Ok(Shares::by_type(containers, held, &types));
    }
    let asked = match (cli.pieces, cli.piece_size) {
        (Some(pieces), _) => Some(pieces),
        (None, Some(size)) => {
            let pieces = usize::try_from(trace.bytes().div_ceil(size.get()));
            Some(NonZeroUsize::new(pieces.unwrap_or(usize::MAX)).unwrap_or(NonZeroUsize::MIN))
        }
        (None, None) => None,
    };
    let shares =
        Shares::even(containers, held, asked.unwrap_or_else(paje_workers::available).get());
    if let Some(asked) =
        asked.filter(|asked| shares.count() < asked.get() && !cli.talk.warnings.no_warnings)
    {
        let pieces = if shares.count() == 1 { "piece" } else { "pieces" };
        let busy = held.iter().any(|held| held.events > 0);
        let why = if busy { "no more containers have events" } else { "no container has events" };
        VOICE.say(format_args!(
            "{}: {} {pieces} instead of {asked}, because {why}",
            shown_path(name),
            shares.count()
        ));
    }
    Ok(shares)
}

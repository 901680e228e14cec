//! Runs the program: reads a trace, analyses it, and writes the report.

mod several;

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use paje_analysis::kept::{Facts, Kept};
use paje_analysis::{Scope, Table, named, time};
use paje_console::options::Format;
use paje_console::output::refuse_inputs;
use paje_console::progress::Display;
use paje_console::reading::{self, PackedBytes};
use paje_console::voice::{NOTHING_IN_IT, all_met};
use paje_console::{Failure, failure};
use paje_decimal::amounts::duration;
use paje_pictures::ValueColours;
use paje_sim::{Portion, Progress, TimeScale, Trace, WarningKind};
use paje_workers::Workers;
use splitter::Limits;

use crate::analysis::{Analysis, needs_bins};
use crate::cli::{Cli, Report};
use crate::live::Live;
use crate::output::TableView;
use crate::report::{VOICE, converted, stats};
use crate::waiting;
use crate::{analysis, kept, output, overview, page, pictures, why};

/// Sizes of the parts in which a trace is read. They only affect speed and memory.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Sizes of blocks and lines.
    pub limits: Limits,
    /// Number of bytes in a portion.
    pub portion: u64,
}

impl Cuts {
    /// Returns smaller sizes, so that lines that arrive slowly are shown early.
    fn live(self) -> Self {
        let block = self.limits.block.min(1 << 14);
        let limits = Limits { block, ..self.limits };
        Cuts { limits, portion: self.portion.min(1 << 16) }
    }
}

impl Default for Cuts {
    fn default() -> Self {
        Cuts { limits: Limits::default(), portion: 16 << 20 }
    }
}

/// Runs the program. Returns exit status 0 for a valid trace, 1 for an invalid trace, and 2 after
/// usage and I/O errors.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    failure::exit(VOICE, profile(cli))
}

fn profile(cli: &Cli) -> Result<bool, Failure> {
    let mut live = match cli.live {
        true => Some(Live::new(cli.formatted.format == Format::Text && cli.output.is_none())?),
        false => None,
    };
    let found = report(cli, Cuts::default(), &mut live)?;
    if let Some(live) = &live {
        live.clear().map_err(Failure::Output)?;
    }
    // The graph of waits was written when all pairs were known.
    if let Some(path) = cli.graph.as_ref().filter(|_| cli.report() == Report::Comm) {
        output::write_file(path, &pictures::comm_dot(TableView(&found.table)))?;
    }
    if let Some(path) = &cli.svg {
        let picture = pictures::one(cli, &found.title, &found.table, &found.colours)?;
        output::write_file(path, &picture.file())?;
    }
    if let Some(path) = &cli.html {
        let page = found.page.unwrap_or_else(|| {
            page::of_report(cli, &found.title, &found.notes, &found.table, &found.colours)
        });
        output::write_file(path, &page)?;
    }
    if cli.formatted.format == Format::Text {
        output::write(cli, &found.title, &found.notes, &found.table)?;
    } else {
        found.notes.iter().for_each(|note| VOICE.say(format_args!("{note}")));
        output::write(cli, &found.title, &[], &found.table)?;
    }
    Ok(found.is_sound)
}

struct Found {
    title: String,
    /// Assumptions and similar facts, printed below the title or to standard error.
    notes: Vec<String>,
    table: Table,
    page: Option<String>,
    /// Colours of the values in the trace.
    colours: ValueColours,
    is_sound: bool,
}

fn report(cli: &Cli, cuts: Cuts, live: &mut Option<Live>) -> Result<Found, Failure> {
    if let Some(why) = cli.misspelt() {
        return Err(Failure::Other(why));
    }
    if let Some((option, whose)) = cli.out_of_place() {
        let report = cli.report().name();
        return Err(Failure::Other(format!("{option} applies to {whose}, not to {report}")));
    }
    let (files, began) = (cli.files(), Instant::now());
    let outputs = [&cli.output, &cli.graph, &cli.html, &cli.svg];
    refuse_inputs(&files, outputs.into_iter().flatten().map(PathBuf::as_path))?;
    if cli.report() == Report::Compare {
        return several::compare(cli, &files, cuts, &cli.parallel.with_caller(None)?);
    }
    if cli.report() == Report::Scaling {
        return several::scaling(cli, &files, cuts, &cli.parallel.with_caller(None)?);
    }
    if let Some(found) = kept::find(cli, &files) {
        let Kept { facts, table } = found.kept;
        stats(cli, &facts, Some(found.bytes), &Workers::one(), began);
        let table = analysis::largest(cli.report(), table, cli.top);
        let title = title(&files[0], facts.end, facts.scale);
        converted(cli, facts.scale);
        let notes = analysis::without_sizes(cli, &table).into_iter().collect();
        let colours = ValueColours::default();
        return Ok(Found { title, notes, table, page: None, colours, is_sound: true });
    }
    let workers = cli.parallel.with_caller(None)?;
    let read = read(cli, &files, cuts, &workers, live)?;
    let table = read.analysis.table(&read.trace, cli.top);
    let title = title_of(&read.name, &read.trace);
    converted(cli, read.trace.time_scale());
    let colours = ValueColours::new(read.trace.types());
    let page = match cli.is_whole_page() {
        true => Some(workers.run(|| {
            let parts = overview::parts(cli, &read.name, &read.trace, &workers)?;
            Ok::<_, Failure>(page::of_parts(cli, &title, &parts, &table, &colours))
        })?),
        false => None,
    };
    let (mut notes, is_sound) = (read.notes, read.is_sound);
    notes.extend(analysis::without_sizes(cli, &table));
    Ok(Found { title, notes, table, page, colours, is_sound })
}

fn title_of(name: &Path, trace: &Trace) -> String {
    let scale = trace.time_scale();
    title(name, scale.seconds(trace.end()), scale)
}

fn title(name: &Path, end: f64, scale: TimeScale) -> String {
    format!("{}, until {}; {scale}", name.display(), duration(end))
}

struct Read {
    name: PathBuf,
    trace: Trace,
    analysis: Analysis,
    notes: Vec<String>,
    is_sound: bool,
}

fn read(
    cli: &Cli,
    files: &[PathBuf],
    cuts: Cuts,
    workers: &Workers,
    live: &mut Option<Live>,
) -> Result<Read, Failure> {
    let began = Instant::now();
    let cuts = if cli.live { cuts.live() } else { cuts };
    // With `--recover`, there are no portions, because recovery may change earlier results.
    let mut analysis = Analysis::of_portions(cli)?.filter(|_| !cli.reading.recover);
    let mut reads_window = adds_up_rows(cli) && cli.options(cuts.limits).takes_window();
    if reads_window && matches!(cli.report(), Report::States | Report::Compare) {
        let lanes = kept::lanes(files);
        reads_window = lanes.is_some();
        analysis = analysis.map(|analysis| analysis.in_part_of(lanes));
    }
    if cli.live && analysis.is_none() {
        let why = match cli.is_whole_page() {
            true => "--live cannot be combined with summary --html, which needs all rows",
            false => {
                "--live needs --start and --end for bins, and cannot be combined with --recover"
            }
        };
        return Err(Failure::Other(why.into()));
    }
    let mut range = None;
    if analysis.is_none() && needs_bins(cli) && !cli.reading.recover && is_read_twice(files, cuts) {
        let mut see = |_: &Path, _: &Portion<'_>| Ok(());
        let Replayed { trace, .. } =
            replay(cli, files, cuts, reads_window, workers, Some(&mut see))?;
        let found = time::range(&trace, &Scope::new(&cli.selection()));
        (range, analysis) = (Some(found), Some(Analysis::in_bins(cli, found)?));
    }
    let Replayed { name, trace, packed } = match &mut analysis {
        None => replay(cli, files, cuts, reads_window, workers, None)?,
        Some(analysis) => {
            let mut see = |name: &Path, portion: &Portion<'_>| {
                let trace = portion.trace();
                analysis.see(trace, workers);
                let Some(live) = live else { return Ok(()) };
                live.report(|out| {
                    let table = analysis.table(trace, cli.top);
                    output::format(
                        cli,
                        &title_of(name, trace),
                        &[],
                        &table,
                        output::screen(cli),
                        out,
                    )
                })
            };
            replay(cli, files, cuts, reads_window, workers, Some(&mut see))?
        }
    };
    all_met(&name, &trace, &cli.selection())?;
    if files.len() > 1 {
        named::one_trace(&trace).map_err(Failure::Other)?;
    }
    cli.check_names(&trace).map_err(|why| Failure::Unsuitable(name.clone(), why))?;
    let ends = |(start, end): (f64, f64)| [start.to_bits(), end.to_bits()];
    let now = || time::range(&trace, &Scope::new(&cli.selection()));
    if range.is_some_and(|range| ends(range) != ends(now())) {
        let why = "the file changed between its first and second reading".to_owned();
        return Err(Failure::Unsuitable(name, why));
    }
    let mut notes = Vec::new();
    let analysis = match analysis {
        Some(analysis) => analysis,
        None if cli.report() == Report::Why => {
            Analysis::Waiting(Report::Why, workers.run(|| why::table(cli, &name, &trace, workers))?)
        }
        None if cli.report() == Report::Scaling => {
            Analysis::Run(Box::new(workers.run(|| why::pop(cli, &name, &trace))?))
        }
        None if waiting::is_asked(cli) => {
            let (table, found) = workers.run(|| waiting::table(cli, &name, &trace))?;
            notes = found;
            Analysis::Waiting(cli.report(), table)
        }
        None => {
            let mut analysis = Analysis::of_whole(cli, &trace)?;
            workers.run(|| analysis.see(&trace, workers));
            analysis
        }
    };
    if !cli.talk.warnings.no_warnings {
        VOICE.doubts(&name, &trace, &cli.selection(), NOTHING_IN_IT);
        let mut warnings = trace.warnings().iter();
        let is_concerned = cli.report() == Report::Variables && !cli.reading.accepted.sort;
        if is_concerned && warnings.any(|warning| warning.kind == WarningKind::AfterDestroy) {
            VOICE.say(format_args!(
                "hint: without the ignored lines, means may be wrong; `--sort` includes those whose time is before the \
                 destruction"
            ));
        }
    }
    let bytes = packed.map(|packed| (packed.size, packed.read()));
    stats(cli, &Facts::of(&trace), bytes, workers, began);
    VOICE.recovered(&name, &trace, "reported", cli.reading.accepted.late_events());
    let is_sound = trace.recovered().problems.is_empty();
    Ok(Read { name, trace, analysis, notes, is_sound })
}

/// Returns whether files are read twice: first for the trace's start and end, then for its
/// contents. If the files are smaller than a portion, or one of them is a stream, the rows are kept
/// instead.
fn is_read_twice(files: &[PathBuf], cuts: Cuts) -> bool {
    let metadata = files.iter().map(|file| {
        let found = fs::metadata(file).ok().filter(fs::Metadata::is_file);
        found.filter(|_| file != Path::new("-"))
    });
    let sizes: Option<Vec<u64>> = metadata.map(|found| found.map(|found| found.len())).collect();
    // The text of a compressed file may have ten times as many bytes.
    sizes.is_some_and(|sizes| sizes.iter().sum::<u64>() > cuts.portion / 10)
}

/// Function that gets each portion, with the name of the trace.
type See<'s> = &'s mut (dyn FnMut(&Path, &Portion<'_>) -> io::Result<()> + Send);

struct Replayed {
    name: PathBuf,
    trace: Trace,
    packed: Option<PackedBytes>,
}

/// Returns whether the report depends only on rows in the window. Waits and the critical path also
/// depend on earlier rows, summaries on lanes without rows, and classes on all values.
fn adds_up_rows(cli: &Cli) -> bool {
    let is_more = cli.is_whole_page() || cli.compares_in_words() || cli.by_class();
    !is_more && !waiting::is_asked(cli) && cli.report() != Report::Summary
}

/// Replays a trace. If possible, reads only the part that the window needs. If `see` is given, the
/// replay is in portions.
fn replay(
    cli: &Cli,
    files: &[PathBuf],
    cuts: Cuts,
    reads_window: bool,
    workers: &Workers,
    see: Option<See<'_>>,
) -> Result<Replayed, Failure> {
    let mut opened = reading::open(files, Some(&cli.reading), VOICE)?;
    let (name, packed) = (opened.name().to_owned(), PackedBytes::of(&opened.input));
    cli.talk.begin(VOICE, &opened.input, workers);
    let options = cli.options(cuts.limits);
    if reads_window {
        opened = opened.within_window(&options);
    }
    let progress = Arc::new(Progress::default());
    let shows = !(cli.talk.no_progress || cli.live);
    let shown = Display::new(shows, Instant::now()).replay(&opened.input, &progress, None);
    let mut unwritten = Ok(());
    let trace = reading::read(opened, workers, |source| {
        let Some(see) = see else {
            return Trace::read_with(source, &options, workers, &progress);
        };
        let mut see = |portion: &Portion<'_>| {
            unwritten = see(&name, portion);
            if unwritten.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        Trace::read_in_portions(source, &options, workers, &progress, cuts.portion, &mut see)
    });
    drop(shown);
    unwritten.map_err(Failure::Output)?;
    Ok(Replayed { name, trace: trace?, packed })
}

/// Returns the report as bytes, for tests.
///
/// # Errors
/// Fails in the same cases as the program.
#[doc(hidden)]
pub fn bytes(cli: &Cli, cuts: Cuts) -> Result<Vec<u8>, Failure> {
    let found = report(cli, cuts, &mut None)?;
    let (mut out, screen) = (Vec::new(), output::Screen::plain(100));
    output::format(cli, &found.title, &[], &found.table, screen, &mut out)
        .map_err(Failure::Output)?;
    Ok(out)
}

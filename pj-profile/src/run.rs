//! The program: reads a trace, adds up what it says, shows it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use console::contents::fact;
use console::memory::peak_memory;
use console::progress::Display;
use console::reading::Opened;
use console::voice::SORTED_BY_FILE;
use console::{Failure, failure};
use paje_analysis::Table;
use paje_sim::{Portion, Progress, Trace};
use splitter::Limits;
use workers::Workers;

use crate::analysis::Analysis;
use crate::cli::{Cli, Report};
use crate::output;
use crate::report::VOICE;

/// Bytes of a trace in a portion.
pub const PORTION: u64 = 16 << 20;

/// How the trace is cut; which makes no difference but to speed and memory.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// Into blocks and lines.
    pub limits: Limits,
    /// Into portions of so many bytes.
    pub portion: u64,
}

impl Default for Cuts {
    fn default() -> Self {
        Cuts { limits: Limits::default(), portion: PORTION }
    }
}

/// Runs the program; the exit status is 0, 1 for an invalid trace, 2 for usage or input/output.
#[must_use]
pub fn main(cli: &Cli) -> ExitCode {
    main_with(cli, Cuts::default())
}

/// The same, with other cuts.
#[must_use]
pub fn main_with(cli: &Cli, cuts: Cuts) -> ExitCode {
    failure::exit(VOICE, profile(cli, cuts))
}

/// Whether the trace is as it should be.
fn profile(cli: &Cli, cuts: Cuts) -> Result<bool, Failure> {
    if let Some((option, whose)) = cli.out_of_place() {
        let report = cli.report().name();
        return Err(Failure::Other(format!("{option} is for {whose}, not for {report}")));
    }
    let workers = cli.parallel.workers()?;
    let read = read(cli, &cli.files(), cuts, &workers)?;
    output::write(cli, &read.title(), &read.table)?;
    Ok(read.is_sound)
}

/// What was read.
struct Read {
    name: PathBuf,
    end: f64,
    table: Table,
    is_sound: bool,
}

impl Read {
    /// What stands above tables for people.
    fn title(&self) -> String {
        format!("{}, until {} s", self.name.display(), self.end)
    }
}

fn read(cli: &Cli, files: &[PathBuf], cuts: Cuts, workers: &Workers) -> Result<Read, Failure> {
    let began = Instant::now();
    let further = files.get(1..).unwrap_or_default();
    if further.iter().any(|file| file == Path::new("-")) {
        let why = "-: standard input can only be the first file of a trace in several";
        return Err(Failure::Other(why.into()));
    }
    let opened = Opened::open(files.first().map(PathBuf::as_path), VOICE)?;
    let name = opened.name().to_owned();
    let options = cli.options(cuts.limits);
    let progress = Arc::new(Progress::default());
    let shown = Display::new(!cli.no_progress, began).replay(&opened.input, &progress, None);
    let file = opened.file.clone();
    let folders = cli.named.folders(files.iter().map(PathBuf::as_path))?;
    // What is mended may change what was seen before.
    let mut analysis = Analysis::of_portions(cli).filter(|_| !cli.recover);
    let trace = opened.read(|mut source| {
        source = source.followed_by(further.to_vec());
        if let Some(folders) = folders {
            source = source.reading_files(file, folders);
        }
        match &mut analysis {
            Some(analysis) => {
                let mut see = |portion: &Portion<'_>| {
                    analysis.see(portion.trace(), workers);
                    ControlFlow::Continue(())
                };
                let portion = cuts.portion;
                Trace::read_in_portions(source, &options, workers, &progress, portion, &mut see)
            }
            None => Trace::read_with(source, &options, workers, &progress),
        }
    });
    drop(shown);
    let trace = trace?;
    let analysis = analysis.unwrap_or_else(|| {
        let mut analysis = Analysis::of_whole(cli, &trace);
        workers.run(|| analysis.see(&trace, workers));
        analysis
    });
    let table = analysis.table(&trace, cli.top);
    if !cli.warnings.no_warnings {
        VOICE.warnings(&name, &trace);
        unmet(cli, &trace);
    }
    if cli.stats {
        stats(&trace, workers, began);
    }
    let hint = match cli.sort {
        true => SORTED_BY_FILE,
        false => "with `--sort` events that come too late are kept",
    };
    VOICE.recovered(&name, &trace, "reported", hint);
    let is_sound = trace.recovered().problems.is_empty();
    Ok(Read { name, end: trace.end(), table, is_sound })
}

/// Warns of patterns that nothing matches.
fn unmet(cli: &Cli, trace: &Trace) {
    let selected = cli.selection().resolve(trace);
    for glob in selected.unmet_types() {
        VOICE.say(format_args!("warning: no type of the trace matches {glob}"));
    }
    for glob in selected.unmet_containers() {
        VOICE.say(format_args!("warning: no container of the trace matches {glob}"));
    }
}

/// Tells what was read, and what that took.
fn stats(trace: &Trace, workers: &Workers, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    let mut text = String::new();
    for (name, count) in [
        ("bytes", trace.bytes()),
        ("lines", trace.lines()),
        ("events", trace.event_lines()),
        ("containers", trace.containers().len() as u64 - 1),
        ("types", trace.types().len() as u64 - 1),
        ("threads", workers.threads() as u64),
    ] {
        text += &fact(name, format_args!("{count}"));
    }
    text += &fact("seconds", format_args!("{seconds:.3}"));
    if let Some(memory) = peak_memory() {
        text += &fact("memory", format_args!("{:.1} MB", memory as f64 / 1e6));
    }
    VOICE.print(&text);
}

/// The report, as this program would write it; for tests.
///
/// # Errors
/// Why the program would fail.
#[doc(hidden)]
pub fn bytes(cli: &Cli, cuts: Cuts) -> Result<Vec<u8>, Failure> {
    let workers = cli.parallel.workers()?;
    let read = read(cli, &cli.files(), cuts, &workers)?;
    let mut out = Vec::new();
    output::format(cli, &read.title(), &read.table, output::Screen::plain(100), &mut out)
        .map_err(Failure::Output)?;
    Ok(out)
}

#[allow(dead_code)]
fn is_compare(cli: &Cli) -> bool {
    cli.report() == Report::Compare
}

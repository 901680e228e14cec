//! Reports stored in a packed trace. They can be read without a replay.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use paje_analysis::kept::{self, Kept, LANES, Lanes};
use paje_console::options::{Accepted, LongestLine, NamedFiles, Patterns, Reading, Span};
use paje_pack::Summaries;
use paje_sim::ValueNames;
use splitter::Limits;

use crate::cli::{Cli, Report};

pub(crate) struct Found {
    pub(crate) kept: Kept,
    /// Size of the file in bytes, and number of bytes read from it.
    pub(crate) bytes: (u64, u64),
}

/// Returns the requested report if a packed trace stores it. If not, or if it is damaged, the
/// caller replays the trace, and the replay reports any problem.
pub(crate) fn find(cli: &Cli, files: &[PathBuf]) -> Option<Found> {
    let [file] = files else { return None };
    if !is_as_kept(cli) {
        return None;
    }
    let mut summaries = Summaries::new(regular(file)?).ok()?;
    let name = cli.report().name();
    let content = summaries.get(&name, kept::VERSION).ok()??;
    Some(Found { kept: Kept::parse(&name, &content)?, bytes: summaries.bytes() })
}

pub(crate) fn lanes(files: &[PathBuf]) -> Option<Lanes> {
    let [file] = files else { return None };
    let mut summaries = Summaries::new(regular(file)?).ok()?;
    Lanes::parse(&summaries.get(LANES, kept::VERSION).ok()??)
}

/// Opens a file, except a pipe, because pipes cannot be read twice.
fn regular(file: &Path) -> Option<File> {
    let is_file = file != Path::new("-") && fs::metadata(file).is_ok_and(|it| it.is_file());
    is_file.then(|| File::open(file))?.ok()
}

/// Returns whether the options request a stored report. The pattern lists all options, so that a
/// new one cannot be overlooked.
fn is_as_kept(cli: &Cli) -> bool {
    let Cli {
        by,
        bytes,
        live,
        quotes,
        span,
        patterns,
        units,
        reading,
        html,
        svg,
        // These options belong to reports that are not stored.
        bins: _,
        inclusive: _,
        classes: _,
        map: _,
        group: _,
        root: _,
        eager: _,
        tasks: _,
        graph: _,
        // These options only affect the output.
        words: _,
        top: _,
        formatted: _,
        coloured: _,
        output: _,
        picture: _,
        value: _,
        grid: _,
        parallel: _,
        memory: _,
        talk: _,
        about: _,
    } = cli;
    let Reading {
        accepted: Accepted { no_strict, ignore_incomplete_links, sort },
        recover,
        named: NamedFiles { no_files, files_from },
        longest: LongestLine { max_line },
    } = reading;
    let reads_otherwise =
        *no_strict || *ignore_incomplete_links || *sort || *recover || *no_files || *live;
    let Span { start, end } = span;
    let Patterns { of_type, inside } = patterns;
    // Pictures need the colours of values, which only the trace has.
    matches!(cli.report(), Report::States | Report::Comm)
        && svg.is_none()
        && html.is_none()
        && by.as_deref().is_none_or(|by| by == "value" && cli.report() == Report::States)
        && units.time_unit.is_none()
        && bytes.is_none()
        && quotes.value_names() == ValueNames::Bare
        && start.is_none()
        && end.is_none()
        && of_type.is_empty()
        && inside.is_empty()
        && !reads_otherwise
        && files_from.is_empty()
        && *max_line == Limits::default().line
}

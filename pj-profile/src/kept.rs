//! Reports stored in a packed trace, which can be read without a replay.

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
    /// Size of the file, and number of bytes that have been read.
    pub(crate) bytes: (u64, u64),
}

/// Returns the requested report if a packed trace stores it. If the report is missing or damaged,
/// the trace is replayed afterwards, and the replay reports any problem.
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

/// Returns the lanes with states, if a packed trace stores them.
pub(crate) fn lanes(files: &[PathBuf]) -> Option<Lanes> {
    let [file] = files else { return None };
    let mut summaries = Summaries::new(regular(file)?).ok()?;
    Lanes::parse(&summaries.get(LANES, kept::VERSION).ok()??)
}

/// Opens the file unless it is a pipe, which cannot be read twice.
fn regular(file: &Path) -> Option<File> {
    let is_file = file != Path::new("-") && fs::metadata(file).is_ok_and(|it| it.is_file());
    is_file.then(|| File::open(file))?.ok()
}

/// Returns whether the options request a stored report. The pattern lists all options, so that none
/// is forgotten.
fn is_as_kept(cli: &Cli) -> bool {
    let Cli {
        by,
        level,
        bytes,
        live,
        quotes,
        span,
        patterns,
        reading,
        // Options of reports that are not stored.
        bins: _,
        inclusive: _,
        classes: _,
        map: _,
        group: _,
        root: _,
        eager: _,
        dot: _,
        // Options of the output.
        words: _,
        top: _,
        format: _,
        output: _,
        html: _,
        svg: _,
        picture: _,
        value: _,
        grid: _,
        parallel: _,
        memory: _,
        stats: _,
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
    matches!(cli.report(), Report::States | Report::Comm)
        && by.as_deref().is_none_or(|by| by == "value")
        && level.is_none()
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

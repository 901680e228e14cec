//! The checker: a sequential replay that reports problems and continues.
//!
//! # Order of checks
//! The first failed check determines the message. A line has at most one error, unless it destroys
//! a container and so ends others. The checks have the same order as in `paje-sim`, so both have
//! the same first error:
//!
//! 1. the line alone: its number, fields, time, variable value and colour;
//! 2. the names: the type and its nature, the container, whether the type belongs there, and the
//!    container at a link's end. Undefined values are created;
//! 3. the lane (container and type): keys, time order, empty stacks.
//!
//! # Recovery
//! - A definition with a faulty line is kept if it is known which field is faulty. A field of
//!   unknown type becomes a string. Otherwise the definition is dropped, and events that use it are
//!   skipped.
//! - An event inside a definition ends the definition.
//! - A faulty event is skipped.
//! - If a type or container could not be created, lines that name it are skipped and counted.
//! - A container whose parent has the wrong type is created. If the parent is unknown, the
//!   container is created in the root.
//! - An addition to an unset variable sets the variable.
//! - A link whose ends do not match, or that comes too early, is treated as complete.
//! - A destruction that comes too early takes place at the time of the container's last event.
//! - Links that are open at the end of their container are dropped.
//! - If a line that names a file is faulty, the file is still read.
//! - A file that cannot be read is left out.
//! - A file that names itself, directly or indirectly, is not read again.
//!
//! The same problem with the same name, definition or lane is reported once, with a count.
//!
//! # Traces in several files
//! lang-paje 1.3.1, "Parallel reading", leaves much open. This checker and `paje-sim` use these
//! rules:
//!
//! - A file is read once, when the first file that names it has ended, after files named earlier.
//! - A file starts with the event definitions in effect at the end of the file that names it. The
//!   first `%EventDef` in the file replaces all of them.
//! - A file may repeat these lines of other files, each of them once: the definition of a type or a
//!   value, the creation of a container, and its destruction at the same time. Differences are
//!   errors, as in one file. A later destruction is ignored with a warning.
//! - After a destruction, later lines *of the same file* for the container are ignored. Lines of
//!   other files count, and lanes end when everything has been read. If no file was named before
//!   the destruction, it holds for all files.
//! - Lanes see their events in the order of reading.

mod closing;
mod containers;
mod definitions;
mod endings;
mod event;
mod files;
mod findings;
mod header;
mod lanes;
mod linking;
mod links;
mod model;
mod options;
mod place;
mod register;
pub(crate) mod sound;
mod source;
mod stop;
mod things;
mod types;
mod world;

use std::io::{self, Read};
use std::path::Path;

use paje_parser::{Span, token};
use paje_sim::error::{EventName, Problem, WarningKind};
use splitter::{BYTE_ORDER_MARK, Folders, Input};

use crate::finding::{Cause, Caution, Finding, Severity};
use crate::input::{Lines, Piece};
use crate::summary::Summary;
use definitions::Definitions;
pub use files::FileRead;
use files::Files;
use findings::{Findings, Group, Listed};
use header::Header;
pub use lanes::Disorder;
use model::Model;
pub use options::{Options, Rules};
use place::Here;
use source::Source;

/// Result of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Findings in the order of files and lines. Findings without a line are at the end of their
    /// file. Errors that only the end of the trace reveals come last, even if they have a position.
    /// An example is an error about a container that was destroyed after a file was named.
    pub findings: Vec<Finding>,
    /// Files in the order of reading: the trace, then the named files.
    pub files: Vec<FileRead>,
    /// Number of errors. Each line counts.
    pub errors: u64,
    /// Number of warnings. Each line counts.
    pub warnings: u64,
    /// Number of warnings, except about unused definitions and of [allowed](Options::allowed) kinds.
    pub doubts: u64,
    /// Number of errors without a finding, because the list is full.
    pub unlisted_errors: u64,
    /// Number of warnings without a finding, because the list is full.
    pub unlisted_warnings: u64,
    /// Events out of time order.
    pub disorder: Disorder,
    /// Contents of the trace.
    pub summary: Summary,
}

impl Report {
    /// Returns whether there are no errors.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.errors == 0
    }

    /// Returns the first error, at which a replay would stop.
    #[must_use]
    pub fn first_error(&self) -> Option<&Finding> {
        let mut all = self.findings.iter();
        all.find(|finding| finding.severity == Severity::Error)
    }
}

/// Checks an input. Files that it names are not read, with a warning.
///
/// # Errors
/// The input cannot be read. Problems of the trace are in the report.
pub fn check(input: impl Read, options: &Options) -> io::Result<Report> {
    let mut checker = Checker::new(options);
    checker.read(input)?;
    Ok(checker.finish())
}

/// Checks a trace and the files below `folders` that it names. `path` is the path of the input, or
/// `-` for standard input. Names of files are relative to its folder.
///
/// # Errors
/// The input itself cannot be read. Named files that cannot be read are in the report.
pub fn check_files(
    input: Input,
    path: &Path,
    folders: Option<&Folders>,
    options: &Options,
) -> io::Result<Report> {
    check_files_with(input, path, folders, options, &mut |_| {})
}

/// Checks a trace as [`check_files`] does, and calls `opened` for each file before its lines are
/// checked.
pub fn check_files_with(
    input: Input,
    path: &Path,
    folders: Option<&Folders>,
    options: &Options,
    opened: &mut dyn FnMut(&Input),
) -> io::Result<Report> {
    let again = |input: &Input| input.size().is_some();
    let mut checker = Checker::new(options);
    let again_first = again(&input) && path != Path::new("-");
    checker.model.world.files = Files::of(path, again_first, folders);
    opened(&input);
    checker.read(input)?;
    checker.end_of_file();
    while let Some(named) = checker.model.world.files.next() {
        let read = named.open().and_then(|input| {
            opened(&input);
            checker.model.world.files.begin(&named, again(&input));
            checker.header = named.header.as_ref().map_or_else(
                || Header::new(options.field_names),
                |header| header.inherit(&mut checker.definitions),
            );
            (checker.ended, checker.is_shown) = (false, false);
            checker.read(input)
        });
        if let Err(error) = read {
            checker.findings.add(named.unreadable(&error), None);
        }
        checker.end_of_file();
    }
    Ok(checker.finish())
}

/// Checks a trace line by line. Its memory is bounded by the trace's definitions (types, values,
/// containers, lanes, keys of links, open states), not by its length.
#[derive(Debug)]
pub struct Checker {
    options: Options,
    header: Header,
    definitions: Definitions,
    model: Model,
    findings: Findings,
    words: Vec<Span>,
    /// Number of lines of the current file, and whether the file has ended.
    lines: u64,
    bytes: u64,
    ended: bool,
    /// Whether the current file ends inside a line or a definition.
    truncated: bool,
    /// Whether text of the current file may be shown. It may if the file is the trace itself, or
    /// has had a valid line. Otherwise the file may contain anything.
    is_shown: bool,
}

impl Checker {
    /// Creates a checker.
    #[must_use]
    pub fn new(options: &Options) -> Self {
        Checker {
            options: options.clone(),
            header: Header::new(options.field_names),
            definitions: Definitions::default(),
            model: Model::new(options),
            findings: Findings::new(options),
            words: Vec::new(),
            lines: 0,
            bytes: 0,
            ended: false,
            truncated: false,
            is_shown: true,
        }
    }

    fn read(&mut self, input: impl Read) -> io::Result<()> {
        let mut lines = Lines::new(input, self.options.longest_line);
        loop {
            let errors = self.findings.errors();
            match lines.next()? {
                Piece::Line(line) => self.line(line),
                Piece::TooLong(bytes) => self.line_too_long(bytes),
                Piece::End => return Ok(()),
            }
            self.truncated = lines.lacks_newline() && self.findings.errors() > errors;
        }
    }

    fn here<'a>(&self, text: &'a [u8]) -> Here<'a> {
        let file = self.model.world.files.current();
        Here { file, line: self.lines, start: self.bytes, text, hidden: !self.is_shown }
    }

    /// Checks the next line, without its newline.
    pub fn line(&mut self, line: &[u8]) {
        if line.len() > self.options.longest_line.min(Options::LONGEST_LINE) {
            return self.line_too_long(line.len() as u64);
        }
        if self.lines == 0 && line.starts_with(BYTE_ORDER_MARK) {
            return self.marked_line(line);
        }
        self.plain_line(line);
    }

    #[cold]
    fn marked_line(&mut self, line: &[u8]) {
        let here = Here { line: 1, ..self.here(line) };
        let cause =
            Cause::Caution(Caution::Replay { kind: WarningKind::ByteOrderMark, event: None });
        let span = Span { start: 0, end: BYTE_ORDER_MARK.len() as u32 };
        self.findings.add(here.finding(Severity::Warning, cause, span), None);
        let mut blanked = line.to_vec();
        blanked[..BYTE_ORDER_MARK.len()].fill(b' ');
        self.plain_line(&blanked);
    }

    fn plain_line(&mut self, line: &[u8]) {
        self.words.clear();
        let end = token::fields(line, 0, &mut self.words);
        let text = &line[..end];
        self.lines += 1;
        let here = self.here(text);
        self.bytes += line.len() as u64 + 1;
        let Some(number) = self.words.first() else {
            return;
        };
        if text[number.start as usize] == b'%' {
            self.is_shown |= self.header.line(&here, &mut self.definitions, &mut self.findings);
            return;
        }
        if self.header.defs().is_open() {
            let all = &mut self.definitions;
            self.header.interrupted(&here, *number, all, &mut self.findings);
        }
        self.event(&here);
    }

    /// Notes a line of this many bytes, which was skipped because it is too long.
    pub fn line_too_long(&mut self, bytes: u64) {
        self.lines += 1;
        let here = self.here(b"");
        self.bytes += bytes + 1;
        let limit = self.options.longest_line.min(Options::LONGEST_LINE);
        let problem = Problem::LineTooLong { bytes: limit as u64 };
        let mut finding = here.finding(Severity::Error, Cause::Problem(problem), Span::default());
        finding.excerpt = None;
        self.findings.add(finding, None);
    }

    fn end_of_file(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let file = self.model.world.files.current();
        if file == 0 && self.lines == 0 {
            self.findings.at_end(Problem::EmptyTrace, None);
        }
        let errors = self.findings.errors();
        self.header.finish(file, &mut self.findings);
        let truncated = std::mem::take(&mut self.truncated) || self.findings.errors() > errors;
        let (lines, bytes) = (self.lines, self.bytes.saturating_sub(1));
        self.model.world.files.end(&mut self.header, (lines, bytes, truncated));
        (self.lines, self.bytes) = (0, 0);
    }

    /// Ends the trace and returns the report.
    #[must_use]
    pub fn finish(mut self) -> Report {
        self.end_of_file();
        self.model.finish(&mut self.findings);
        self.definitions.report_unused(&mut self.findings);
        self.report()
    }

    fn report(mut self) -> Report {
        let files = std::mem::take(&mut self.model.world.files.read);
        let mut summary = Summary {
            lines: files.iter().map(|file| file.lines).sum(),
            bytes: files.iter().map(|file| file.bytes).sum(),
            event_definitions: self.definitions.len() as u64,
            ..Summary::default()
        };
        let disorder = self.model.disorder();
        self.model.summarise(&mut summary);
        let Listed { findings, errors, warnings, doubts } = self.findings.listed();
        Report {
            findings,
            files,
            errors: errors.all,
            warnings: warnings.all,
            doubts,
            unlisted_errors: errors.unlisted,
            unlisted_warnings: warnings.unlisted,
            disorder,
            summary,
        }
    }
}

//! The checker: a sequential replay that notes what is wrong and goes on.
//!
//! # Order of checks
//! The first check that fails decides what is told of a line; there is one error a line, except
//! where a destroyed container takes others with it. The order is the same as in `paje-sim`, whose
//! first error is the first error here:
//!
//! 1. the line by itself: its number, its fields, its time, the value of a variable, the colour;
//! 2. what it names: type, the type's nature, container, whether the type belongs there, the
//!    container at a link's end; values that no one defined come into being;
//! 3. what it does to its lane (container and type): keys, the time's order, empty stacks.
//!
//! # How it goes on
//! | after | the checker |
//! |---|---|
//! | a faulty line of a definition | keeps the definition if the field's place is known (a field of unknown type is a string), else drops it, and skips the events that use it |
//! | an event inside a definition | ends the definition there |
//! | a faulty event | skips it |
//! | a type or a container that could not be made | skips what names it, counting the lines |
//! | a container in a place where its type does not belong, or in an unknown one | makes it, the latter in the root |
//! | an addition to a variable without a value | takes it for a setting |
//! | a link whose ends do not match, or that comes too early | takes it for complete |
//! | a destruction that comes too early | destroys the container at the time of its last event |
//! | links that are open when their container ends | drops them |
//! | a faulty line that names a file | reads the file all the same |
//! | a file that cannot be read (on) | goes on with the next one |
//! | a file that leads back to itself | does not read it again |
//!
//! The same problem with the same name, definition or lane is told once, with a count.
//!
//! # Traces in many files
//! lang-paje 1.3.1, "Parallel reading", leaves much open. What holds here and in `paje-sim`:
//!
//! - A file is read when the one that named it first has ended, after those named earlier. It is read once.
//! - It begins with the event definitions that its namer had at the end, and its own first `%EventDef` puts
//!   these away.
//! - It may say once, silently, what another file has said: a type, a value, the creation of a container, its
//!   destruction at the same time. What differs is an error, as in one file; a later destruction is ignored
//!   with a warning.
//! - A destruction makes later lines *of its file* for the container be ignored. Those of other files count,
//!   and lanes end when everything has been read; but a destruction before any file was named holds for all.
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
    /// In the order of files and lines; at the end of each file what is in no line of it. Last come the errors
    /// that only the end of the whole trace tells, also those with a place: of containers destroyed
    /// after a file was named.
    pub findings: Vec<Finding>,
    /// Files that were read, in this order: the trace itself, then those that it names.
    pub files: Vec<FileRead>,
    /// The number of errors, each line counted.
    pub errors: u64,
    /// The number of warnings, each line counted.
    pub warnings: u64,
    /// Those errors that no finding stands for, because there are more than were to be kept.
    pub unlisted_errors: u64,
    /// Those warnings that no finding stands for.
    pub unlisted_warnings: u64,
    /// Number of events that are not in time order, and of their lanes.
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

    /// The first error of the list: what a replay would stop at.
    #[must_use]
    pub fn first_error(&self) -> Option<&Finding> {
        let mut all = self.findings.iter();
        all.find(|finding| finding.severity == Severity::Error)
    }
}

/// Checks a whole input. Files that it names are not read, which is a warning.
///
/// # Errors
/// The input cannot be read. What is wrong with the trace is in the report.
pub fn check(input: impl Read, options: &Options) -> io::Result<Report> {
    let mut checker = Checker::new(options);
    checker.read(input)?;
    Ok(checker.finish())
}

/// Checks a trace and, if there are `folders`, the files below them that it names. `path` is what the input
/// was opened from, `-` for standard input; names of files are relative to its folder.
///
/// # Errors
/// The input itself cannot be read. That a file cannot be read is in the report.
pub fn check_files(
    input: Input,
    path: &Path,
    folders: Option<&Folders>,
    options: &Options,
) -> io::Result<Report> {
    check_files_with(input, path, folders, options, &mut |_| {})
}

/// The same; `opened` is called for each file before its lines are checked.
///
/// # Errors
/// The input itself cannot be read. That a file cannot be read is in the report.
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

/// Checks a trace line by line. Its memory is bounded by what the trace describes (types, values,
/// containers, lanes, keys of links, open states), not by its length.
#[derive(Debug)]
pub struct Checker {
    options: Options,
    header: Header,
    definitions: Definitions,
    model: Model,
    findings: Findings,
    words: Vec<Span>,
    /// Those of the file at hand, and whether it has ended.
    lines: u64,
    bytes: u64,
    ended: bool,
    /// The file at hand is the trace itself, or a line of it has been right by itself: before that, nothing of
    /// what a trace names is shown, which may be anything.
    is_shown: bool,
}

impl Checker {
    /// A checker that has seen nothing yet.
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
            is_shown: true,
        }
    }

    /// Checks the lines of an input.
    fn read(&mut self, input: impl Read) -> io::Result<()> {
        let mut lines = Lines::new(input, self.options.longest_line);
        loop {
            match lines.next()? {
                Piece::Line(line) => self.line(line),
                Piece::TooLong(bytes) => self.line_too_long(bytes),
                Piece::End => return Ok(()),
            }
        }
    }

    /// The line at hand.
    fn here<'a>(&self, text: &'a [u8]) -> Here<'a> {
        let file = self.model.world.files.current();
        Here { file, line: self.lines, start: self.bytes, text, hidden: !self.is_shown }
    }

    /// Checks the next line, given without its newline.
    pub fn line(&mut self, line: &[u8]) {
        if line.len() > self.options.longest_line.min(Options::LONGEST_LINE) {
            return self.line_too_long(line.len() as u64);
        }
        if self.lines == 0 && line.starts_with(BYTE_ORDER_MARK) {
            return self.marked_line(line);
        }
        self.plain_line(line);
    }

    /// A first line with a byte order mark, which is passed over.
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

    /// Notes a line of this many bytes that was not read.
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

    /// The file at hand has no more lines.
    fn end_of_file(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let file = self.model.world.files.current();
        if file == 0 && self.lines == 0 {
            self.findings.at_end(Problem::EmptyTrace, None);
        }
        self.header.finish(file, &mut self.findings);
        let (lines, bytes) = (self.lines, self.bytes.saturating_sub(1));
        self.model.world.files.end(&mut self.header, lines, bytes);
        (self.lines, self.bytes) = (0, 0);
    }

    /// Ends the trace, and tells what was found.
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
        let Listed { findings, errors, warnings } = self.findings.listed();
        Report {
            findings,
            files,
            errors: errors.all,
            warnings: warnings.all,
            unlisted_errors: errors.unlisted,
            unlisted_warnings: warnings.unlisted,
            disorder,
            summary,
        }
    }
}

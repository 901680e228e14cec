//! What is wrong or doubtful in a window, and where.

use std::collections::BTreeMap;

use memchr::memchr_iter;
use paje_parser::{ByteOffset, FieldName, Position, Span, token};

use crate::engine::round::DecodedBlock;
use crate::input::feed::Feed;
use crate::names::error::{Error, ErrorKind, EventName, Place, Problem, Warning, WarningKind};
use crate::resolve::{Stop, Where};

/// A problem, and the byte where its line begins.
pub(crate) struct Found {
    pub(crate) at: u64,
    pub(crate) error: Error,
}

pub(crate) fn earliest(one: Option<Found>, other: Option<Found>) -> Option<Found> {
    one.into_iter().chain(other).min_by_key(|found| found.at)
}

/// The byte of the first of these problems; the end of all bytes if there is none.
pub(crate) fn earliest_byte(all: &[&Option<Found>]) -> u64 {
    all.iter().filter_map(|found| found.as_ref()).map(|found| found.at).min().unwrap_or(u64::MAX)
}

impl Found {
    pub(crate) fn line_too_long(start: ByteOffset, limit: usize, line: u64) -> Self {
        let position = Position { byte: start, line, column: 1 };
        let place = Place { file: None, position, text: Vec::new() };
        let problem = Problem::LineTooLong { bytes: limit as u64 };
        Found { at: start.0, error: Error::invalid(problem, Some(place)) }
    }

    pub(crate) fn in_block(block: &DecodedBlock, stop: Stop) -> Self {
        let before = &block.text.text()[..stop.line as usize];
        let lines = block.lines_before + 1 + memchr_iter(b'\n', before).count() as u64;
        let mut place = place(block, stop.line, stop.what, lines);
        let at = block.text.start().0 + u64::from(stop.line);
        if stop.line < block.shown_from {
            place.text = Vec::new();
            return Found { at, error: Error::invalid(Problem::NotATrace, Some(place)) };
        }
        let why = match stop.why {
            ErrorKind::Invalid(problem) => {
                ErrorKind::Invalid(problem.of_event(|| event_of(block, stop.line)))
            }
            other => other,
        };
        Found { at, error: Error::new(why, Some(place)) }
    }
}

/// What was doubtful so far.
#[derive(Debug, Default)]
pub(crate) struct Warnings(BTreeMap<(WarningKind, Vec<u8>), Warning>);

impl Warnings {
    /// A warning about the line of an event.
    pub(crate) fn add_line(&mut self, block: &DecodedBlock, kind: WarningKind, line: u32) {
        self.add(block, kind, number_of(block, line), line);
    }

    /// A warning about the file that begins with this block.
    pub(crate) fn add_file(&mut self, block: &DecodedBlock, kind: WarningKind) {
        self.add(block, kind, Vec::new(), 0);
    }

    pub(crate) fn add(
        &mut self,
        block: &DecodedBlock,
        kind: WarningKind,
        number: Vec<u8>,
        line: u32,
    ) {
        if let Some(known) = self.0.get_mut(&(kind, number.clone())) {
            known.count += 1;
            return;
        }
        let event = if number.is_empty() { None } else { event_of(block, line) };
        let text = &block.text;
        let first = block.lines_before + 1;
        let first = Position::within(text.text(), line as usize, text.start(), first);
        let warning = Warning {
            kind,
            event,
            file: block.origin.path.clone(),
            file_number: block.origin.file,
            first_line: first.line,
            count: 1,
        };
        self.0.insert((kind, number), warning);
    }

    /// All of them, with the lines of the trace that `feed` reads.
    pub(crate) fn into_list(self, feed: &Feed<'_>) -> Vec<Warning> {
        let placed = |warning: Warning| {
            let line = warning.first_line;
            let position = Position { byte: ByteOffset(0), line, column: 1 };
            let first_line = feed.original(warning.file.as_deref(), position).line;
            Warning { first_line, ..warning }
        };
        self.0.into_values().map(placed).collect()
    }
}

/// The place of something in the line that begins at `line` and is its file's `number`th.
pub(crate) fn place(block: &DecodedBlock, line: u32, what: Where, number: u64) -> Place {
    let at = match what {
        Where::Byte(at) => at,
        Where::Field(field) => field_of_line(block, line, field).map_or(line, |span| span.start),
    };
    let text = &block.text.text()[line as usize..];
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let position = Position {
        byte: ByteOffset(block.text.start().0 + u64::from(at) - block.origin.start),
        line: number,
        column: u64::from(at - line) + 1,
    };
    Place { file: block.origin.path.clone(), position, text: text[..end].to_vec() }
}

/// The column, in bytes from 1, of a field of the line that begins at `line`.
pub(crate) fn column_of(block: &DecodedBlock, line: u32, field: FieldName) -> u64 {
    let span = field_of_line(block, line, field);
    span.map_or(1, |span| u64::from(span.start - line) + 1)
}

pub(crate) fn field_of_line(block: &DecodedBlock, line: u32, field: FieldName) -> Option<Span> {
    let (words, defs) = (words_of(block, line), block.defs_at(line)?);
    let def = defs.find(words.first()?.of(block.text.text()).bare())?;
    let word = defs.defs()[def].word_of(field)?;
    words.get(word).copied()
}

/// The number that the line which begins at `line` calls its event by.
fn number_of(block: &DecodedBlock, line: u32) -> Vec<u8> {
    let words = words_of(block, line);
    words.first().map_or(Vec::new(), |word| word.of(block.text.text()).bare().to_vec())
}

/// The event of the line that begins at `line`; `None` if no definition stands for it.
pub(crate) fn event_of(block: &DecodedBlock, line: u32) -> Option<EventName> {
    let (number, defs) = (number_of(block, line), block.defs_at(line)?);
    let kind = defs.defs()[defs.find(&number)?].kind();
    Some(EventName { kind, number })
}

fn words_of(block: &DecodedBlock, line: u32) -> Vec<Span> {
    let mut words = Vec::new();
    token::fields(block.text.text(), line as usize, &mut words);
    words
}

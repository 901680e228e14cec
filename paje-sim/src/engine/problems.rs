//! What is wrong or doubtful in a window, and where.

use std::collections::BTreeMap;

use memchr::memchr_iter;
use paje_parser::{ByteOffset, FieldName, LinkEnd, Position, Span, token};

use super::Engine;
use super::feed::Feed;
use super::resolve::{Stop, Where};
use super::strand::{Refusal, Refused};
use super::window::{DecodedBlock, Window};
use crate::error::{Error, ErrorKind, EventName, Place, Problem, Warning, WarningKind};
use crate::ledger::Mended;
use crate::model::{Ending, Failed};

/// A problem, and the byte where its line begins.
pub(super) struct Found {
    pub(super) at: u64,
    pub(super) error: Error,
}

pub(super) fn earliest(one: Option<Found>, other: Option<Found>) -> Option<Found> {
    one.into_iter().chain(other).min_by_key(|found| found.at)
}

/// The byte of the first of these problems; the end of all bytes if there is none.
pub(super) fn earliest_byte(all: &[&Option<Found>]) -> u64 {
    all.iter().filter_map(|found| found.as_ref()).map(|found| found.at).min().unwrap_or(u64::MAX)
}

impl Found {
    pub(super) fn line_too_long(start: ByteOffset, limit: usize, line: u64) -> Self {
        let position = Position { byte: start, line, column: 1 };
        let place = Place { file: None, position, text: Vec::new() };
        let problem = Problem::LineTooLong { bytes: limit as u64 };
        Found { at: start.0, error: Error::invalid(problem, Some(place)) }
    }

    pub(super) fn in_block(block: &DecodedBlock, stop: Stop) -> Self {
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

impl Engine<'_> {
    /// The problem of the field of the line that begins at a byte of the window.
    pub(super) fn found_at(
        &self,
        window: &Window,
        at: u64,
        field: FieldName,
        problem: Problem,
    ) -> Option<Found> {
        let block = window.block_of(at)?;
        let line = (at - block.text.start().0) as u32;
        Some(Found::in_block(block, Stop::at_field(line, (field, problem))))
    }

    /// The first problem of the window that a lane found.
    pub(super) fn refused(&mut self, window: &Window) -> Option<Found> {
        let first = self.lanes.take_refused();
        first.and_then(|refused| {
            let block = window.block_of(refused.at)?;
            let (field, problem) = self.explain(&refused, block);
            self.found_at(window, refused.at, field, problem)
        })
    }

    /// The sentence for an event that a lane refused.
    pub(super) fn explain(&self, refused: &Refusal, block: &DecodedBlock) -> Failed {
        let lane = self.model.lanes[refused.lane.index()];
        let container = || self.model.containers.named(lane.container);
        let type_ = || self.model.types.named(lane.type_);
        let line = (refused.at - block.text.start().0) as u32;
        let word = |field| {
            let span = field_of_line(block, line, field);
            span.map_or(Vec::new(), |span| span.of(block.text.text()).bare().to_vec())
        };
        match refused.why {
            Refused::Earlier(last) | Refused::LateLink(last) => {
                let (time, container, type_) = (refused.time, container(), type_());
                (FieldName::Time, Problem::NotTimeOrdered { time, last, container, type_ })
            }
            Refused::Nowhere(end) => {
                let field = match end {
                    LinkEnd::Start => FieldName::StartContainer,
                    LinkEnd::End => FieldName::EndContainer,
                };
                (field, Problem::UnknownContainer { name: word(field) })
            }
            Refused::EmptyStack => {
                let (container, type_) = (container(), type_());
                (FieldName::Container, Problem::PopOnEmpty { container, type_ })
            }
            Refused::Unset => {
                let (container, type_) = (container(), type_());
                (FieldName::Container, Problem::VariableUnset { container, type_ })
            }
            Refused::KeyRepeated(end) => {
                (FieldName::Key, Problem::KeyRepeated { key: word(FieldName::Key), end })
            }
            Refused::ValuesDiffer { value, other } => {
                let named = |value| self.model.types.named_value(lane.type_, value);
                let (value, other) = (named(value), named(other));
                let key = word(FieldName::Key);
                (FieldName::Value, Problem::LinkValuesDiffer { key, value, other })
            }
        }
    }

    /// Finds the places of the window's links whose keys may have been used before, while the text
    /// is at hand.
    pub(super) fn place_suspects(&mut self, window: &Window) {
        let (mut counted, mut lines) = (0, 0);
        for (at, suspect) in self.lanes.new_suspects() {
            let Some(block) = window.block_of(at) else { continue };
            let start = block.text.start().0;
            if counted < start || lines == 0 {
                (counted, lines) = (start, block.lines_before + 1);
            }
            let between = &block.text.text()[(counted - start) as usize..(at - start) as usize];
            lines += memchr_iter(b'\n', between).count() as u64;
            counted = at;
            let line = (at - start) as u32;
            let place = place(block, line, Where::Field(FieldName::Key), lines);
            self.lanes.place_suspect(suspect, place);
        }
    }

    /// The first link, of all lanes or of those of a container that ends, whose key was used before, and how
    /// many there are.
    pub(super) fn reused_in(&self, ending: Option<&Ending>) -> Option<(Found, u64)> {
        let found = match ending {
            Some(ending) => {
                let lanes = self.model.lanes_of(ending.container);
                self.lanes.first_reused(lanes, self.workers)
            }
            None => {
                let lanes = self.model.lane_ids().take(self.lanes.len());
                self.lanes.first_reused(lanes, self.workers)
            }
        };
        let (suspect, key, count) = found?;
        let error = Error::invalid(Problem::KeyReused { key }, suspect.place);
        Some((Found { at: suspect.at, error }, count))
    }

    /// Takes note of the window's doubtful lines.
    pub(super) fn warn(&mut self, window: &Window) {
        for block in &window.blocks {
            for line in &block.decoded.doubtful {
                let kind = if line.surplus {
                    WarningKind::SurplusWords
                } else {
                    WarningKind::MissingExtras
                };
                let number = self.tables.all()[line.def as usize].id().to_vec();
                self.warnings.add(block, kind, number, line.at);
            }
        }
        for at in self.lanes.take_ignored() {
            if let (Some(_), Some(follower)) = (&self.told, &self.follower) {
                follower.mend(at, Mended::Skipped);
            }
            if let Some(block) = window.block_of(at) {
                let line = (at - block.text.start().0) as u32;
                self.warnings.add_line(block, WarningKind::AfterDestroy, line);
            }
        }
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
    pub(super) fn add_file(&mut self, block: &DecodedBlock, kind: WarningKind) {
        self.add(block, kind, Vec::new(), 0);
    }

    fn add(&mut self, block: &DecodedBlock, kind: WarningKind, number: Vec<u8>, line: u32) {
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
    pub(super) fn into_list(self, feed: &Feed<'_>) -> Vec<Warning> {
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
pub(super) fn place(block: &DecodedBlock, line: u32, what: Where, number: u64) -> Place {
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
pub(super) fn column_of(block: &DecodedBlock, line: u32, field: FieldName) -> u64 {
    let span = field_of_line(block, line, field);
    span.map_or(1, |span| u64::from(span.start - line) + 1)
}

pub(super) fn field_of_line(block: &DecodedBlock, line: u32, field: FieldName) -> Option<Span> {
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
pub(super) fn event_of(block: &DecodedBlock, line: u32) -> Option<EventName> {
    let (number, defs) = (number_of(block, line), block.defs_at(line)?);
    let kind = defs.defs()[defs.find(&number)?].kind();
    Some(EventName { kind, number })
}

fn words_of(block: &DecodedBlock, line: u32) -> Vec<Span> {
    let mut words = Vec::new();
    token::fields(block.text.text(), line as usize, &mut words);
    words
}

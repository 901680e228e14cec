//! Creates errors about lines of blocks, with their positions.

use memchr::memchr_iter;
use paje_parser::{ByteOffset, Fault, FieldName, Position, Span, token};
use splitter::Block;

use paje_decode::decode::block::DecodedBlock;
use paje_model::model::Failed;
use paje_model::names::error::{Error, ErrorKind, EventName, Place, Problem};

pub fn earliest(one: Option<Error>, other: Option<Error>) -> Option<Error> {
    one.into_iter().chain(other).min_by_key(Error::at)
}

#[derive(Clone, Copy, Debug)]
pub enum Where {
    Byte(u32),
    Field(FieldName),
}

pub fn error_at_field(block: &DecodedBlock, line: u32, (field, problem): Failed) -> Error {
    error_in(block, line, Where::Field(field), ErrorKind::Invalid(problem))
}

pub fn error_at_fault(block: &DecodedBlock, line: u32, fault: &Fault) -> Error {
    let why = ErrorKind::Invalid(line_problem(&block.text, fault));
    error_in(block, line, Where::Byte(fault.at), why)
}

pub fn error_in(block: &DecodedBlock, line: u32, what: Where, why: ErrorKind) -> Error {
    let before = &block.text.text()[..line as usize];
    let lines = block.lines_before + 1 + memchr_iter(b'\n', before).count() as u64;
    let mut place = place(block, line, what, lines);
    let at = block.text.start().0 + u64::from(line);
    if line < block.shown_from {
        place.text = Vec::new();
        return Error::invalid(Problem::NotATrace, Some(place)).of_line_at(at);
    }
    let why = match why {
        ErrorKind::Invalid(problem) => {
            ErrorKind::Invalid(problem.of_event(|| event_of(block, line)))
        }
        other => other,
    };
    Error::new(why, Some(place)).of_line_at(at)
}

/// Returns the place of `what` in the line that begins at `line`. `number` is the line's number in its file.
pub fn place(block: &DecodedBlock, line: u32, what: Where, number: u64) -> Place {
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

/// Returns the place of the key in the line that begins at `line`, without the text of the line. The links of the
/// block must be in file order.
pub fn key_place(block: &DecodedBlock, line: u32) -> Place {
    let links = &block.decoded.links;
    let link = links.get(links.partition_point(|link| link.key_at < line));
    let at = link.map_or(line, |link| link.key_at);
    let position = Position {
        byte: ByteOffset(block.text.start().0 + u64::from(at) - block.origin.start),
        line: block.line_of(line).line,
        column: u64::from(at - line) + 1,
    };
    Place { file: block.origin.path.clone(), position, text: Vec::new() }
}

/// Returns the column of a field of the line that begins at `line`, in bytes, counted from 1.
pub fn column_of(block: &DecodedBlock, line: u32, field: FieldName) -> u64 {
    let span = field_of_line(block, line, field);
    span.map_or(1, |span| u64::from(span.start - line) + 1)
}

pub fn field_of_line(block: &DecodedBlock, line: u32, field: FieldName) -> Option<Span> {
    let (words, defs) = (words_of(block, line), block.defs_at(line)?);
    let def = defs.find(words.first()?.of(block.text.text()).bare())?;
    let word = defs.defs()[def].word_of(field)?;
    words.get(word).copied()
}

pub(super) fn number_of(block: &DecodedBlock, line: u32) -> Vec<u8> {
    let words = words_of(block, line);
    words.first().map_or(Vec::new(), |word| word.of(block.text.text()).bare().to_vec())
}

/// Returns the event of the line that begins at `line`, or `None` if the event number is undefined.
pub fn event_of(block: &DecodedBlock, line: u32) -> Option<EventName> {
    let (number, defs) = (number_of(block, line), block.defs_at(line)?);
    let kind = defs.defs()[defs.find(&number)?].kind();
    Some(EventName { kind, number })
}

fn words_of(block: &DecodedBlock, line: u32) -> Vec<Span> {
    let mut words = Vec::new();
    token::fields(block.text.text(), line as usize, &mut words);
    words
}

pub fn line_problem(block: &Block, fault: &Fault) -> Problem {
    let text = block.text();
    let word = fault.word(text).of(text).bare().to_vec();
    Problem::Line { fault: fault.kind, word, event: None }
}

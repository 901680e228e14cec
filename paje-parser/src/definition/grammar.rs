//! The grammar of `%` lines. Words are found as in any other line: see [`token`].

use nom::branch::alt;
use nom::combinator::{cut, not, opt, verify};
use nom::error::{Error, ErrorKind};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use super::{FieldDef, FieldNames, FieldType};
use crate::error::Instead;
use crate::event::FieldName;
use crate::token::{self, Field};

pub(super) enum HeaderLine<'a> {
    EventDef { name: Word<'a>, id: Word<'a> },
    Field { name: Word<'a>, kind: Option<Word<'a>> },
    End,
}

#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    /// Offset in the line of the word or its opening quote.
    pub(super) at: u32,
    pub(super) text: &'a [u8],
}

/// A line and how many of its bytes have been read.
#[derive(Clone, Copy)]
struct Rest<'a> {
    line: &'a [u8],
    at: usize,
}

type Parsed<'a, T> = IResult<Rest<'a>, T>;

fn error<T>(rest: Rest<'_>, kind: ErrorKind) -> Parsed<'_, T> {
    Err(nom::Err::Error(Error::new(rest, kind)))
}

fn percent(rest: Rest<'_>) -> Parsed<'_, ()> {
    let first = token::next_field(rest.line, rest.at).map_or(rest.at, |range| range.start);
    let is_there = rest.line.get(first) == Some(&b'%');
    Ok((Rest { at: if is_there { first + 1 } else { rest.at }, ..rest }, ()))
}

/// Reads the next word. Directly after the percent sign, quotes are part of the word, as in PajeNG
/// 1.3.6.
fn word(rest: Rest<'_>) -> Parsed<'_, Word<'_>> {
    let Rest { line, at } = rest;
    let behind_sign = at > 0 && line[at - 1] == b'%';
    let glued = if behind_sign { token::next_field(line, at - 1) } else { None };
    let (range, text) = match glued.filter(|range| range.end > at) {
        Some(range) => (at..range.end, &line[at..range.end]),
        None => match token::next_field(line, at) {
            Some(range) => (range.clone(), Field::new(&line[range]).bare()),
            None => return error(rest, ErrorKind::Eof),
        },
    };
    Ok((Rest { line, at: range.end }, Word { at: range.start as u32, text }))
}

fn keyword<'a>(
    wanted: &'static [u8],
) -> impl Parser<Rest<'a>, Output = Word<'a>, Error = Error<Rest<'a>>> {
    verify(word, move |word: &Word<'_>| word.text == wanted)
}

fn all_of(line: &[u8]) -> Rest<'_> {
    Rest { line: &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())], at: 0 }
}

pub(super) fn header_line(line: &[u8]) -> Option<HeaderLine<'_>> {
    // `cut` prevents a malformed `%EventDef` from being parsed as a field named `EventDef`.
    let name_and_id = terminated((word, word), not(word));
    let event_def = preceded(keyword(b"EventDef"), cut(name_and_id));
    let event_def = event_def.map(|(name, id)| HeaderLine::EventDef { name, id });
    let end = keyword(b"EndEventDef").map(|_| HeaderLine::End);
    let field = (word, opt(word)).map(|(name, kind)| HeaderLine::Field { name, kind });
    let parsed = preceded(percent, alt((event_def, end, field))).parse(all_of(line));
    parsed.ok().map(|(_, line)| line)
}

/// Returns the first word of a `%` line, or an empty text.
#[must_use]
pub fn keyword_of(line: &[u8]) -> &[u8] {
    let first = preceded(percent, word).parse(all_of(line));
    first.map_or(&[], |(_, word)| word.text)
}

pub(super) fn field_type(word: &[u8]) -> Option<FieldType> {
    Some(match word {
        b"date" => FieldType::Date,
        b"int" => FieldType::Int,
        b"double" => FieldType::Double,
        b"float" => FieldType::Float,
        b"hex" => FieldType::Hex,
        b"string" => FieldType::String,
        b"color" => FieldType::Color,
        _ => return None,
    })
}

/// Returns the standard field of this name.
#[must_use]
pub fn field_name(word: &[u8], names: FieldNames) -> Option<FieldName> {
    let known = FieldName::ALL.into_iter().find(|name| name.name().as_bytes() == word);
    known.or(match (names, word) {
        (FieldNames::Old, b"ContainerType" | b"EntityType") => Some(FieldName::Type),
        (FieldNames::Old, b"SourceContainerType") => Some(FieldName::StartContainerType),
        (FieldNames::Old, b"DestContainerType") => Some(FieldName::EndContainerType),
        (FieldNames::Old, b"SourceContainer") => Some(FieldName::StartContainer),
        (FieldNames::Old, b"DestContainer") => Some(FieldName::EndContainer),
        _ => None,
    })
}

/// Looks for a user-defined field that may have been meant as the `missing` field.
pub(super) fn instead(missing: FieldName, fields: &[FieldDef]) -> Instead {
    let own = || fields.iter().enumerate().filter(|(_, field)| field.known.is_none());
    let old = |name: &str| field_name(name.as_bytes(), FieldNames::Old) == Some(missing);
    if own().any(|(_, field)| old(&field.name)) {
        return Instead::OldName;
    }
    let wanted = missing.name().to_ascii_lowercase();
    let near = own().map(|(index, field)| (distance(&field.name, &wanted), index as u32 + 1));
    match near.min() {
        Some((distance, number)) if distance <= 1 + wanted.len() / 8 => Instead::Field(number),
        _ => Instead::Nothing,
    }
}

/// Returns the edit distance of two words, ignoring case.
fn distance(word: &str, wanted: &str) -> usize {
    let mut row: Vec<usize> = (0..=wanted.len()).collect();
    // All known names are shorter than 64 letters.
    for (above, letter) in word.bytes().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (at, other) in wanted.bytes().enumerate() {
            let changed = diagonal + usize::from(!letter.eq_ignore_ascii_case(&other));
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[wanted.len()]
}

//! The grammar of `%` lines.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_till1, take_while, take_while1};
use nom::character::complete::char;
use nom::combinator::{eof, map, opt, recognize};
use nom::sequence::{delimited, pair, preceded, terminated};
use nom::{IResult, Parser};

use super::{FieldNames, FieldType};
use crate::event::FieldName;
use crate::token::is_white;

/// One `%` line; the words are slices of it.
pub(super) enum HeaderLine<'a> {
    EventDef { name: &'a [u8], id: &'a [u8] },
    Field { name: &'a [u8], kind: Option<&'a [u8]> },
    End,
}

type Parsed<'a, T> = IResult<&'a [u8], T>;

fn blanks(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_while(is_white).parse(input)
}

/// A bare word, or a quoted one without its quotes.
fn word(input: &[u8]) -> Parsed<'_, &[u8]> {
    let bare = take_till1(|b| is_white(b) || b == b'#' || b == b'"');
    let quoted = delimited(char('"'), take_till(|b| b == b'"'), opt(char('"')));
    preceded(blanks, alt((quoted, bare))).parse(input)
}

/// The end of the line's words: nothing, or a comment.
fn end(input: &[u8]) -> Parsed<'_, &[u8]> {
    let comment = recognize(pair(char('#'), take_while(|_| true)));
    preceded(blanks, alt((eof, comment))).parse(input)
}

/// A keyword, which ends where a word would.
fn keyword<'a>(
    text: &'static str,
) -> impl Parser<&'a [u8], Output = (), Error = nom::error::Error<&'a [u8]>> {
    let stop = alt((take_while1(is_white), eof, nom::combinator::peek(tag("#"))));
    map(preceded(blanks, terminated(tag(text), stop)), |_| ())
}

/// `None` if the line is none of the three.
pub(super) fn header_line(line: &[u8]) -> Option<HeaderLine<'_>> {
    let (rest, _) = percent(line).ok()?;
    // A malformed `%EventDef` must not pass for a field of that name.
    let parsed = if keyword("EventDef").parse(rest).is_ok() {
        event_def(rest)
    } else {
        alt((map(keyword("EndEventDef"), |()| HeaderLine::End), field)).parse(rest)
    };
    parsed.ok().map(|(_, found)| found)
}

/// The first word of a `%` line, empty if there is none.
pub(super) fn keyword_of(line: &[u8]) -> &[u8] {
    let word = take_till(|b| is_white(b) || b == b'#');
    let found: Parsed<'_, &[u8]> = preceded((percent, blanks), word).parse(line);
    found.map_or(&[], |(_, word)| word)
}

fn percent(input: &[u8]) -> Parsed<'_, char> {
    preceded(blanks, char('%')).parse(input)
}

fn event_def(input: &[u8]) -> Parsed<'_, HeaderLine<'_>> {
    let parts = (keyword("EventDef"), word, word, end);
    map(parts, |(_, name, id, _)| HeaderLine::EventDef { name, id }).parse(input)
}

fn field(input: &[u8]) -> Parsed<'_, HeaderLine<'_>> {
    map((word, opt(word)), |(name, kind)| HeaderLine::Field { name, kind }).parse(input)
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

pub(super) fn field_name(word: &[u8], names: FieldNames) -> Option<FieldName> {
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

//! The grammar of `%` lines. Their words are found as those of any line: see [`token`].

use super::{FieldDef, FieldNames, FieldType};
use crate::error::Instead;
use crate::event::FieldName;
use crate::token::{self, Field};

/// One `%` line.
pub(super) enum HeaderLine<'a> {
    EventDef { name: Word<'a>, id: Word<'a> },
    Field { name: Word<'a>, kind: Option<Word<'a>> },
    End,
}

/// A word of a `%` line, without its quotes.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    /// Where it begins in the line, its quote included.
    pub(super) at: u32,
    pub(super) text: &'a [u8],
}

/// The first words behind the percent sign, which may stand apart or be glued to the first of them; that is bare
/// then, and its quotes are text, as in any bare word. PajeNG 1.3.6 behaviour.
fn words(line: &[u8]) -> impl Iterator<Item = Word<'_>> {
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let mut end = 0;
    let fields = std::iter::from_fn(move || {
        let range = token::next_field(line, end)?;
        end = range.end;
        Some(range)
    });
    fields.enumerate().filter_map(|(index, range)| {
        let raw = &line[range.clone()];
        let at = range.start as u32;
        match raw {
            [b'%'] if index == 0 => None,
            [b'%', glued @ ..] if index == 0 => Some(Word { at: at + 1, text: glued }),
            raw => Some(Word { at, text: Field::new(raw).bare() }),
        }
    })
}

/// `None` if the line is none of the three.
pub(super) fn header_line(line: &[u8]) -> Option<HeaderLine<'_>> {
    let mut words = words(line);
    let first = words.next()?;
    match first.text {
        // A malformed `%EventDef` must not pass for a field of that name.
        b"EventDef" => match (words.next(), words.next(), words.next()) {
            (Some(name), Some(id), None) => Some(HeaderLine::EventDef { name, id }),
            _ => None,
        },
        b"EndEventDef" => Some(HeaderLine::End),
        _ => Some(HeaderLine::Field { name: first, kind: words.next() }),
    }
}

/// The first word of a `%` line, empty if there is none.
#[must_use]
pub fn keyword_of(line: &[u8]) -> &[u8] {
    words(line).next().map_or(&[], |word| word.text)
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

/// What a definition of these fields has in the place of one that it lacks.
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

/// How many letters must be put in, left out or changed to make `wanted` of a word, whatever its case.
fn distance(word: &str, wanted: &str) -> usize {
    let mut row: Vec<usize> = (0..=wanted.len()).collect();
    // No name is so long; what is longer is far from all of them.
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

//! Faults of lines, and their messages.

use std::fmt::{self, Write};
use std::path::Path;

use crate::event::{EventKind, FieldName};
use crate::token::{self, Span};

/// A fault and its offset in a text. The type is small, so hot paths can return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset in the text.
    pub at: u32,
    /// Kind of the fault.
    pub kind: FaultKind,
}

impl Fault {
    /// Returns the offending word of `text`, the text that [`Fault::at`] refers to. At the end of a
    /// line, the word is empty. For a misplaced `%` line, it is the whole line.
    /// [`FaultKind::sentence`] shows the word.
    #[must_use]
    pub fn word(&self, text: &[u8]) -> Span {
        let start = (self.at as usize).min(text.len());
        let rest = &text[start..];
        let rest = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let length = match self.kind {
            // A lone `%` would not help the reader, so the whole line is shown.
            FaultKind::ExpectedEventDef => rest.trim_ascii_end().len(),
            _ => {
                let mut words = Vec::new();
                token::fields(rest, 0, &mut words);
                let word = words.first().filter(|word| word.start == 0);
                word.map_or(0, |word| word.end as usize)
            }
        };
        Span { start: start as u32, end: (start + length) as u32 }
    }
}

/// The ways in which a line can be wrong, alone or after the previous definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A `%` line that is neither `%EventDef NAME ID` nor inside a definition.
    ExpectedEventDef,
    /// `%EventDef` with an unknown event.
    UnknownEvent,
    /// `%EventDef` with a number that is already defined.
    RedefinedId,
    /// `%EventDef` inside an unfinished definition.
    NestedDefinition,
    /// A field whose name is `""`.
    UnnamedField,
    /// A field without a type.
    MissingFieldType,
    /// A field type other than date, int, double, float, hex, string or color.
    UnknownFieldType,
    /// A standard field that appears twice in a definition.
    RepeatedField,
    /// A definition that lacks an obligatory field.
    MissingObligatory(EventKind, FieldName, Instead),
    /// An event line, or the end of the trace, before `%EndEventDef`.
    UnfinishedDefinition,
    /// An undefined event number.
    UnknownId,
    /// A line that ends before a required field.
    MissingField(FieldName),
    /// A time that is not a finite number.
    BadTime,
    /// A variable's value that is not a number.
    BadNumber,
    /// A colour that is neither three or four numbers nor six hexadecimal digits.
    BadColor,
}

/// A field that may have been written in place of a missing obligatory field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instead {
    /// No similar field.
    Nothing,
    /// The field has the name used in older traces: see
    /// [`FieldNames::Old`](crate::FieldNames::Old).
    OldName,
    /// Number of a field with a similar name, counted from 1.
    Field(u32),
}

impl FaultKind {
    /// Returns whether the names of older traces must be enabled to read the definition.
    #[must_use]
    pub const fn is_old_name(self) -> bool {
        matches!(self, FaultKind::MissingObligatory(_, _, Instead::OldName))
    }

    /// Returns a short name for programs. It does not change between releases.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            FaultKind::ExpectedEventDef => "expected-eventdef",
            FaultKind::UnknownEvent => "unknown-event",
            FaultKind::RedefinedId => "redefined-id",
            FaultKind::NestedDefinition => "nested-definition",
            FaultKind::UnnamedField => "unnamed-field",
            FaultKind::MissingFieldType => "missing-field-type",
            FaultKind::UnknownFieldType => "unknown-field-type",
            FaultKind::RepeatedField => "repeated-field",
            FaultKind::MissingObligatory(..) => "missing-obligatory-field",
            FaultKind::UnfinishedDefinition => "unfinished-definition",
            FaultKind::UnknownId => "unknown-id",
            FaultKind::MissingField(_) => "missing-field",
            FaultKind::BadTime => "bad-time",
            FaultKind::BadNumber => "bad-number",
            FaultKind::BadColor => "bad-color",
        }
    }

    /// Returns a sentence that says what is wrong with `word` and what is expected.
    #[must_use]
    pub fn sentence(self, word: &[u8]) -> String {
        let word = shown(word);
        match self {
            FaultKind::ExpectedEventDef => {
                format!(
                    "found {word} where `%EventDef NAME NUMBER` was expected to begin a definition"
                )
            }
            FaultKind::UnknownEvent => {
                format!(
                    "unknown event {word}; expected PajeSetState, PajePushState or another event of the format"
                )
            }
            FaultKind::RedefinedId => {
                format!("event number {word} is already defined; use another number")
            }
            FaultKind::NestedDefinition => {
                "a definition begins before `%EndEventDef` ended the previous one".into()
            }
            FaultKind::UnnamedField => {
                "a field needs a name; write `% NAME TYPE`, such as `% Time date`".into()
            }
            FaultKind::MissingFieldType => {
                format!("field {word} has no type; write `% NAME TYPE`, such as `% Time date`")
            }
            FaultKind::UnknownFieldType => format!(
                "unknown field type {word}; expected date, int, double, float, hex, string or color"
            ),
            FaultKind::RepeatedField => format!("field {word} appears twice in this definition"),
            FaultKind::MissingObligatory(event, field, instead) => format!(
                "the definition of {} lacks its obligatory field {}{}",
                event.name(),
                field.name(),
                match instead {
                    Instead::Nothing => String::new(),
                    Instead::OldName => "; it has the name that older traces use".into(),
                    Instead::Field(number) => format!("; its field {number} has a similar name"),
                }
            ),
            FaultKind::UnfinishedDefinition => {
                "the definition is not finished: `%EndEventDef` is missing".into()
            }
            FaultKind::UnknownId => format!(
                "no event is defined with number {word}; its definition, `%EventDef NAME NUMBER`, \
                 must come before"
            ),
            FaultKind::MissingField(field) => {
                format!("the line ends before its field {}", field.name())
            }
            FaultKind::BadTime => {
                format!("{word} is not a time; expected a finite number")
            }
            FaultKind::BadNumber => format!("{word} is not a number"),
            FaultKind::BadColor => format!(
                "{word} is not a colour; expected three or four numbers from 0 to 1, or six hexadecimal digits"
            ),
        }
    }
}

/// Formats a word of the trace for a message. The word is quoted, escaped, and cut if it is long.
#[must_use]
pub fn shown(word: &[u8]) -> String {
    const LONGEST: usize = 80;
    let cut = &word[..word.len().min(LONGEST)];
    let more = if word.len() > LONGEST { "…" } else { "" };
    format!("'{}{more}'", Escaped(cut))
}

/// Formats a file name for a message. The name is escaped, but neither quoted nor cut.
#[must_use]
pub fn shown_path(path: &Path) -> Escaped<'_> {
    Escaped(path.as_os_str().as_encoded_bytes())
}

/// Bytes that are printed as safe text, with control characters, invisible characters and invalid
/// UTF-8 escaped.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c.is_control() || is_invisible(c) {
                    write!(f, "{}", c.escape_default())?;
                } else {
                    f.write_char(c)?;
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn the_offending_word_is_found() {
        let word = |text: &'static str, at, kind| {
            let found = Fault { at, kind }.word(text.as_bytes());
            &text[found.start as usize..found.end as usize]
        };
        assert_eq!(word("10 zz x\n11", 3, FaultKind::BadTime), "zz");
        assert_eq!(word("10 \"a b\" x", 3, FaultKind::BadTime), "\"a b\"");
        assert_eq!(word("10 zz\n11", 5, FaultKind::BadTime), "");
        assert_eq!(word("10 zz", 9, FaultKind::BadTime), "");
        assert_eq!(word("10 \"x\"zz \"y\"", 6, FaultKind::BadTime), "zz");
        assert_eq!(word("% \"a b\" x", 2, FaultKind::MissingFieldType), "\"a b\"");
        assert_eq!(word("% \"a b\"x\"y\"", 7, FaultKind::UnknownFieldType), "x\"y\"");
        assert_eq!(word("x\n% a b \n% c", 2, FaultKind::ExpectedEventDef), "% a b");
    }

    #[test]
    fn shown_words_are_escaped() {
        assert_eq!(shown(b"p1"), "'p1'");
        assert_eq!(shown("é\t\x1b".as_bytes()), "'é\\t\\u{1b}'");
        assert_eq!(shown(b"a\xff\x00"), "'a\\xff\\u{0}'");
        assert_eq!(shown("a\u{202e}b\u{feff}".as_bytes()), "'a\\u{202e}b\\u{feff}'");
        assert_eq!(shown(&[b'x'; 100]).chars().count(), 83);
        let path = std::ffi::OsStr::from_bytes(b"a b/\x1b[2J\n\xff\xc3\xa9");
        assert_eq!(shown_path(Path::new(path)).to_string(), "a b/\\u{1b}[2J\\n\\xffé");
    }
}

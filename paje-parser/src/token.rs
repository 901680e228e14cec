//! Fields of a line, one byte at a time.
//!
//! This is the plain statement of the lexical rules, and the oracle of the fast tokeniser in
//! [`scan`](crate::scan), which must find the same fields.

use std::ops::Range;

/// True if a byte separates fields: blank, tab, newline, vertical tab, form feed, carriage return.
#[must_use]
pub const fn is_white(byte: u8) -> bool {
    byte == b' ' || matches!(byte, 9..=13)
}

/// Quoting of a field, as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quoting {
    /// `name`
    #[default]
    Bare,
    /// `"name"`
    Quoted,
    /// `"name` up to the end of the line: the closing quote is missing.
    Unclosed,
}

/// Place of a field in the bytes it was read from, with its quotes if it has any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte of the field (its quote, if it has one).
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}

impl Span {
    /// The field in `text`, the bytes that this span was found in.
    #[must_use]
    #[inline]
    pub fn of(self, text: &[u8]) -> Field<'_> {
        Field { raw: &text[self.start as usize..self.end as usize] }
    }
}

/// One field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    raw: &'a [u8],
}

impl<'a> Field<'a> {
    /// The field that was written so, with its quotes if it has any.
    #[must_use]
    pub const fn new(raw: &'a [u8]) -> Self {
        Field { raw }
    }

    /// The field as it was written, with its quotes.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// The field without its quotes: what identifies a type, a container, a value or a key.
    #[must_use]
    #[inline]
    pub fn bare(self) -> &'a [u8] {
        match self.raw {
            [b'"', inner @ .., b'"'] | [b'"', inner @ ..] => inner,
            bare => bare,
        }
    }

    /// Quoting of the field, as it was written.
    #[must_use]
    pub fn quoting(self) -> Quoting {
        match self.raw {
            [b'"', .., b'"'] => Quoting::Quoted,
            [b'"', ..] => Quoting::Unclosed,
            _ => Quoting::Bare,
        }
    }
}

/// Finds the fields of the line that starts at `start` in `text`, and appends their spans.
///
/// The line ends at the next newline, also inside an open quote, or at the end of `text`.
/// Returns where it ends (the newline's index, or `text.len()`).
///
/// - Any white space separates fields; `\r` is white space.
/// - A field that starts with `"` runs to the next `"`, whatever follows it: `"a"b` is `a` and `b`.
/// - `#` outside quotes starts a comment, also inside a bare word; a `"` inside a bare word is text.
///
/// Source: lang-paje 1.3.1, "String delimitation" and "Comments"; corners as PajeNG 1.3.6 behaves.
pub fn fields(text: &[u8], start: usize, spans: &mut Vec<Span>) -> usize {
    let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |n| start + n);
    let mut at = start;
    while let Some(field) = next_field(&text[..end], at) {
        at = field.end;
        spans.push(Span { start: field.start as u32, end: field.end as u32 });
    }
    end
}

/// The first field of `line` from byte `at` on, where the line begins or a field ends; `None` if only
/// white space and a comment follow. The line has no newline.
#[must_use]
#[inline]
pub fn next_field(line: &[u8], mut at: usize) -> Option<Range<usize>> {
    while is_white(*line.get(at)?) {
        at += 1;
    }
    let first = at;
    match line[first] {
        b'#' => return None,
        b'"' => {
            let closing = line[first + 1..].iter().position(|byte| *byte == b'"');
            at = closing.map_or(line.len(), |closing| first + closing + 2);
        }
        _ => {
            let goes_on = |byte: &u8| !is_white(*byte) && *byte != b'#';
            while line.get(at).is_some_and(goes_on) {
                at += 1;
            }
        }
    }
    Some(first..at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<&str> {
        let mut spans = Vec::new();
        let end = fields(line.as_bytes(), 0, &mut spans);
        assert!(end == line.len() || line.as_bytes()[end] == b'\n');
        spans.iter().map(|s| &line[s.start as usize..s.end as usize]).collect()
    }

    #[test]
    fn white_space_separates() {
        assert_eq!(words("a b\tc\x0bd\x0ce  f \r\nignored"), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(words("\t  \r\n"), [""; 0]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn quotes() {
        assert_eq!(words(r#"1 "a b" c"#), ["1", r#""a b""#, "c"]);
        assert_eq!(words(r#""a"b"#), [r#""a""#, "b"]);
        assert_eq!(words(r#""a""b""#), [r#""a""#, r#""b""#]);
        assert_eq!(words(r#"x"y"z w"#), [r#"x"y"z"#, "w"]);
        assert_eq!(words("\"open to the end\nnext"), ["\"open to the end"]);
        assert_eq!(words("a \""), ["a", "\""]);
        assert_eq!(words(r#""" b"#), [r#""""#, "b"]);
    }

    #[test]
    fn comments() {
        assert_eq!(words("a b # c d"), ["a", "b"]);
        assert_eq!(words("foo#bar baz"), ["foo"]);
        assert_eq!(words(r##"a "b # c" d#"##), ["a", r##""b # c""##, "d"]);
        assert_eq!(words(r##""a"#b"##), [r#""a""#]);
        assert_eq!(words("# only"), [""; 0]);
    }

    #[test]
    fn quoting_is_part_of_the_field() {
        let field = |raw| Field { raw };
        assert_eq!(field(b"\"a b\"").bare(), b"a b");
        assert_eq!(field(b"\"a b\"").quoting(), Quoting::Quoted);
        assert_eq!(field(b"\"a b").bare(), b"a b");
        assert_eq!(field(b"\"a b").quoting(), Quoting::Unclosed);
        assert_eq!(field(b"\"").bare(), b"");
        assert_eq!(field(b"\"").quoting(), Quoting::Unclosed);
        assert_eq!(field(b"\"\"").bare(), b"");
        assert_eq!(field(b"\"\"").quoting(), Quoting::Quoted);
        assert_eq!(field(b"a\"").bare(), b"a\"");
        assert_eq!(field(b"a\"").quoting(), Quoting::Bare);
    }
}

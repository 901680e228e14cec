//! Fields of a line, one byte at a time.
//!
//! This is the reference implementation of the lexical rules. The fast tokeniser in
//! [`scan`](crate::scan) must find the same fields.

use std::ops::Range;

/// Returns whether a byte separates fields: blank, tab, newline, vertical tab, form feed, carriage
/// return.
#[must_use]
pub const fn is_white(byte: u8) -> bool {
    byte == b' ' || matches!(byte, 9..=13)
}

/// Quoting of a field as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quoting {
    /// `name`
    #[default]
    Bare,
    /// `"name"`
    Quoted,
    /// `"name` up to the end of the line, without a closing quote.
    Unclosed,
}

/// Position of a field in the text, including its quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Position of the first byte of the field, or of its opening quote.
    pub start: u32,
    /// Position after the last byte of the field.
    pub end: u32,
}

impl Span {
    /// Returns the field in `text`, which must be the text that this span was found in.
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
    /// Creates a field from its text, including any quotes.
    #[must_use]
    pub const fn new(raw: &'a [u8]) -> Self {
        Field { raw }
    }

    /// Returns the field with its quotes.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Returns the field without its quotes, which identifies a type, container, value or key.
    #[must_use]
    #[inline]
    pub fn bare(self) -> &'a [u8] {
        match self.raw {
            [b'"', inner @ .., b'"'] | [b'"', inner @ ..] => inner,
            bare => bare,
        }
    }

    /// Returns the quoting of the field.
    #[must_use]
    pub fn quoting(self) -> Quoting {
        match self.raw {
            [b'"', .., b'"'] => Quoting::Quoted,
            [b'"', ..] => Quoting::Unclosed,
            _ => Quoting::Bare,
        }
    }
}

/// Appends the spans of the fields of the line at `start` in `text`. Returns the end of the line.
///
/// The line ends at the next newline, even inside quotes, or at the end of `text`.
///
/// - Any white space separates fields, including `\r`.
/// - A field that starts with `"` ends at the next `"`, so `"a"b` is `a` and `b`.
/// - `#` outside quotes starts a comment, even inside a bare word. `"` inside a bare word is an
///   ordinary character.
///
/// The rules are those of lang-paje 1.3.1, "String delimitation" and "Comments". Corner cases
/// follow PajeNG 1.3.6.
pub fn fields(text: &[u8], start: usize, spans: &mut Vec<Span>) -> usize {
    let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |n| start + n);
    let mut at = start;
    while let Some(field) = next_field(&text[..end], at) {
        at = field.end;
        spans.push(Span { start: field.start as u32, end: field.end as u32 });
    }
    end
}

/// Returns the first field of `line` from byte `at` on, or `None` if only white space and a comment
/// follow. Byte `at` must be the line's start or a field's end, and the line has no newline.
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
    fn white_space_separates_fields() {
        assert_eq!(words("a b\tc\x0bd\x0ce  f \r\nignored"), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(words("\t  \r\n"), [""; 0]);
        assert_eq!(words(""), [""; 0]);
    }

    #[test]
    fn quoted_fields_are_found() {
        assert_eq!(words(r#"1 "a b" c"#), ["1", r#""a b""#, "c"]);
        assert_eq!(words(r#""a"b"#), [r#""a""#, "b"]);
        assert_eq!(words(r#""a""b""#), [r#""a""#, r#""b""#]);
        assert_eq!(words(r#"x"y"z w"#), [r#"x"y"z"#, "w"]);
        assert_eq!(words("\"open to the end\nnext"), ["\"open to the end"]);
        assert_eq!(words("a \""), ["a", "\""]);
        assert_eq!(words(r#""" b"#), [r#""""#, "b"]);
    }

    #[test]
    fn comments_are_skipped() {
        assert_eq!(words("a b # c d"), ["a", "b"]);
        assert_eq!(words("foo#bar baz"), ["foo"]);
        assert_eq!(words(r##"a "b # c" d#"##), ["a", r##""b # c""##, "d"]);
        assert_eq!(words(r##""a"#b"##), [r#""a""#]);
        assert_eq!(words("# only"), [""; 0]);
    }

    #[test]
    fn the_quoting_of_a_field_is_known() {
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

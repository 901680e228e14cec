//! Fields of a line, one byte at a time.
//!
//! This is the plain statement of the lexical rules, and the oracle of the fast tokeniser in
//! [`scan`](crate::scan), which must find the same fields.

/// Whether a byte separates fields: blank, tab, newline, vertical tab, form feed, carriage return.
#[must_use]
pub const fn is_white(byte: u8) -> bool {
    byte == b' ' || matches!(byte, 9..=13)
}

/// How a field was written.
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

/// Where a field stands in the bytes it was read from, with its quotes if it has any.
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
    /// The field as it was written, with its quotes.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// The field without its quotes: what identifies a type, a container, a value or a key.
    #[must_use]
    pub fn bare(self) -> &'a [u8] {
        match self.raw {
            [b'"', inner @ .., b'"'] | [b'"', inner @ ..] => inner,
            bare => bare,
        }
    }

    /// How the field was written.
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
    loop {
        while at < end && is_white(text[at]) {
            at += 1;
        }
        if at == end || text[at] == b'#' {
            return end;
        }
        let first = at;
        at += 1;
        if text[first] == b'"' {
            while at < end && text[at] != b'"' {
                at += 1;
            }
            at = (at + 1).min(end);
        } else {
            while at < end && !is_white(text[at]) && text[at] != b'#' {
                at += 1;
            }
        }
        spans.push(Span { start: first as u32, end: at as u32 });
    }
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

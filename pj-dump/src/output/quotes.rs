//! How names are printed.

use clap::ValueEnum;
use paje_sim::{Name, NameOrder};

/// Whether names are printed with quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Quotes {
    /// Bare, but quoted where a bare name would break the row (a comma, a quote, an outer blank)
    Auto,
    /// As each name was written where it was defined: PajeNG's development version
    Keep,
    /// Bare, always: PajeNG's releases
    Strip,
}

impl Quotes {
    /// Appends a name.
    pub fn write(self, name: Name<'_>, out: &mut Vec<u8>) {
        match self {
            Quotes::Strip => out.extend_from_slice(name.text),
            Quotes::Keep => name.write_raw(out),
            Quotes::Auto if breaks_rows(name.text) => {
                out.push(b'"');
                for part in name.text.split_inclusive(|byte| *byte == b'"') {
                    out.extend_from_slice(part);
                    if part.ends_with(b"\"") {
                        out.push(b'"');
                    }
                }
                out.push(b'"');
            }
            Quotes::Auto => out.extend_from_slice(name.text),
        }
    }

    /// The order of containers and types that goes with it.
    #[must_use]
    pub const fn order(self) -> NameOrder {
        match self {
            Quotes::Auto | Quotes::Strip => NameOrder::Bare,
            Quotes::Keep => NameOrder::Raw,
        }
    }
}

fn breaks_rows(text: &[u8]) -> bool {
    let blank = |byte: Option<&u8>| byte.is_some_and(|byte| paje_parser::token::is_white(*byte));
    text.iter().any(|byte| matches!(byte, b',' | b'"')) || blank(text.first()) || blank(text.last())
}

/// Names made ready to be printed, by number.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Printed {
    /// These names, numbered from 0.
    pub(crate) fn of<'n>(quotes: Quotes, names: impl Iterator<Item = Name<'n>>) -> Self {
        let mut printed = Printed::default();
        names.for_each(|name| printed.push(quotes, name));
        printed
    }

    pub(crate) fn push(&mut self, quotes: Quotes, name: Name<'_>) {
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
        quotes.write(name, &mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.resize(self.bytes.len() + PADDING, 0);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, number: usize) -> Text<'_> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        Text { padded: &self.bytes[start..], len: self.ends[number] - start }
    }
}

/// A text, and whatever stands after it: see [`PADDING`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    pub(crate) padded: &'a [u8],
    pub(crate) len: usize,
}

/// Texts of up to so many bytes are copied as if they had so many, which takes two instructions
/// instead of a call that branches on the length.
pub(crate) const PADDING: usize = 32;

impl<'a> Text<'a> {
    pub(crate) const fn new(text: &'a [u8]) -> Self {
        Text { padded: text, len: text.len() }
    }

    /// The text by itself.
    pub(crate) fn bytes(self) -> &'a [u8] {
        &self.padded[..self.len]
    }

    /// Copies the text to `at` of a buffer, and perhaps bytes after it that mean nothing; returns
    /// where it ends.
    #[inline(always)]
    pub(crate) fn put(self, buffer: &mut [u8], at: usize) -> usize {
        let end = at + self.len;
        let room = &mut buffer[at..];
        match (self.padded.first_chunk::<PADDING>(), room.first_chunk_mut::<PADDING>()) {
            (Some(from), Some(to)) if self.len <= PADDING => *to = *from,
            _ => room[..self.len].copy_from_slice(&self.padded[..self.len]),
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_sim::Quoting;

    #[test]
    fn three_ways() {
        let print = |quotes: Quotes, text: &str, quoting| {
            let mut out = Vec::new();
            let name = Name { text: text.as_bytes(), quoting };
            quotes.write(name, &mut out);
            String::from_utf8(out).expect("text")
        };
        for (text, quoting, auto, keep) in [
            ("p1", Quoting::Bare, "p1", "p1"),
            ("p1", Quoting::Quoted, "p1", "\"p1\""),
            ("a b", Quoting::Quoted, "a b", "\"a b\""),
            ("a,b", Quoting::Quoted, "\"a,b\"", "\"a,b\""),
            ("a,b", Quoting::Bare, "\"a,b\"", "a,b"),
            ("a ", Quoting::Quoted, "\"a \"", "\"a \""),
            ("open", Quoting::Unclosed, "open", "\"open"),
            ("x\"y", Quoting::Bare, "\"x\"\"y\"", "x\"y"),
            ("", Quoting::Quoted, "", "\"\""),
        ] {
            assert_eq!(print(Quotes::Auto, text, quoting), auto);
            assert_eq!(print(Quotes::Keep, text, quoting), keep);
            assert_eq!(print(Quotes::Strip, text, quoting), text);
        }
    }
}

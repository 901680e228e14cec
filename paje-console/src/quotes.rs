//! Quoting of printed names.

use clap::ValueEnum;
use paje_sim::{Name, NameOrder, Quoting, ValueNames};

/// Quotes around printed names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Quotes {
    /// Quote only where a bare name would break the row (comma, quote, carriage return, leading or
    /// trailing blank)
    Auto,
    /// As written in the trace where the name is defined, like PajeNG's development version
    Keep,
    /// Never, like PajeNG's releases
    Strip,
}

impl Quotes {
    /// Returns the text of a name if it is printed without adding or removing quotes.
    #[must_use]
    #[inline]
    pub fn as_it_is(self, name: Name<'_>) -> Option<&[u8]> {
        let is_printed = match self {
            Quotes::Auto => !breaks_rows(name.text),
            Quotes::Keep => name.quoting == Quoting::Bare,
            Quotes::Strip => true,
        };
        is_printed.then_some(name.text)
    }

    /// Appends a name.
    pub fn write(self, name: Name<'_>, out: &mut Vec<u8>) {
        if let Some(text) = self.as_it_is(name) {
            return out.extend_from_slice(text);
        }
        match self {
            Quotes::Keep | Quotes::Strip => name.write_raw(out),
            Quotes::Auto => {
                out.push(b'"');
                for part in name.text.split_inclusive(|byte| *byte == b'"') {
                    out.extend_from_slice(part);
                    if part.ends_with(b"\"") {
                        out.push(b'"');
                    }
                }
                out.push(b'"');
            }
        }
    }

    /// Returns whether values with different quotes are different values.
    #[must_use]
    pub const fn value_names(self) -> ValueNames {
        match self {
            Quotes::Auto | Quotes::Strip => ValueNames::Bare,
            Quotes::Keep => ValueNames::AsWritten,
        }
    }

    /// Returns the matching order of containers and types.
    #[must_use]
    pub const fn order(self) -> NameOrder {
        match self {
            Quotes::Auto | Quotes::Strip => NameOrder::Bare,
            Quotes::Keep => NameOrder::Raw,
        }
    }
}

/// Returns whether a name must be quoted. Readers of CSV (Python, pandas, R's read.csv and readr)
/// also end a row at a bare carriage return, but at no other character of a name.
fn breaks_rows(text: &[u8]) -> bool {
    let blank = |byte: Option<&u8>| byte.is_some_and(|byte| paje_parser::token::is_white(*byte));
    text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r'))
        || blank(text.first())
        || blank(text.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_in_three_ways() {
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
            ("a\rb", Quoting::Quoted, "\"a\rb\"", "\"a\rb\""),
            (
                "a\u{b}b\u{c}c\u{85}d\u{2028}e",
                Quoting::Bare,
                "a\u{b}b\u{c}c\u{85}d\u{2028}e",
                "a\u{b}b\u{c}c\u{85}d\u{2028}e",
            ),
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

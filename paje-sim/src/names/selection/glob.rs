//! Patterns for names.

use std::fmt;
use std::str::FromStr;

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

/// A pattern that whole names match or not, byte by byte: `*` is any text, `?` any byte, `[a-c]` one of
/// these, `[!a-c]` any other, `{one,two}` either, and `\` takes the meaning from what follows. A name is
/// no path: `*` goes over a `/`, too. The spelling is that of the crate `globset`.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    matcher: Matcher,
}

/// Pieces for most patterns: an expression takes longer to be made than all names take to be compared.
#[derive(Clone, Debug)]
enum Matcher {
    Pieces(Vec<Piece>),
    Regex(Regex),
}

/// A part of a pattern.
#[derive(Clone, Debug)]
enum Piece {
    Byte(u8),
    AnyByte,
    /// A byte of one of these ranges.
    OneOf(Vec<(u8, u8)>),
    AnyText,
}

impl Piece {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Piece::Byte(own) => *own == byte,
            Piece::AnyByte => true,
            Piece::OneOf(ranges) => ranges.iter().any(|(from, to)| (*from..=*to).contains(&byte)),
            Piece::AnyText => false,
        }
    }
}

/// The pieces of a pattern that has nothing but stars, marks and sets of letters and digits; none of another one.
fn pieces(text: &str) -> Option<Vec<Piece>> {
    let (mut left, mut pieces) = (text.as_bytes(), Vec::new());
    while let Some(byte) = left.split_off_first() {
        pieces.push(match byte {
            // Several have a meaning of their own.
            b'*' if left.first() == Some(&b'*') => return None,
            b'*' => Piece::AnyText,
            b'?' => Piece::AnyByte,
            b'[' => {
                let mut set = left.split_off(..=left.iter().position(|byte| *byte == b']')?)?;
                let mut ranges = Vec::new();
                while set != b"]" || ranges.is_empty() {
                    let (from, to, behind) = match set {
                        [from, b'-', to, behind @ ..] if from <= to => (*from, *to, behind),
                        [_, b'-', ..] => return None,
                        [one, behind @ ..] => (*one, *one, behind),
                        [] => return None,
                    };
                    if ![from, to].iter().all(u8::is_ascii_alphanumeric) {
                        return None;
                    }
                    ranges.push((from, to));
                    set = behind;
                }
                Piece::OneOf(ranges)
            }
            b'{' | b'}' | b'\\' | b']' => return None,
            other => Piece::Byte(*other),
        });
    }
    Some(pieces)
}

/// Tells whether a whole name is what these pieces say. Where it is not, what the last star took grows by a byte: the stars before it took the
/// least that they could, and more would leave less.
fn is_made_of(pieces: &[Piece], name: &[u8]) -> bool {
    let (mut piece, mut at) = (0, 0);
    // Behind the last star, and the first byte that it has not taken.
    let mut last = None;
    loop {
        match (pieces.get(piece), name.get(at)) {
            (Some(Piece::AnyText), _) => {
                piece += 1;
                last = Some((piece, at));
            }
            (Some(other), Some(byte)) if other.takes(*byte) => (piece, at) = (piece + 1, at + 1),
            (None, None) => return true,
            _ => match &mut last {
                Some((behind, from)) if *from < name.len() => {
                    *from += 1;
                    (piece, at) = (*behind, *from);
                }
                _ => return false,
            },
        }
    }
}

/// Why a text is no [`Glob`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseGlobError(String);

impl Glob {
    /// Tells whether a name, without quotes, matches.
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        match &self.matcher {
            Matcher::Pieces(pieces) => is_made_of(pieces, name),
            Matcher::Regex(regex) => regex.is_match(name),
        }
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Glob {
    type Err = ParseGlobError;

    fn from_str(text: &str) -> Result<Self, ParseGlobError> {
        let matcher = match pieces(text) {
            Some(pieces) => Matcher::Pieces(pieces),
            None => Matcher::Regex(regex(text)?),
        };
        Ok(Glob { text: text.to_owned(), matcher })
    }
}

/// The expression for any pattern.
fn regex(text: &str) -> Result<Regex, ParseGlobError> {
    let glob = GlobBuilder::new(text).backslash_escape(true).empty_alternates(true).build();
    let glob = glob.map_err(|error| ParseGlobError(error.kind().to_string()))?;
    // Not globset's own matchers: for them a name is a path, and one that ends with a dot is no name;
    // and they panic if a pattern is too large.
    let regex = RegexBuilder::new(glob.regex()).dot_matches_new_line(true).build();
    regex.map_err(|_| ParseGlobError("the pattern is too large".into()))
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Glob) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl fmt::Display for ParseGlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseGlobError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn glob(text: &str) -> Glob {
        text.parse().expect("a pattern")
    }

    #[test]
    fn what_patterns_match() {
        for (pattern, name, matches) in [
            ("*", &b""[..], true),
            ("", b"", true),
            ("", b"a", false),
            ("rank-1*", b"rank-1", true),
            ("rank-1*", b"rank-12", true),
            ("rank-1*", b"xrank-1", false),
            ("rank-?", b"rank-1", true),
            ("rank-?", b"rank-12", false),
            ("*core*", b"node/0\\core.", true),
            ("*.", b"a/b.", true),
            ("a\n*", b"a\n\n", true),
            ("[0-3]", b"2", true),
            ("[!0-3]", b"2", false),
            ("x{1,22,}", b"x22", true),
            ("x{1,22,}", b"x", true),
            ("x{1,22,}", b"x2", false),
            (r"\*", b"*", true),
            (r"\*", b"a", false),
            ("?", b"\xff", true),
            ("*\u{e9}*", "caf\u{e9}!".as_bytes(), true),
            ("(a|b)+.$", b"(a|b)+.$", true),
        ] {
            assert_eq!(glob(pattern).matches(name), matches, "{pattern:?}, {name:?}");
        }
    }

    #[test]
    fn what_is_no_pattern() {
        for broken in ["[", "a[b", "[b-a]", "{a", "a}", "a\\"] {
            assert!(broken.parse::<Glob>().is_err(), "{broken}");
        }
        let deep = format!("{}a{}", "{".repeat(500), "}".repeat(500));
        let error = deep.parse::<Glob>().expect_err("too deep");
        assert!(!error.to_string().is_empty());
    }

    /// Stars, marks and other bytes, one after the other.
    fn naive(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|skipped| naive(rest, &name[skipped..])),
            Some((b'?', rest)) => !name.is_empty() && naive(rest, &name[1..]),
            Some((byte, rest)) => name.first() == Some(byte) && naive(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn as_a_naive_matcher_does(
            pattern in "([ab.]|\\*[ab.]|\\?){0,6}",
            name in proptest::collection::vec(
                proptest::sample::select(b"ab./\n\xff".to_vec()), 0..8),
        ) {
            prop_assert_eq!(glob(&pattern).matches(&name), naive(pattern.as_bytes(), &name));
        }

        /// Whatever has pieces is matched as its expression is, which there is.
        #[test]
        fn pieces_match_as_expressions_do(
            pattern in "([abz19.]|\\*|\\?|\\[[ab19-]{1,4}\\]|[\\[\\]!^,{}\\\\/\u{e9}-]){0,7}",
            name in proptest::collection::vec(
                proptest::sample::select("ab19.-]/\n\u{e9}".as_bytes().to_vec()), 0..8),
        ) {
            if let Some(pieces) = pieces(&pattern) {
                let regex = regex(&pattern).expect("a pattern");
                prop_assert_eq!(is_made_of(&pieces, &name), regex.is_match(&name));
            }
        }

        #[test]
        fn no_text_is_too_strange(pattern in "[a-c*?{}\\[\\]!^,\\\\/\u{e9}-]{0,12}") {
            if let Ok(glob) = pattern.parse::<Glob>() {
                let _ = glob.matches(b"abc");
            }
        }
    }
}

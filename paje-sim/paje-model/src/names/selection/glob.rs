use std::fmt;
use std::str::FromStr;

use globset::GlobBuilder;
use regex::bytes::{Regex, RegexBuilder};

/// A pattern that matches whole names, byte by byte: `*` matches any text, `?` any byte, `[a-c]`
/// one of these letters, `[!a-c]` any other byte, and `{one,two}` either word. `\\` makes the next
/// character literal. Names are not paths, so `*` also matches a `/`. The syntax is that of the
/// crate `globset`.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    regex: Regex,
}

/// Error for a text that is not a valid [`Glob`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseGlobError(String);

impl Glob {
    /// Returns whether a name matches. `name` has no quotes.
    #[must_use]
    pub fn matches(&self, name: &[u8]) -> bool {
        self.regex.is_match(name)
    }

    /// Returns the pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Glob {
    type Err = ParseGlobError;

    fn from_str(text: &str) -> Result<Self, ParseGlobError> {
        let glob = GlobBuilder::new(text).backslash_escape(true).empty_alternates(true).build();
        let glob = glob.map_err(|error| ParseGlobError(error.kind().to_string()))?;
        // globset's own matchers treat a name as a path, and panic if a pattern is too large.
        let regex = RegexBuilder::new(glob.regex()).dot_matches_new_line(true).build();
        let regex = regex.map_err(|_| ParseGlobError("the pattern is too large".into()))?;
        Ok(Glob { text: text.to_owned(), regex })
    }
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
    fn patterns_match() {
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
    fn invalid_patterns() {
        for broken in ["[", "a[b", "[b-a]", "{a", "a}", "a\\"] {
            assert!(broken.parse::<Glob>().is_err(), "{broken}");
        }
        let deep = format!("{}a{}", "{".repeat(500), "}".repeat(500));
        let error = deep.parse::<Glob>().expect_err("too deep");
        assert!(!error.to_string().is_empty());
    }

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
        fn matches_like_a_naive_matcher(
            pattern in "([ab.]|\\*[ab.]|\\?){0,6}",
            name in proptest::collection::vec(
                proptest::sample::select(b"ab./\n\xff".to_vec()), 0..8),
        ) {
            prop_assert_eq!(glob(&pattern).matches(&name), naive(pattern.as_bytes(), &name));
        }

        #[test]
        fn any_pattern_is_valid_or_refused(pattern in "[a-c*?{}\\[\\]!^,\\\\/\u{e9}-]{0,12}") {
            if let Ok(glob) = pattern.parse::<Glob>() {
                let _ = glob.matches(b"abc");
            }
        }
    }
}

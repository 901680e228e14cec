//! Names and the arena that holds their texts.

use std::borrow::Cow;
use std::fmt;

use paje_parser::{Field, Quoting};

use super::error::Named;
use super::hash::short_word;

/// A name as written in the trace. It is ordered by its bytes, and can be compared with a `str` on either side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name<'a> {
    /// The name without its quotes, which identifies it.
    pub text: &'a [u8],
    pub quoting: Quoting,
}

/// Compares the name without its quotes.
impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        self.text == other.as_bytes()
    }
}

/// Compares the name without its quotes.
impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Compares the name without its quotes.
impl PartialEq<Name<'_>> for str {
    fn eq(&self, other: &Name<'_>) -> bool {
        other == self
    }
}

/// Compares the name without its quotes.
impl PartialEq<Name<'_>> for &str {
    fn eq(&self, other: &Name<'_>) -> bool {
        other == *self
    }
}

/// Shows the name in quotes.
impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_str_lossy(), f)
    }
}

impl<'a> Name<'a> {
    /// Returns the name for messages, with an alias if it has one.
    #[doc(hidden)]
    pub fn named(self, alias: Option<Name<'_>>) -> Named {
        Named::new(self.text, alias.map(|alias| alias.text))
    }

    #[must_use]
    pub const fn bare(text: &'a [u8]) -> Self {
        Name { text, quoting: Quoting::Bare }
    }

    /// Returns the name without its quotes as text. Invalid UTF-8 is replaced by `\u{fffd}`.
    #[must_use]
    pub fn to_str_lossy(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.text)
    }

    /// Appends the name as written.
    pub fn write_raw(self, out: &mut Vec<u8>) {
        if self.quoting != Quoting::Bare {
            out.push(b'"');
        }
        out.extend_from_slice(self.text);
        if self.quoting == Quoting::Quoted {
            out.push(b'"');
        }
    }
}

/// Shows the name without its quotes. Invalid UTF-8 is replaced by `\u{fffd}`. Nothing is escaped, so the result may
/// contain commas and control characters.
impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_str_lossy())
    }
}

impl<'a> From<Field<'a>> for Name<'a> {
    fn from(field: Field<'a>) -> Self {
        Name { text: field.bare(), quoting: field.quoting() }
    }
}

/// Position of a name and of its alias, if any, in a [`TextArena`]. A position takes only eight bytes, because there
/// may be millions of them.
#[derive(Clone, Copy, Debug)]
pub struct TextRef(u64);

impl TextRef {
    pub const fn of_halves(high: u32, low: u32) -> Self {
        TextRef((high as u64) << 32 | low as u64)
    }

    pub const fn halves(self) -> (u32, u32) {
        ((self.0 >> 32) as u32, self.0 as u32)
    }
}

/// Names, one after the other. The length of each name precedes it. Single names are never removed.
#[derive(Clone, Debug, Default)]
pub struct TextArena {
    bytes: Vec<u8>,
}

/// Continuation bit of a text's head. The head is an integer of variable length that holds the text's length, its
/// quoting, and whether an alias follows.
const MORE: u8 = 0x80;
const ALIASED: u64 = 4;

impl TextArena {
    pub fn push(&mut self, name: Name<'_>) -> TextRef {
        self.push_with(name, None)
    }

    /// Adds a name, and its alias if there is one.
    #[inline]
    pub fn push_with(&mut self, name: Name<'_>, alias: Option<Name<'_>>) -> TextRef {
        let start = TextRef(self.bytes.len() as u64);
        self.put(name, alias.is_some());
        if let Some(alias) = alias {
            self.put(alias, false);
        }
        start
    }

    #[inline]
    fn put(&mut self, name: Name<'_>, aliased: bool) {
        let quoting = match name.quoting {
            Quoting::Bare => 0,
            Quoting::Quoted => 1,
            Quoting::Unclosed => 2,
        };
        let mut head = (name.text.len() as u64) << 3 | quoting;
        if aliased {
            head |= ALIASED;
        }
        if head < u64::from(MORE) {
            // The text has at most 15 bytes. Copying 16 bytes in one move and removing the surplus is fast.
            let [low, high] = short_word(name.text);
            let piece = (u128::from(high) << 64 | u128::from(low)) << 8 | u128::from(head);
            let end = self.bytes.len() + 1 + name.text.len();
            self.bytes.extend_from_slice(&piece.to_le_bytes());
            return self.bytes.truncate(end);
        }
        self.put_long(name.text, head);
    }

    #[inline(never)]
    fn put_long(&mut self, text: &[u8], mut head: u64) {
        while head >= u64::from(MORE) {
            self.bytes.push(head as u8 | MORE);
            head >>= 7;
        }
        self.bytes.push(head as u8);
        self.bytes.extend_from_slice(text);
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    #[inline]
    pub fn get(&self, at: TextRef) -> Name<'_> {
        self.read(at.0 as usize).0
    }

    #[inline]
    pub(crate) fn last(&self, at: TextRef) -> Name<'_> {
        let (name, alias) = self.read(at.0 as usize);
        alias.map_or(name, |alias| self.read(alias).0)
    }

    #[inline]
    pub(crate) fn alias(&self, at: TextRef) -> Option<Name<'_>> {
        let (_, alias) = self.read(at.0 as usize);
        alias.map(|alias| self.read(alias).0)
    }

    #[inline]
    fn read(&self, at: usize) -> (Name<'_>, Option<usize>) {
        let first = self.bytes[at];
        let (head, at) = match first < MORE {
            true => (u64::from(first), at + 1),
            false => self.long_head(at),
        };
        let end = at + (head >> 3) as usize;
        let quoting = match head & 3 {
            0 => Quoting::Bare,
            1 => Quoting::Quoted,
            _ => Quoting::Unclosed,
        };
        (Name { text: &self.bytes[at..end], quoting }, (head & ALIASED != 0).then_some(end))
    }

    /// Reads a head of any length at `at`. Returns the head and the start of its text.
    #[inline(never)]
    fn long_head(&self, mut at: usize) -> (u64, usize) {
        let (mut head, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[at];
            at += 1;
            head |= u64::from(byte & !MORE) << shift;
            if byte < MORE {
                return (head, at);
            }
            shift += 7;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_text() {
        let quoted = Name { text: b"a, \xff\t", quoting: Quoting::Quoted };
        assert_eq!(quoted.to_string(), "a, \u{fffd}\t");
        assert_eq!(format!("[{:>4}]", Name::bare(b"ab")), "[  ab]");
        assert!(matches!(Name::bare(b"ab").to_str_lossy(), Cow::Borrowed("ab")));
    }

    #[test]
    fn names_of_any_length_with_and_without_aliases() {
        let mut arena = TextArena::default();
        let texts: Vec<Vec<u8>> =
            [0, 1, 15, 16, 17, 2047, 2048, 300_000].iter().map(|len| vec![b'n'; *len]).collect();
        let ways = [Quoting::Bare, Quoting::Quoted, Quoting::Unclosed];
        let mut kept = Vec::new();
        for text in &texts {
            for quoting in ways {
                let name = Name { text, quoting };
                kept.push((arena.push(name), name, None));
                for alias in &texts {
                    let alias = Some(Name { text: alias, quoting: Quoting::Quoted });
                    kept.push((arena.push_with(name, alias), name, alias));
                }
            }
        }
        for (at, name, alias) in kept {
            assert_eq!((arena.get(at), arena.alias(at)), (name, alias));
        }
    }
}

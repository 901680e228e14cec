//! Names, kept together in one piece of memory.

use paje_parser::{Field, Quoting};

/// A name as the trace spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The name without its quotes: what identifies.
    pub text: &'a [u8],
    /// Whether it stood in quotes where it was defined.
    pub quoting: Quoting,
}

impl<'a> Name<'a> {
    /// A name that was written without quotes.
    #[must_use]
    pub const fn bare(text: &'a [u8]) -> Self {
        Name { text, quoting: Quoting::Bare }
    }

    /// Appends the name as it was written.
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

impl<'a> From<Field<'a>> for Name<'a> {
    fn from(field: Field<'a>) -> Self {
        Name { text: field.bare(), quoting: field.quoting() }
    }
}

/// A name in a [`TextArena`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextRef {
    start: u64,
    len: u32,
    quoting: Quoting,
}

/// Texts one after the other; nothing is ever removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextArena {
    bytes: Vec<u8>,
}

impl TextArena {
    pub(crate) fn push(&mut self, name: Name<'_>) -> TextRef {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(name.text);
        TextRef { start, len: name.text.len() as u32, quoting: name.quoting }
    }

    pub(crate) fn get(&self, at: TextRef) -> Name<'_> {
        let start = at.start as usize;
        Name { text: &self.bytes[start..start + at.len as usize], quoting: at.quoting }
    }
}

//! Positions in a trace: byte offsets while reading, lines and columns when reporting.

use std::fmt;

/// A byte offset from the beginning of the trace, 0-based.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteOffset(pub u64);

impl fmt::Display for ByteOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A position in a trace, for messages.
///
/// Hot paths carry only a [`ByteOffset`]. Lines are counted when something is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Offset from the beginning of the trace, 0-based.
    pub byte: ByteOffset,
    /// Line, 1-based. Blank and comment lines count.
    pub line: u64,
    /// Column in bytes, 1-based.
    pub column: u64,
}

impl Position {
    /// Returns the position of `offset` within `text`, which begins at byte `base` and line
    /// `first_line` of the trace. For an offset past the end, returns the position just after the
    /// text.
    #[must_use]
    pub fn within(text: &[u8], offset: usize, base: ByteOffset, first_line: u64) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        Position {
            byte: ByteOffset(base.0 + before.len() as u64),
            line: first_line + memchr::memchr_iter(b'\n', before).count() as u64,
            column: (before.len() - line_start) as u64 + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_counted_from_one() {
        let text = b"ab\ncd\n\nef";
        let at = |offset| {
            let p = Position::within(text, offset, ByteOffset(100), 7);
            (p.byte.0, p.line, p.column)
        };
        assert_eq!(at(0), (100, 7, 1));
        assert_eq!(at(1), (101, 7, 2));
        assert_eq!(at(3), (103, 8, 1));
        assert_eq!(at(6), (106, 9, 1));
        assert_eq!(at(8), (108, 10, 2));
        assert_eq!(at(99), (109, 10, 3));
    }
}

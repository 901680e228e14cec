//! Positions in a trace.

use paje_parser::{ByteOffset, Position, Span};

use super::findings;
use crate::excerpt::Excerpt;
use crate::finding::{Cause, Finding, Severity};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    pub(crate) file: u32,
    pub(crate) line: u64,
    pub(crate) start: u64,
    pub(crate) text: &'a [u8],
    /// Whether the line's text must not be shown (see `Checker::is_shown`).
    pub(crate) hidden: bool,
}

/// Position in a file of the trace. Places are ordered by file, in the order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) position: Position,
}

impl Here<'_> {
    pub(crate) const fn place(&self, at: u32) -> Place {
        let byte = ByteOffset(self.start + at as u64);
        let position = Position { byte, line: self.line, column: at as u64 + 1 };
        Place { file: self.file, position }
    }

    pub(crate) fn finding(&self, severity: Severity, cause: Cause, span: Span) -> Finding {
        let excerpt = (!self.hidden).then(|| Excerpt::of(self.text, span.start as usize));
        let (place, width) = (self.place(span.start), u64::from(span.end - span.start));
        Finding { excerpt, ..findings::finding(severity, cause, Some(place), width) }
    }
}

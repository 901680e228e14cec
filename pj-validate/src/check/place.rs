//! Positions in a trace.

use paje_parser::{ByteOffset, Position, Span};

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
        Place { file: self.file, position: self.position(at) }
    }

    pub(crate) const fn position(&self, at: u32) -> Position {
        Position {
            byte: ByteOffset(self.start + at as u64),
            line: self.line,
            column: at as u64 + 1,
        }
    }

    pub(crate) fn finding(&self, severity: Severity, cause: Cause, span: Span) -> Finding {
        Finding {
            severity,
            cause,
            file: self.file as usize,
            position: Some(self.position(span.start)),
            width: u64::from(span.end - span.start),
            excerpt: (!self.hidden).then(|| Excerpt::of(self.text, span.start as usize)),
            count: 1,
            last_file: self.file as usize,
            last_line: self.line,
            event: None,
            consequences: 0,
            note: None,
        }
    }
}

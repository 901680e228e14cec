//! Places in a trace.

use paje_parser::{ByteOffset, Position, Span};

use crate::excerpt::Excerpt;
use crate::finding::{Cause, Finding, Severity};

/// The line at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    /// The index of its file among those that are read.
    pub(crate) file: u32,
    /// 1-based.
    pub(crate) line: u64,
    /// The byte of the file at which the line begins.
    pub(crate) start: u64,
    /// Without the newline.
    pub(crate) text: &'a [u8],
    /// Nothing of it is shown: see `Checker`.
    pub(crate) hidden: bool,
}

/// A place in one of the files of a trace. Those of files that are read earlier come first.
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

    /// A finding about these bytes of the line.
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

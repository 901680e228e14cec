//! A block on its way: its text, where it is from, and what it was decoded to.

use std::sync::Arc;

use paje_parser::DefTable;
use splitter::{Block, ReadError};

use super::decoded::Decoded;
use crate::input::files::Origin;
use crate::memory::LineNumber;
use crate::names::ledger::LineOf;

/// A block, and what it was decoded to.
#[derive(Debug, Default)]
pub(crate) struct DecodedBlock {
    pub(crate) text: Block,
    pub(crate) decoded: Decoded,
    /// Its place among the trace's blocks.
    pub(crate) number: u64,
    /// The file that it is of.
    pub(crate) origin: Origin,
    /// The definitions before it, as they were known when it was decoded.
    pub(crate) assumed: Option<Arc<DefTable>>,
    /// Whose symbols it is decoded to.
    pub(crate) maps: usize,
    /// The most parts of a whole block that it has had so far: it has memory for these.
    pub(crate) parts: usize,
    /// The worker whose desk it is from.
    pub(crate) worker: usize,
    /// The text could not be read.
    pub(crate) failure: Option<ReadError>,
    /// No other block of its file comes behind it, as far as is known.
    pub(crate) is_last: bool,
    /// Its file begins with a byte order mark.
    pub(crate) is_marked: bool,
    /// Number of lines of its file that come before it.
    pub(crate) lines_before: u64,
    /// Lines before this byte of the text are not shown: see `Engine::shown_from`.
    pub(crate) shown_from: u32,
    /// If that is asked for: what its structural lines are about, in file order.
    pub(crate) structural: Vec<LineOf>,
}

/// A block as it is handed on: by itself, it is more than a kilobyte that would be copied each time, by one worker mostly.
pub(crate) type BoxedBlock = Box<DecodedBlock>;

impl DecodedBlock {
    /// Returns the bytes that the spans of the decoded block refer to, and padding after them: the
    /// block's text, or what was written of a segment that was decoded as columns.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.decoded.sparse.get().unwrap_or_else(|| self.text.padded())
    }

    /// The number of the line that begins at `line`; only if it is noted where lines end.
    pub(crate) fn line_of(&self, line: u32) -> LineNumber {
        let before = self.decoded.newlines.partition_point(|newline| *newline < line);
        LineNumber { file: self.origin.file, line: self.lines_before + before as u64 + 1 }
    }

    /// The definitions that hold for the line that begins at `line`.
    pub(crate) fn defs_at(&self, line: u32) -> Option<&DefTable> {
        let after = self.decoded.defs.as_deref().filter(|_| line >= self.decoded.defs_from);
        after.or(self.assumed.as_deref())
    }
}

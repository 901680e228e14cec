//! A block with its text, its origin and its decoded form.

use std::sync::Arc;

use paje_parser::DefTable;
use splitter::{Block, ReadError};

use super::decoded::Decoded;
use crate::input::files::Origin;
use crate::memory::LineNumber;
use crate::names::ledger::LineOf;

/// A block and its decoded form.
#[derive(Debug, Default)]
pub(crate) struct DecodedBlock {
    pub(crate) text: Block,
    pub(crate) decoded: Decoded,
    /// Number of the block in the trace.
    pub(crate) number: u64,
    /// The file that it belongs to.
    pub(crate) origin: Origin,
    /// The definitions before it that it was decoded with.
    pub(crate) assumed: Option<Arc<DefTable>>,
    /// Index of the maps of its symbols.
    pub(crate) maps: usize,
    /// Most parts of a whole block that it has had so far, for which it has memory.
    pub(crate) parts: usize,
    /// The worker that decoded it.
    pub(crate) worker: usize,
    /// Error of reading the text behind it.
    pub(crate) failure: Option<ReadError>,
    /// Whether it is the last block of its file, as far as is known.
    pub(crate) is_last: bool,
    /// Whether its file begins with a byte order mark.
    pub(crate) is_marked: bool,
    /// Number of lines of its file before it.
    pub(crate) lines_before: u64,
    /// Lines before this byte must not be shown: see `Engine::shown_from`.
    pub(crate) shown_from: u32,
    /// Subjects of its structural lines, in file order; filled only for a ledger.
    pub(crate) structural: Vec<LineOf>,
}

/// A block on the heap: it is more than a kilobyte, which would be copied each time that it is passed on.
pub(crate) type BoxedBlock = Box<DecodedBlock>;

impl DecodedBlock {
    /// Returns the bytes that the spans of the decoded block refer to, and padding after them: the
    /// block's text, or what was written of a segment that was decoded as columns.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.decoded.sparse.get().unwrap_or_else(|| self.text.padded())
    }

    /// Returns the number of the line that begins at `line`, if ends of lines were kept.
    pub(crate) fn line_of(&self, line: u32) -> LineNumber {
        let before = self.decoded.newlines.partition_point(|newline| *newline < line);
        LineNumber { file: self.origin.file, line: self.lines_before + before as u64 + 1 }
    }

    /// Returns the definitions for the line that begins at `line`.
    pub(crate) fn defs_at(&self, line: u32) -> Option<&DefTable> {
        let after = self.decoded.defs.as_deref().filter(|_| line >= self.decoded.defs_from);
        after.or(self.assumed.as_deref())
    }
}

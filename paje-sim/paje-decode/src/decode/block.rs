use std::sync::Arc;

use paje_parser::DefTable;
use splitter::{Block, ReadError};

use super::decoded::Decoded;
use crate::input::files::Origin;
use paje_model::memory::LineNumber;
use paje_model::names::ledger::LineOf;

#[derive(Debug, Default)]
pub struct DecodedBlock {
    pub text: Block,
    pub decoded: Decoded,
    pub number: u64,
    pub origin: Origin,
    /// Definitions with which the block was decoded.
    pub assumed: Option<Arc<DefTable>>,
    /// Index of the maps of the block's symbols.
    pub maps: usize,
    /// Largest size that the block has had so far, in parts of a whole block. The block has memory for this size.
    pub parts: usize,
    pub worker: usize,
    /// Error that prevented reading the text after the block.
    pub failure: Option<ReadError>,
    /// Whether the block is known to be the last block of its file.
    pub is_last: bool,
    /// Whether the block's file begins with a byte order mark.
    pub is_marked: bool,
    pub lines_before: u64,
    /// Messages must not show lines before this byte. See `Engine::shown_from`.
    pub shown_from: u32,
    /// Subjects of the block's structural lines, in file order. Filled only for a ledger.
    pub structural: Vec<LineOf>,
}

/// A block on the heap, since copying its kilobyte on each move would be slow.
pub type BoxedBlock = Box<DecodedBlock>;

impl DecodedBlock {
    /// Returns the bytes that spans of the decoded block refer to, with padding. They are the block's text or, if a
    /// segment was decoded as columns, the parts of its text that were written.
    pub fn bytes(&self) -> &[u8] {
        self.decoded.sparse.get().unwrap_or_else(|| self.text.padded())
    }

    /// Returns the number of the line that begins at `line`, if the block knows the ends of its lines.
    pub fn line_of(&self, line: u32) -> LineNumber {
        let before = self.decoded.newlines.partition_point(|newline| *newline < line);
        LineNumber { file: self.origin.file, line: self.lines_before + before as u64 + 1 }
    }

    /// Returns the definitions for the line that begins at `line`.
    pub fn defs_at(&self, line: u32) -> Option<&DefTable> {
        let after = self.decoded.defs.as_deref().filter(|_| line >= self.decoded.defs_from);
        after.or(self.assumed.as_deref())
    }
}

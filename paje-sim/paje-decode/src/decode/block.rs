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
    pub assumed: Option<Arc<DefTable>>,
    /// Index of the maps that translate the block's symbols.
    pub maps: usize,
    /// Largest size of the block so far, in parts of a whole block. The block has memory for this size.
    pub parts: usize,
    pub worker: usize,
    /// Error that prevented reading the text after the block.
    pub failure: Option<ReadError>,
    pub is_last: bool,
    pub is_marked: bool,
    pub lines_before: u64,
    /// Offset before which messages must not show lines. See `Engine::shown_from`.
    pub shown_from: u32,
    /// Types, values and containers that the block's structural lines name, in file order. Filled only for a ledger.
    pub structural: Vec<LineOf>,
}

/// A block on the heap, since copying its kilobyte on each move would be slow.
pub type BoxedBlock = Box<DecodedBlock>;

impl DecodedBlock {
    /// Returns the padded bytes that spans of the decoded block refer to. They are the block's text or, if a segment
    /// was decoded as columns, the written parts of its text.
    pub fn bytes(&self) -> &[u8] {
        self.decoded.sparse.get().unwrap_or_else(|| self.text.padded())
    }

    /// Returns the number of the line that begins at `line`, if the block knows the ends of its lines.
    pub fn line_of(&self, line: u32) -> LineNumber {
        let before = self.decoded.newlines.partition_point(|newline| *newline < line);
        LineNumber { file: self.origin.file, line: self.lines_before + before as u64 + 1 }
    }

    pub fn defs_at(&self, line: u32) -> Option<&DefTable> {
        let after = self.decoded.defs.as_deref().filter(|_| line >= self.decoded.defs_from);
        after.or(self.assumed.as_deref())
    }
}

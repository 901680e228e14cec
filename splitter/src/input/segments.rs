//! Segments of packed traces and archives, as blocks of whole lines.

use std::fmt;
use std::io;
use std::sync::Arc;

use paje_parser::ByteOffset;

use super::compression::Compression;
use super::foreign;
use crate::blocks::{Block, ColumnSegment, ReadError, Segment};

/// The segments of a packed trace, of a time window or of an archive, one after the other.
pub struct Segments {
    next: Box<dyn FnMut() -> NextLines + Send>,
    is_window: bool,
    position: u64,
    left: usize,
}

/// The lines of the next segment, or `None` at the end.
type NextLines = io::Result<Option<Arc<dyn ColumnSegment>>>;

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Segments")
    }
}

impl Segments {
    /// Creates `left` segments, which `next` returns one after the other.
    #[cfg(any(feature = "otf2", feature = "pack"))]
    pub(super) fn new(left: usize, next: impl FnMut() -> NextLines + Send + 'static) -> Self {
        Segments { next: Box::new(next), is_window: false, position: 0, left }
    }

    #[cfg(feature = "pack")]
    pub(super) fn of_window(self) -> Self {
        Segments { is_window: true, ..self }
    }

    /// Returns whether the segments belong to a time window. Only valid traces have such windows.
    #[must_use]
    pub const fn is_window(&self) -> bool {
        self.is_window
    }

    /// Returns the offset in the text where the next segment begins.
    #[must_use]
    pub const fn position(&self) -> ByteOffset {
        ByteOffset(self.position)
    }

    /// Returns the next segment, or `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn next_segment(&mut self) -> io::Result<Option<Segment>> {
        let lines = (self.next)()?;
        Ok(lines.map(|lines| self.advance(lines)))
    }

    fn advance(&mut self, lines: Arc<dyn ColumnSegment>) -> Segment {
        let start = self.position();
        self.left = self.left.saturating_sub(1);
        self.position += lines.text_len() as u64;
        Segment { lines, start, is_last: self.left == 0 }
    }

    /// Skips segments up to this byte of the text, or up to the end of the text.
    ///
    /// # Errors
    /// The file cannot be read up to there, or is damaged.
    pub fn pass_to(&mut self, byte: ByteOffset) -> io::Result<()> {
        while self.position < byte.0
            && let Some(segment) = self.next_segment()?
        {
            segment.lines.text()?;
        }
        Ok(())
    }
}

impl Block {
    /// Fills the block with the text of a file's first segment. Checks that the text may be a
    /// trace.
    ///
    /// # Errors
    /// The text is not a trace or is damaged. The block is then empty.
    pub fn unpack_first(&mut self, segment: Segment) -> Result<(), ReadError> {
        self.set_segment(segment);
        self.unpack()?;
        let head = &self.text()[..self.text().len().min(foreign::HEAD)];
        let checked = foreign::check(head, Some(Compression::Packed));
        if checked.is_err() {
            self.set(self.start(), 0..0);
        }
        Ok(checked?)
    }
}

//! Blocks whose lines are not stored as text.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use paje_parser::ByteOffset;
use paje_parser::columns::{Hole, Lines, Wanted};

use super::{Block, PADDING, ReadError};

/// Whole lines in a binary format. The lines can be decoded without their text.
pub trait ColumnSegment: Send + Sync {
    /// Returns the number of bytes of the text.
    fn text_len(&self) -> usize;

    /// Writes the lines as columns to `lines`. The columns may refer to bytes of the segment's
    /// text. Writes these bytes to `text`, at the same offsets. Calls `judge` with the first line
    /// of each step to choose the form of the step.
    ///
    /// Returns `false` if the lines must be read as text, which is the default. The contents of
    /// `lines` and `text` are then unspecified.
    fn columns(
        &self,
        text: &mut Vec<u8>,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        let _ = (text, lines, judge);
        false
    }

    /// Returns the text after checking it, if the format has checksums.
    ///
    /// # Errors
    /// The segment is damaged.
    fn text(&self) -> io::Result<Vec<u8>> {
        Ok(self.unchecked_text())
    }

    /// Returns the text without checking it.
    fn unchecked_text(&self) -> Vec<u8>;
}

/// A segment at its position in the trace.
pub struct Segment {
    pub(crate) lines: Arc<dyn ColumnSegment>,
    pub(crate) start: ByteOffset,
    pub(crate) is_last: bool,
}

impl Segment {
    /// Returns the offset in the trace's text where the segment begins.
    #[must_use]
    pub const fn start(&self) -> ByteOffset {
        self.start
    }

    /// Returns whether the segment is the last segment of its file.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.is_last
    }
}

/// Lines of a block that are not stored as text. Their text is made on demand.
#[derive(Clone)]
pub(super) struct Unpacked {
    lines: Arc<dyn ColumnSegment>,
    text: OnceLock<Vec<u8>>,
}

impl fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpacked")
    }
}

impl Unpacked {
    pub(super) fn padded(&self) -> &[u8] {
        self.text.get_or_init(|| {
            let mut text = self.lines.unchecked_text();
            text.resize(self.lines.text_len() + PADDING, 0);
            text
        })
    }
}

impl Block {
    /// Fills the block with a segment. The segment remains packed until it is decoded.
    pub fn set_segment(&mut self, segment: Segment) {
        let Segment { lines, start, .. } = segment;
        self.set(start, 0..0);
        self.len = lines.text_len();
        self.segment = Some(Unpacked { lines, text: OnceLock::new() });
    }

    /// Writes the lines of a segment as columns: see [`ColumnSegment::columns`]. `text` gets the
    /// size of the block's text and [`PADDING`] more bytes.
    ///
    /// Returns `false` if the block holds text, or the segment has no columns.
    pub fn columns(
        &self,
        text: &mut Vec<u8>,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> bool {
        let Some(Unpacked { lines: segment, .. }) = &self.segment else { return false };
        let room = segment.text_len() + PADDING;
        // Zero pages of the system take memory only where they are written, so the whole room is
        // allocated at once.
        if text.len() < room / 2 {
            *text = vec![0; room];
        }
        text.resize(text.len().max(room), 0);
        segment.columns(text, lines, judge)
    }

    /// Turns a segment into text. A block of text stays as it is.
    ///
    /// # Errors
    /// The segment is damaged. The block is then empty.
    pub fn unpack(&mut self) -> Result<(), ReadError> {
        let Some(Unpacked { lines, .. }) = self.segment.take() else { return Ok(()) };
        self.set(self.start, 0..0);
        let text = lines.text()?;
        self.room(text.len())[..text.len()].copy_from_slice(&text);
        self.set(self.start, 0..text.len());
        Ok(())
    }

    /// Returns the line that begins at byte `start` of a segment, or `None` for a block of text.
    #[must_use]
    pub fn later(&self, start: u32) -> Option<LaterLine> {
        let lines = Arc::clone(&self.segment.as_ref()?.lines);
        Some(LaterLine { lines, start: start as usize })
    }
}

/// A line of a segment. Its text can still be read after the block has been filled again.
#[derive(Clone)]
pub struct LaterLine {
    lines: Arc<dyn ColumnSegment>,
    start: usize,
}

impl fmt::Debug for LaterLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaterLine").field("start", &self.start).finish_non_exhaustive()
    }
}

impl LaterLine {
    /// Returns the line's text without the newline.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let text = self.lines.unchecked_text();
        let line = text.get(self.start..).unwrap_or_default();
        let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
        line[..end].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(&'static str);

    impl ColumnSegment for Text {
        fn text_len(&self) -> usize {
            self.0.len()
        }

        fn unchecked_text(&self) -> Vec<u8> {
            self.0.into()
        }
    }

    #[test]
    fn segments_without_columns_are_text() {
        let lines = Arc::new(Text("one\ntwo"));
        let mut block = Block::default();
        block.set_segment(Segment { lines, start: ByteOffset(5), is_last: true });
        assert_eq!((block.text_len(), block.start()), (7, ByteOffset(5)));
        for is_segment in [true, false] {
            assert_eq!(block.text(), b"one\ntwo");
            assert!(block.padded().len() >= 7 + PADDING);
            assert_eq!(block.later(4).map(|line| line.text()), is_segment.then(|| b"two".into()));
            let mut judge = |_: &[u8], _: &[Hole]| Wanted::Text;
            assert!(!block.columns(&mut Vec::new(), &mut Lines::default(), &mut judge));
            block.unpack().unwrap();
        }
    }

    #[test]
    fn later_lines_are_lines_of_the_text() {
        let text = "# one\n\n# three,\ttwo words\r\n# the last";
        let later = |start| LaterLine { lines: Arc::new(Text(text)), start }.text();
        let mut start = 0;
        for line in text.split('\n') {
            assert_eq!(later(start), line.as_bytes());
            start += line.len() + 1;
        }
        for start in [text.len(), text.len() + 1, usize::MAX] {
            assert_eq!(later(start), b"");
        }
    }
}

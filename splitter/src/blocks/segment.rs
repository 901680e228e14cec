//! Blocks that are segments of packed traces.

use std::fmt;
use std::sync::{Arc, OnceLock};

use paje_pack::{Hole, Lines, Packed, Wanted};
use paje_parser::ByteOffset;

use super::{Block, PADDING, ReadError};
use crate::input::damaged;

/// A segment of a packed trace, of whole lines.
pub struct Segment {
    pub(crate) content: Content,
    pub(crate) start: ByteOffset,
    pub(crate) is_last: bool,
}

/// Lines, packed or not.
pub(crate) enum Content {
    Packed(Arc<Packed>),
    /// It was not packed.
    Text(Arc<Vec<u8>>),
}

impl Content {
    /// Bytes of the text.
    pub(crate) fn text_len(&self) -> u64 {
        match self {
            Content::Packed(packed) => packed.text_len(),
            Content::Text(lines) => lines.len() as u64,
        }
    }
}

impl Segment {
    /// Byte of the text where it begins.
    #[must_use]
    pub const fn start(&self) -> ByteOffset {
        self.start
    }

    /// There is none behind it.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.is_last
    }
}

/// A packed segment, and its text once somebody has asked for it.
#[derive(Clone)]
pub(super) struct Kept {
    packed: Arc<Packed>,
    whole: OnceLock<Vec<u8>>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kept")
    }
}

impl Kept {
    /// All of the text, and the padding behind it.
    pub(super) fn padded(&self) -> &[u8] {
        self.whole.get_or_init(|| {
            // Its lines were told as columns, and so the text is told, too.
            let mut text = self.packed.unchecked().unwrap_or_default();
            text.resize(self.packed.text_len() as usize + PADDING, 0);
            text
        })
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole.get().is_some()
    }
}

impl Block {
    /// Takes a segment as text.
    ///
    /// # Errors
    /// It does not tell a text of whole lines: the block is empty.
    pub fn unpack(&mut self, segment: &Segment) -> Result<(), ReadError> {
        self.set(segment.start, 0..0);
        let unpacked;
        let text = match &segment.content {
            Content::Text(lines) => &**lines,
            Content::Packed(packed) => {
                unpacked = packed.unpack().map_err(damaged)?;
                if !segment.is_last && !unpacked.ends_with(b"\n") {
                    return Err(damaged(packed.cuts_a_line()).into());
                }
                &unpacked
            }
        };
        self.room(text.len())[..text.len()].copy_from_slice(text);
        self.set(segment.start, 0..text.len());
        Ok(())
    }

    /// Takes a segment as columns, as [`Packed::columns`] gives them; as text, and without lines, where that gives none. `judge` is
    /// shown the first line of each step.
    ///
    /// # Errors
    /// As [`Block::unpack`].
    pub fn unpack_columns(
        &mut self,
        segment: Segment,
        lines: &mut Lines,
        judge: &mut dyn FnMut(&[u8], &[Hole]) -> Wanted,
    ) -> Result<(), ReadError> {
        // The system's zeros, of which only what is written takes memory: so all of it is asked for at once, and little is copied.
        let len = segment.content.text_len() as usize;
        if self.buffer.len() < len / 2 {
            self.buffer = Vec::new();
        }
        self.room(len);
        self.set(segment.start, 0..0);
        let Segment { content, start, is_last } = segment;
        match content {
            Content::Packed(packed) if packed.columns(&mut self.buffer, lines, judge) => {
                self.set(start, 0..packed.text_len() as usize);
                self.segment = Some(Kept { packed, whole: OnceLock::new() });
                Ok(())
            }
            content => {
                lines.lines.clear();
                self.unpack(&Segment { content, start, is_last })
            }
        }
    }

    /// It was taken as columns.
    #[must_use]
    pub const fn is_of_columns(&self) -> bool {
        self.segment.is_some()
    }

    /// The line that begins at `start`, whose text may be asked for when the block has another; none of a block
    /// that was not taken as columns.
    #[must_use]
    pub fn later(&self, start: u32) -> Option<LaterLine> {
        let packed = Arc::clone(&self.segment.as_ref()?.packed);
        Some(LaterLine { packed, start: start as usize })
    }
}

/// A line of a segment. Keeps the segment as it is packed.
#[derive(Clone)]
pub struct LaterLine {
    packed: Arc<Packed>,
    start: usize,
}

impl fmt::Debug for LaterLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaterLine").field("start", &self.start).finish_non_exhaustive()
    }
}

impl LaterLine {
    /// Its text, without the newline.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let text = self.packed.unchecked().unwrap_or_default();
        let line = text.get(self.start..).unwrap_or_default();
        let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        line[..end].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines are those of the text, to the last, which need not end; behind it there is nothing.
    #[test]
    fn later_lines_are_those_of_the_text() {
        let text = "# one\n\n# three,\ttwo words\r\n# the last";
        let file = paje_pack::pack(text.as_bytes(), Vec::new(), paje_pack::Settings::default());
        let file = file.unwrap();
        let mut reader = paje_pack::Reader::new(&file[..]);
        let packed = Arc::new(reader.next_segment().unwrap().unwrap());
        let mut start = 0;
        for line in text.split('\n') {
            let later = LaterLine { packed: Arc::clone(&packed), start };
            assert_eq!(later.text(), line.as_bytes());
            start += line.len() + 1;
        }
        for start in [text.len(), text.len() + 1, usize::MAX] {
            assert_eq!(LaterLine { packed: Arc::clone(&packed), start }.text(), b"");
        }
    }
}

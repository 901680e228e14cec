//! Segments of packed traces, which are blocks of whole lines.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use paje_pack::{Error, Piece, Reader, Summaries, Window};
use paje_parser::ByteOffset;

use super::compression::{Compression, explain};
use super::foreign;
use super::medium::Placed;
use crate::blocks::{Block, Content, ReadError, Segment};

/// The segments of a packed trace, or those of a window of time, one after the other.
pub struct Segments {
    from: From,
    /// Bytes of text of those that were given.
    position: u64,
    /// Number of those that were not.
    left: usize,
}

/// Place that segments come from.
enum From {
    All(Box<Reader<BufReader<Placed>>>),
    /// Lines in the place of segments are segments of their own.
    Window(Box<Window<Placed>>),
}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Segments")
    }
}

impl Segments {
    /// None if some are longer than this, or may end within a line.
    pub(super) fn new(
        file: File,
        taken: Arc<AtomicU64>,
        longest: usize,
    ) -> Result<Option<Segments>, Error> {
        let medium = |file| Placed { file, place: 0, taken: Arc::clone(&taken) };
        let Ok(again) = file.try_clone() else { return Ok(None) };
        let left = Summaries::new(medium(again))?.whole_lines(longest as u64);
        let from = From::All(Box::new(Reader::new(BufReader::new(medium(file)))));
        Ok(left.map(|left| Segments { from, position: 0, left }))
    }

    /// The same of a window.
    pub(super) fn within(window: Window<Placed>, longest: usize) -> Option<Segments> {
        let left = window.whole_lines(longest as u64)?;
        Some(Segments { from: From::Window(Box::new(window)), position: 0, left })
    }

    /// They are of a window of time, which only sound traces have.
    #[must_use]
    pub const fn is_window(&self) -> bool {
        matches!(self.from, From::Window(_))
    }

    /// Byte of the text behind the segments that were given.
    #[must_use]
    pub const fn position(&self) -> ByteOffset {
        ByteOffset(self.position)
    }

    /// The next segment; none at the end.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn next_segment(&mut self) -> io::Result<Option<Segment>> {
        let content = match &mut self.from {
            From::All(reader) => {
                reader.next_segment().map(|all| all.map(Arc::new).map(Content::Packed))
            }
            From::Window(window) => window.next_piece().map(|piece| match piece? {
                Piece::Lines(lines) => Some(Content::Text(Arc::new(lines))),
                Piece::Segment(packed) => Some(Content::Packed(Arc::from(packed))),
            }),
        };
        let Some(content) = content.map_err(damaged)? else { return Ok(None) };
        let start = self.position();
        self.position += content.text_len();
        self.left = self.left.saturating_sub(1);
        Ok(Some(Segment { content, start, is_last: self.left == 0 }))
    }

    /// Reads on to this byte of the text, or to its end.
    ///
    /// # Errors
    /// The file cannot be read up to there, or is damaged.
    pub fn pass_to(&mut self, byte: ByteOffset) -> io::Result<()> {
        while self.position < byte.0
            && let Some(segment) = self.next_segment()?
        {
            if let Content::Packed(packed) = &segment.content {
                packed.unpack().map_err(damaged)?;
            }
        }
        Ok(())
    }
}

/// Error of a segment that could not be unpacked, in the user's words.
pub(crate) fn damaged(error: Error) -> io::Error {
    explain(Compression::Packed, error.into())
}

impl Block {
    /// Takes a segment as text; the first may be something else than a trace.
    ///
    /// # Errors
    /// It is that, or damaged: the block is empty.
    pub fn unpack_first(&mut self, segment: &Segment) -> Result<(), ReadError> {
        self.unpack(segment)?;
        let head = &self.text()[..self.text().len().min(foreign::HEAD)];
        let checked = foreign::check(head, Some(Compression::Packed));
        if checked.is_err() {
            self.set(segment.start, 0..0);
        }
        Ok(checked?)
    }
}

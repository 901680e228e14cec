//! Segments of packed traces, which are blocks of whole lines.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Take};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use paje_pack::{Error, Reader, Summaries, Window};
use paje_parser::ByteOffset;

use super::compression::{Compression, explain};
use super::foreign;
use super::medium::Placed;
use crate::blocks::{Block, Content, ReadError, Segment};

/// The segments of a packed trace, or those of a window of time, one after the other.
pub struct Segments {
    /// Lines before the segments of a window.
    before: Option<Vec<u8>>,
    reader: Reader<BufReader<Take<Placed>>>,
    /// Lines behind them.
    after: Option<Vec<u8>>,
    /// Bytes of text of those that were given.
    position: u64,
    /// Number of those that were not.
    left: usize,
    is_window: bool,
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
        let reader = Reader::new(BufReader::new(medium(file).take(u64::MAX)));
        let of = |left| Segments {
            before: None,
            reader,
            after: None,
            position: 0,
            left,
            is_window: false,
        };
        Ok(left.map(of))
    }

    /// The same of a window, which has its first and its last lines as segments of their own.
    pub(super) fn within(window: Window<Placed>, longest: usize) -> Option<Segments> {
        let (left, bytes) = (window.whole_lines(longest as u64)?, window.packed_bytes());
        let Window { before, segments, after } = window;
        if before.len().max(after.len()) > longest {
            return None;
        }
        let some = |text: Vec<u8>| Some(text).filter(|text| !text.is_empty());
        let (before, after) = (some(before), some(after));
        let left = left + usize::from(before.is_some()) + usize::from(after.is_some());
        // Nothing behind them in the file is read ahead.
        let reader = segments.through(|placed| BufReader::new(placed.take(bytes)));
        Some(Segments { before, reader, after, position: 0, left, is_window: true })
    }

    /// They are of a window of time, which only sound traces have.
    #[must_use]
    pub const fn is_window(&self) -> bool {
        self.is_window
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
        let content = match self.before.take() {
            Some(lines) => Content::Text(Arc::new(lines)),
            None => match self.reader.next_segment().map_err(damaged)? {
                Some(packed) => Content::Packed(Arc::new(packed)),
                None => match self.after.take() {
                    Some(lines) => Content::Text(Arc::new(lines)),
                    None => return Ok(None),
                },
            },
        };
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

//! Segments of packed traces, which are blocks of whole lines.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use paje_pack::{Error, Reader, Summaries};
use paje_parser::ByteOffset;

use super::compression::{Compression, explain};
use super::foreign;
use super::medium::Placed;
use crate::blocks::{Block, ReadError, Segment};

/// The segments of a packed trace, one after the other.
pub struct Segments {
    reader: Reader<BufReader<Placed>>,
    /// Bytes of text of those that were given.
    position: u64,
    /// Number of those that were not.
    left: usize,
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
        let reader = Reader::new(BufReader::new(medium(file)));
        Ok(left.map(|left| Segments { reader, position: 0, left }))
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
        let Some(packed) = self.reader.next_segment().map_err(damaged)? else { return Ok(None) };
        let start = self.position();
        self.position += packed.text_len();
        self.left = self.left.saturating_sub(1);
        Ok(Some(Segment { packed, start, is_last: self.left == 0 }))
    }

    /// Reads on to this byte of the text, or to its end.
    ///
    /// # Errors
    /// The file cannot be read up to there, or is damaged.
    pub fn pass_to(&mut self, byte: ByteOffset) -> io::Result<()> {
        while self.position < byte.0
            && let Some(segment) = self.next_segment()?
        {
            segment.packed.unpack().map_err(damaged)?;
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

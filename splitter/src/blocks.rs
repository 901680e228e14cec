//! Blocks of whole lines, read from a stream.
//!
//! A trace can be cut at any newline. A newline ends a field even inside quotes, so no field,
//! comment or event continues after a newline (lang-paje 1.3.1, "String delimitation"). Only event
//! definitions span lines, and readers carry an unfinished definition from block to block.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

use paje_parser::ByteOffset;

use self::segment::Unpacked;
pub use self::segment::{ColumnSegment, LaterLine, Segment};

mod segment;

/// Number of readable bytes after a block's text, so that loads of a fixed size need no bounds
/// checks. The values of these bytes have no meaning.
pub const PADDING: usize = 64;

/// U+FEFF in UTF-8. Some editors write it at the beginning of a text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Sizes in bytes that determine how a trace is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a block, unless a single line is longer. With 128 KiB, the text and the events of a
    /// block stay in a core's second-level cache. With 1 MiB, decoding takes a tenth longer.
    pub block: usize,
    /// Length of the longest accepted line without its newline, at most [`Limits::LONGEST_LINE`].
    pub line: usize,
}

impl Limits {
    /// Largest value of [`Limits::line`]: one gibibyte, because positions in a block have 32 bits.
    pub const LONGEST_LINE: usize = 1 << 30;

    /// Returns these limits with another length of the longest line. Reduces the block size to this
    /// length if necessary, because a line that fits in a block is never too long.
    #[must_use]
    pub fn with_line(self, line: usize) -> Self {
        let line = line.min(Limits::LONGEST_LINE);
        Limits { block: self.block.min(line.max(1)), line }
    }
}

impl Default for Limits {
    fn default() -> Self {
        // Lines of real traces have at most a few hundred bytes. A file that is not a trace may be
        // a single long line. Such a line must be refused before it fills memory.
        Limits { block: 1 << 17, line: 1 << 26 }
    }
}

/// Why a block could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The input failed.
    Io(io::Error),
    /// A line is longer than [`Limits::line`].
    LineTooLong {
        /// Offset where the line begins.
        start: ByteOffset,
        /// Limit in bytes.
        limit: usize,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => error.fmt(f),
            ReadError::LineTooLong { start, limit } => {
                write!(f, "the line that begins at byte {start} is longer than {limit} bytes")
            }
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Io(error) => error.source(),
            ReadError::LineTooLong { .. } => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

/// A block of whole lines of a trace. Its memory is reused for the next lines.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The text, from `offset` on, and at least [`PADDING`] more bytes.
    buffer: Vec<u8>,
    offset: usize,
    len: usize,
    start: ByteOffset,
    /// The lines, if they are not stored as text. The buffer is then unused.
    segment: Option<Unpacked>,
}

impl Block {
    /// Returns the lines. Each line ends with a newline, except perhaps the trace's last line. If
    /// the block is a segment, the first call makes its text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.padded()[..self.len]
    }

    /// Returns the size of the lines in bytes.
    #[must_use]
    pub const fn text_len(&self) -> usize {
        self.len
    }

    /// Returns the text and at least [`PADDING`] readable bytes after it.
    #[must_use]
    pub fn padded(&self) -> &[u8] {
        match &self.segment {
            None => &self.buffer[self.offset..],
            Some(segment) => segment.padded(),
        }
    }

    /// Returns the offset in the trace where the text begins.
    #[must_use]
    pub const fn start(&self) -> ByteOffset {
        self.start
    }

    /// Replaces a byte order mark at the beginning of the text by blanks. Returns whether there was
    /// such a mark.
    pub fn blank_mark(&mut self) -> bool {
        let is_marked = self.text().starts_with(BYTE_ORDER_MARK);
        if is_marked {
            self.buffer[self.offset..][..BYTE_ORDER_MARK.len()].fill(b' ');
        }
        is_marked
    }

    /// Moves the block's position by `bytes`, the total size of the previous files of the trace.
    pub fn put_behind(&mut self, bytes: u64) {
        self.start.0 += bytes;
    }

    /// Fills the block with lines of `len` bytes that begin at `start`.
    ///
    /// # Panics
    /// Panics if the lines have more than `len` bytes.
    pub fn fill<'l>(
        &mut self,
        start: ByteOffset,
        len: usize,
        lines: impl Iterator<Item = &'l [u8]>,
    ) {
        let room = self.room(len);
        let mut filled = 0;
        for line in lines {
            room[filled..filled + line.len()].copy_from_slice(line);
            filled += line.len();
        }
        self.set(start, 0..filled);
    }

    /// Returns the buffer with room for `bytes` bytes and the padding. The buffer never shrinks, so
    /// that memory is cleared only once.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut [u8] {
        let bytes = bytes.saturating_add(PADDING);
        match self.buffer.is_empty() {
            true => self.buffer = vec![0; bytes],
            false => self.buffer.resize(self.buffer.len().max(bytes), 0),
        }
        &mut self.buffer
    }

    /// Makes `text`, a part of the buffer, the text of the block. It begins at `start` in the
    /// trace.
    pub(crate) fn set(&mut self, start: ByteOffset, text: Range<usize>) {
        self.room(text.end);
        (self.start, self.offset, self.len) = (start, text.start, text.len());
        self.segment = None;
    }
}

/// Cuts a stream into blocks.
#[derive(Debug)]
pub struct Blocks<R> {
    input: R,
    limits: Limits,
    /// Bytes that were read after the last newline of the previous block.
    carry: Vec<u8>,
    position: ByteOffset,
    ended: bool,
    /// Whether reading continues after errors: see [`Blocks::forgiving`].
    forgives: bool,
    failure: Option<io::Error>,
}

impl<R: Read> Blocks<R> {
    /// Creates blocks that read from `input`.
    pub fn new(input: R, limits: Limits) -> Self {
        Blocks {
            input,
            limits,
            carry: Vec::new(),
            position: ByteOffset(0),
            ended: false,
            forgives: false,
            failure: None,
        }
    }

    /// Makes reading continue after errors. If the input fails, the whole lines before the failure
    /// are returned before the error. A line that is too long causes an error and is skipped.
    #[must_use]
    pub fn forgiving(self) -> Self {
        Blocks { forgives: true, ..self }
    }

    /// Returns the total size in bytes of the blocks read so far.
    pub const fn position(&self) -> ByteOffset {
        self.position
    }

    /// Skips the text up to this byte, or up to the end of the text if that comes first.
    ///
    /// # Errors
    /// The input fails.
    pub fn pass_to(&mut self, byte: ByteOffset) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.position.0 += std::mem::take(&mut self.carry).len() as u64;
        let mut buffer = vec![0; 1 << 16];
        while !self.ended && self.position < byte {
            match self.input.read(&mut buffer) {
                Ok(0) => self.ended = true,
                Ok(count) => self.position.0 += count as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Fills `block` with the next whole lines. Returns `false` at the end of the input.
    ///
    /// # Errors
    /// The input fails, or a line is longer than the limit.
    pub fn read(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        // If reading fails, the block stays empty.
        block.set(self.position, 0..0);
        if let Some(failure) = self.failure.take() {
            return Err(failure.into());
        }
        let mut filled = self.carry.len();
        let mut room = self.limits.block.max(filled + 1);
        let mut buffer = block.room(room);
        buffer[..filled].copy_from_slice(&self.carry);
        self.carry.clear();
        let mut searched = 0;
        let len = loop {
            while filled < room && !self.ended {
                match self.input.read(&mut buffer[filled..room]) {
                    Ok(0) => self.ended = true,
                    Ok(count) => filled += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if self.forgives => {
                        self.failure = Some(error);
                        self.ended = true;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            if let Some(failure) = self.failure.take() {
                // The last line may be incomplete.
                match memchr::memrchr(b'\n', &buffer[..filled]) {
                    None => return Err(failure.into()),
                    Some(newline) => {
                        self.failure = Some(failure);
                        filled = newline + 1;
                        break filled;
                    }
                }
            }
            if self.ended {
                break filled;
            }
            if let Some(newline) = memchr::memrchr(b'\n', &buffer[searched..filled]) {
                break searched + newline + 1;
            }
            if filled > self.limits.line {
                let start = self.position;
                if self.forgives {
                    self.skip_line(filled, buffer);
                }
                return Err(ReadError::LineTooLong { start, limit: self.limits.line });
            }
            searched = filled;
            let most = self.limits.line.max(filled).saturating_add(1);
            room = filled.saturating_mul(2).min(most);
            buffer = block.room(room);
        };
        self.carry.extend_from_slice(&buffer[len..filled]);
        block.set(self.position, 0..len);
        self.position.0 += len as u64;
        Ok(len > 0)
    }

    #[cold]
    fn skip_line(&mut self, filled: usize, buffer: &mut [u8]) {
        self.position.0 += filled as u64;
        while !self.ended {
            match self.input.read(buffer) {
                Ok(0) => self.ended = true,
                Ok(count) => match memchr::memchr(b'\n', &buffer[..count]) {
                    Some(newline) => {
                        self.carry.extend_from_slice(&buffer[newline + 1..count]);
                        self.position.0 += newline as u64 + 1;
                        return;
                    }
                    None => self.position.0 += count as u64,
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error);
                    self.ended = true;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! A stream of bytes as a sequence of blocks of whole lines.
//!
//! Any newline is a safe place to cut: a newline ends a field even inside quotes, so no field,
//! comment or event reaches over it (lang-paje 1.3.1, "String delimitation"). Only an event
//! definition spans lines; readers carry the one at hand from block to block.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

use paje_parser::ByteOffset;

use self::segment::Unpacked;
pub use self::segment::{ColumnSegment, LaterLine, Segment};

mod segment;

/// Bytes after a block's text that may be read (their content means nothing), so that fixed-size
/// loads at a field need no care at the end.
pub const PADDING: usize = 64;

/// U+FEFF in UTF-8, which some editors put before a text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Sizes in bytes that rule how a trace is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of a block, unless a single line is longer. Around 128 KiB the text and the events of a
    /// block stay in a core's second-level cache: with 1 MiB, decoding takes a tenth longer.
    pub block: usize,
    /// Longest line that is accepted, without its newline; at most [`Limits::LONGEST_LINE`].
    pub line: usize,
}

impl Limits {
    /// One gibibyte: places in a line have 32 bits, and so have those in a block around it.
    pub const LONGEST_LINE: usize = 1 << 30;

    /// These limits with another one for lines. A line that fits in a block is never too long, so that
    /// blocks become smaller if need be.
    #[must_use]
    pub fn with_line(self, line: usize) -> Self {
        let line = line.min(Limits::LONGEST_LINE);
        Limits { block: self.block.min(line.max(1)), line }
    }
}

impl Default for Limits {
    fn default() -> Self {
        // Real traces have lines of some hundred bytes. What is no trace at all may be one line, and is
        // not to fill the memory before it is refused.
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
        /// Offset at which the line begins.
        start: ByteOffset,
        /// The limit.
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
            ReadError::Io(error) => Some(error),
            ReadError::LineTooLong { .. } => None,
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

/// Some whole lines of a trace. The memory is reused for the next ones.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The text from `offset` on, then at least [`PADDING`] bytes more.
    buffer: Vec<u8>,
    /// Bytes read before the text to find its beginning; skipping them moves nothing.
    offset: usize,
    len: usize,
    start: ByteOffset,
    /// The lines, if they are in another format. Then the buffer is not used.
    segment: Option<Unpacked>,
}

impl Block {
    /// Returns the lines. Each ends with a newline, except perhaps the trace's last. Makes the text of
    /// a segment when it is called for the first time.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.padded()[..self.len]
    }

    /// Returns the number of bytes of the lines.
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

    /// Offset at which the text begins in the trace.
    #[must_use]
    pub const fn start(&self) -> ByteOffset {
        self.start
    }

    /// Makes blanks of a byte order mark (U+FEFF in UTF-8) that the text begins with; whether there was one.
    pub fn blank_mark(&mut self) -> bool {
        let is_marked = self.text().starts_with(BYTE_ORDER_MARK);
        if is_marked {
            self.buffer[self.offset..][..BYTE_ORDER_MARK.len()].fill(b' ');
        }
        is_marked
    }

    /// Moves the block's place behind `bytes` bytes of other files of the trace.
    pub fn put_behind(&mut self, bytes: u64) {
        self.start.0 += bytes;
    }

    /// Fills the block with the `len` bytes of some lines, which begin at `start`.
    ///
    /// # Panics
    /// If the lines are longer.
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

    /// The buffer, with room for `bytes` bytes and the padding. It never shrinks: what has been
    /// used once is not cleared again.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut [u8] {
        let bytes = bytes.saturating_add(PADDING);
        match self.buffer.is_empty() {
            // The system gives zeros.
            true => self.buffer = vec![0; bytes],
            false => self.buffer.resize(self.buffer.len().max(bytes), 0),
        }
        &mut self.buffer
    }

    /// Makes `text` of the buffer the block's text, which begins at `start` in the trace.
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
    /// Bytes read after the last newline of the block before.
    carry: Vec<u8>,
    position: ByteOffset,
    ended: bool,
    /// See [`Blocks::forgiving`].
    forgives: bool,
    /// The input has failed behind the lines that were given.
    failure: Option<io::Error>,
}

impl<R: Read> Blocks<R> {
    /// Blocks of what `input` gives until its end.
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

    /// The same, but the whole lines before a failure of the input are given first, and what comes behind
    /// a line that is too long is read.
    #[must_use]
    pub fn forgiving(self) -> Self {
        Blocks { forgives: true, ..self }
    }

    /// The number of bytes that the blocks read so far hold.
    pub const fn position(&self) -> ByteOffset {
        self.position
    }

    /// Reads up to this byte of the text, or to its end, and drops what it reads.
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

    /// Fills `block` with the next whole lines; `false` at the end of the input.
    ///
    /// # Errors
    /// The input fails, or a line is longer than the limit.
    pub fn read(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        // Empty, should reading fail.
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
                // The last line is not whole, as far as anybody knows.
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

    /// Reads to the end of the line at hand, `filled` bytes of which have been read.
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

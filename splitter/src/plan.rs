//! The blocks of a regular file, which can be read in any order.

use std::fs::File;
use std::ops::Range;

use paje_parser::ByteOffset;

use crate::blocks::{Block, Limits, ReadError};
use crate::regular;

/// Number of bytes that are read after a block's end to find the end of its last line. The longest
/// lines of usual traces have about two hundred bytes.
const TAIL: usize = 512;

/// The blocks of a regular file. Block `i` holds the lines that begin in `i * size .. (i + 1) *
/// size`, where `size` is [`Limits::block`]. [`Plan::read_between`] can cut the file anywhere.
///
/// The ends of a block depend only on the bytes around them, so several threads can read blocks in
/// any order. If a line is longer than a block, blocks that lie inside it are empty.
///
/// The file is read, not mapped. If the file becomes shorter, reading returns an error, whereas
/// access to a mapping would cause a SIGBUS.
#[derive(Debug)]
pub struct Plan {
    file: File,
    len: u64,
    limits: Limits,
}

impl Plan {
    /// Creates a plan for the first `len` bytes of `file`.
    #[must_use]
    pub const fn new(file: File, len: u64, limits: Limits) -> Self {
        Plan { file, len, limits }
    }

    /// Returns the number of blocks.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len.div_ceil(self.size())
    }

    /// Returns whether the file is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of bytes of the file.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.len
    }

    /// Returns the size of a block in bytes, which is at least 1.
    #[must_use]
    pub const fn size(&self) -> u64 {
        if self.limits.block == 0 { 1 } else { self.limits.block as u64 }
    }

    /// Returns the length at which a line is refused. As in [`Blocks`](crate::Blocks), a line that
    /// fits in a block is never too long.
    fn too_long(&self) -> usize {
        self.limits.line.saturating_add(1).max(self.limits.block)
    }

    /// Fills `block` with the lines of block `i`. The start of an empty block is `i * size` or the
    /// end of the file.
    ///
    /// # Errors
    /// If the file cannot be read or has become shorter, `block` is empty. If a line is longer than
    /// the limit, `block` holds the previous lines, so that their errors are reported first, as
    /// with [`Blocks`](crate::Blocks).
    pub fn read(&self, i: u64, block: &mut Block) -> Result<(), ReadError> {
        let begin = i.saturating_mul(self.size());
        self.read_between(begin..begin.saturating_add(self.size()), block)
    }

    /// Fills `block` with the lines that begin in this byte range. The range should not be larger
    /// than a block. Ranges that together cover the file return each line once. An empty block
    /// starts at the start of the range, or at the file's end.
    ///
    /// # Errors
    /// Fails like [`Plan::read`].
    pub fn read_between(&self, bytes: Range<u64>, block: &mut Block) -> Result<(), ReadError> {
        let (begin, end) = (bytes.start.min(self.len), bytes.end.min(self.len));
        block.set(ByteOffset(begin), 0..0);
        if begin >= end {
            return Ok(());
        }
        // The byte before `begin` shows whether a line begins there. From here on, offsets are
        // relative to that byte.
        let from = begin.saturating_sub(1);
        let file_end = self.len - from;
        let mut filled = file_end.min(end - from + TAIL as u64) as usize;
        let buffer = block.room(filled);
        regular::read_exact_at(&self.file, &mut buffer[..filled], from)?;

        // If the last byte of the range is a newline, the line after it belongs to the next block.
        let inner = (end - from - 1) as usize;
        let first = if begin == 0 {
            0
        } else if let Some(newline) = memchr::memchr(b'\n', &buffer[..inner]) {
            newline + 1
        } else {
            return Ok(());
        };
        let last = memchr::memrchr(b'\n', &buffer[first..inner]).map_or(first, |at| first + at + 1);

        let mut searched = inner;
        let mut tail = TAIL;
        let text_end = loop {
            let buffer = block.room(filled);
            let newline = memchr::memchr(b'\n', &buffer[searched..filled]).map(|at| searched + at);
            if newline.unwrap_or(filled) - last >= self.too_long() {
                block.set(ByteOffset(from + first as u64), first..last);
                return Err(ReadError::LineTooLong {
                    start: ByteOffset(from + last as u64),
                    limit: self.limits.line,
                });
            }
            if let Some(newline) = newline {
                break newline + 1;
            }
            if filled as u64 == file_end {
                break filled;
            }
            searched = filled;
            tail = tail.saturating_mul(2);
            let most = last.saturating_add(self.too_long()).min(filled.saturating_add(tail));
            filled = file_end.min(most as u64) as usize;
            let more = &mut block.room(filled)[searched..filled];
            regular::read_exact_at(&self.file, more, from + searched as u64)?;
        };
        block.set(ByteOffset(from + first as u64), first..text_end);
        Ok(())
    }
}

//! Reads a trace line by line, in memory bounded by the longest line.

use std::io::{self, Read};

/// Result of [`Lines::next`].
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A line without its newline.
    Line(&'a [u8]),
    /// Length in bytes of a skipped line, which exceeds the limit.
    TooLong(u64),
    /// The end of the input.
    End,
}

/// Number of bytes requested at a time, and minimum size of the buffer.
const BLOCK: usize = 256 << 10;

/// Lines of an input. A line ends at a newline, even inside quotes. The last line may lack a
/// newline.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// Unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    ended: bool,
    lacks_newline: bool,
    limit: usize,
}

impl<R: Read> Lines<R> {
    /// Creates a reader that skips lines longer than `limit` bytes.
    pub fn new(input: R, limit: usize) -> Self {
        Lines {
            input,
            buffer: vec![0; BLOCK],
            start: 0,
            end: 0,
            ended: false,
            lacks_newline: false,
            limit,
        }
    }

    /// Returns whether the line that was returned last ends without a newline.
    pub const fn lacks_newline(&self) -> bool {
        self.lacks_newline
    }

    /// Returns the next line.
    #[allow(clippy::should_implement_trait)] // The lines borrow from the reader.
    pub fn next(&mut self) -> io::Result<Piece<'_>> {
        let mut searched = 0;
        loop {
            let held = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &held[searched..]) {
                let line = self.start..self.start + searched + at;
                self.start = line.end + 1;
                return Ok(self.piece(line));
            }
            searched = held.len();
            if self.ended {
                let line = self.start..self.end;
                self.start = self.end;
                self.lacks_newline = !line.is_empty();
                return Ok(if line.is_empty() { Piece::End } else { self.piece(line) });
            }
            if searched > self.limit {
                return self.skip();
            }
            self.fill()?;
        }
    }

    fn piece(&self, line: std::ops::Range<usize>) -> Piece<'_> {
        if line.len() > self.limit {
            return Piece::TooLong(line.len() as u64);
        }
        Piece::Line(&self.buffer[line])
    }

    fn skip(&mut self) -> io::Result<Piece<'_>> {
        let mut bytes = 0;
        loop {
            let held = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', held) {
                self.start += at + 1;
                return Ok(Piece::TooLong(bytes + at as u64));
            }
            bytes += held.len() as u64;
            (self.start, self.end) = (0, 0);
            if self.ended {
                return Ok(Piece::TooLong(bytes));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            if self.end * 2 > self.buffer.len() {
                // One block beyond the limit is enough to detect a line that exceeds it.
                let most = self.limit.saturating_add(BLOCK).max(2 * BLOCK);
                self.buffer.resize(most.min(self.buffer.len() * 2), 0);
            }
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Trickle<'a>(&'a [u8], usize, bool);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.2 = !self.2;
            if self.2 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read(text: &[u8], at_once: usize, limit: usize) -> Vec<Result<Vec<u8>, u64>> {
        let mut lines = Lines::new(Trickle(text, at_once, false), limit);
        let mut all = Vec::new();
        loop {
            match lines.next().unwrap() {
                Piece::Line(line) => all.push(Ok(line.to_vec())),
                Piece::TooLong(bytes) => all.push(Err(bytes)),
                Piece::End => return all,
            }
        }
    }

    #[test]
    fn every_line_is_returned_once() {
        let long = vec![b'x'; 3 * BLOCK + 7];
        let text = [b"a\n\nbc\n".to_vec(), long.clone(), b"\nlast".to_vec()].concat();
        let wanted = [b"a".to_vec(), vec![], b"bc".to_vec(), long, b"last".to_vec()].map(Ok);
        for at_once in [1, 3, BLOCK, 10 * BLOCK] {
            assert_eq!(read(&text, at_once, usize::MAX), wanted, "{at_once} at once");
        }
        assert_eq!(read(b"", 1, 9), []);
        assert_eq!(read(b"\n", 1, 9), [Ok(vec![])]);
    }

    #[test]
    fn long_lines_are_skipped() {
        let long = vec![b'x'; 3 * BLOCK + 7];
        for end in [&b"\nb"[..], b""] {
            let text = [b"a\n", &long[..], end].concat();
            for limit in [1, 100, BLOCK, long.len() - 1] {
                let mut wanted = vec![Ok(b"a".to_vec()), Err(long.len() as u64)];
                wanted.extend((!end.is_empty()).then(|| Ok(b"b".to_vec())));
                assert_eq!(read(&text, 100_000, limit), wanted, "{limit}");
            }
            assert_eq!(read(&text, 100_000, long.len())[1], Ok(long.clone()));
        }
    }
}

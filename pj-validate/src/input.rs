//! Reads a trace line by line, in memory bounded by the longest line.

use std::io::{self, BufRead, BufReader, Read};

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

/// Number of bytes requested at a time.
const BLOCK: usize = 256 << 10;

/// Lines of an input. A line ends at a newline, even inside quotes. The last line may lack a
/// newline.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    lacks_newline: bool,
    limit: usize,
}

impl<R: Read> Lines<R> {
    /// Creates a reader that skips lines longer than `limit` bytes.
    pub fn new(input: R, limit: usize) -> Self {
        let input = BufReader::with_capacity(BLOCK, input);
        Lines { input, line: Vec::new(), lacks_newline: false, limit }
    }

    /// Returns whether the line that was returned last ends without a newline.
    pub const fn lacks_newline(&self) -> bool {
        self.lacks_newline
    }

    /// Returns the next line.
    #[allow(clippy::should_implement_trait)] // The lines borrow from the reader.
    pub fn next(&mut self) -> io::Result<Piece<'_>> {
        let longest = self.limit.saturating_add(1);
        if !self.read(longest)? {
            if self.line.len() == longest {
                return self.skip();
            } else if self.line.is_empty() {
                return Ok(Piece::End);
            }
            self.lacks_newline = true;
        }
        Ok(Piece::Line(&self.line))
    }

    /// Reads a line, or as much of it as this many bytes hold with the newline. Returns whether the
    /// newline was there.
    #[inline]
    fn read(&mut self, most: usize) -> io::Result<bool> {
        self.line.clear();
        loop {
            let held = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                held => held?,
            };
            let held = &held[..held.len().min(most - self.line.len())];
            // This search is faster than `read_until`.
            let end = memchr::memchr(b'\n', held);
            let count = end.unwrap_or(held.len());
            self.line.extend_from_slice(&held[..count]);
            self.input.consume(count + usize::from(end.is_some()));
            if end.is_some() || count == 0 {
                return Ok(end.is_some());
            }
        }
    }

    /// Skips the rest of a line.
    #[cold]
    fn skip(&mut self) -> io::Result<Piece<'_>> {
        let mut bytes = self.line.len() as u64;
        loop {
            let is_end = self.read(BLOCK)? || self.line.is_empty();
            bytes += self.line.len() as u64;
            if is_end {
                return Ok(Piece::TooLong(bytes));
            }
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

//! Writes lines of shapes, field by field, into a buffer.
//!
//! A generator must be faster than the readers that it feeds, so no field uses `format!`. Appending
//! cannot fail. Only [`Sink::end`] writes to the output and returns its errors.

use std::io::{self, Write};

/// Number of bytes per write to the output. With this size, system calls are rare, and the buffer
/// stays in the second-level cache.
const FULL: usize = 128 * 1024;

/// An output for lines that counts its bytes.
pub(crate) struct Sink<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    flushed: u64,
    started: bool,
    separator: u8,
    /// Number of ranks or workers that was requested.
    pub(crate) containers: Option<u64>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(FULL + 8192),
            flushed: 0,
            started: false,
            separator: b' ',
            containers: None,
        }
    }

    pub(crate) fn tabs(&mut self) {
        self.separator = b'\t';
    }

    pub(crate) fn written(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    fn next_field(&mut self) {
        if self.started {
            self.buffer.push(self.separator);
        }
        self.started = true;
    }

    pub(crate) fn event(&mut self, number: u32) -> &mut Self {
        self.num(u64::from(number))
    }

    pub(crate) fn word(&mut self, text: &str) -> &mut Self {
        self.next_field();
        self.text(text)
    }

    pub(crate) fn name(&mut self, text: &str, number: u64) -> &mut Self {
        self.word(text).digits(number)
    }

    pub(crate) fn quoted(&mut self, text: &str, number: u64) -> &mut Self {
        self.word("\"").text(text).digits(number).text("\"")
    }

    pub(crate) fn num(&mut self, number: u64) -> &mut Self {
        self.next_field();
        self.digits(number)
    }

    /// Adds a field with a time in microseconds, written as seconds with six decimals.
    pub(crate) fn micros(&mut self, micros: u64) -> &mut Self {
        self.next_field();
        self.digits(micros / 1_000_000).text(".").padded(micros % 1_000_000, 6)
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.buffer.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn digits(&mut self, number: u64) -> &mut Self {
        // The largest number has 20 digits. They are filled from the right.
        let mut digits = [b'0'; 20];
        let mut first = digits.len();
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.buffer.extend_from_slice(&digits[first..]);
        self
    }

    /// Appends the last `width` digits of a number, with leading zeros.
    pub(crate) fn padded(&mut self, number: u64, width: usize) -> &mut Self {
        let mut digits = [b'0'; 20];
        let mut rest = number;
        for digit in digits[20 - width..].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.buffer.extend_from_slice(&digits[20 - width..]);
        self
    }

    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.buffer.push(b'\n');
        self.started = false;
        if self.buffer.len() >= FULL { self.hand_on() } else { Ok(()) }
    }

    /// Writes whole lines as they are.
    pub(crate) fn lines(&mut self, text: &[u8]) -> io::Result<()> {
        debug_assert!(!self.started, "a line is open");
        self.buffer.extend_from_slice(text);
        if self.buffer.len() >= FULL { self.hand_on() } else { Ok(()) }
    }

    fn hand_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the rest of the lines, and returns the total number of bytes.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.hand_on()?;
        self.out.flush()?;
        Ok(self.flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::Sink;

    #[test]
    fn fields_are_written_as_shown() {
        let mut out = Vec::new();
        let mut sink = Sink::new(&mut out);
        sink.event(12)
            .micros(50_543_261)
            .num(0)
            .name("k", u64::MAX)
            .text("_")
            .padded(7, 3)
            .end()
            .unwrap();
        sink.lines(b"13 x\n").unwrap();
        assert_eq!(sink.finish().unwrap(), out.len() as u64);
        assert_eq!(out, b"12 50.543261 0 k18446744073709551615_007\n13 x\n");
    }
}

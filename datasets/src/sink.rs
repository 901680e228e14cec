//! Output of shapes, line by line: fields straight into a buffer, digit by digit.
//!
//! A generator must outrun what it feeds, so no field goes through `format!`. Appending cannot fail; only
//! [`Sink::end`], once per line, may hand a full buffer on and report what the output said.

use std::io::{self, Write};

/// Handed to the output in pieces of this size: few system calls, and still in the second-level cache.
const FULL: usize = 128 * 1024;

/// An output of lines that knows how much was written.
pub(crate) struct Sink<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    /// Bytes handed on.
    flushed: u64,
    /// True if the current line has a field already.
    started: bool,
    separator: u8,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(FULL + 8192),
            flushed: 0,
            started: false,
            separator: b' ',
        }
    }

    /// Separates fields with tabs from now on, as StarPU does.
    pub(crate) fn tabs(&mut self) {
        self.separator = b'\t';
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    fn next_field(&mut self) {
        if self.started {
            self.buffer.push(self.separator);
        }
        self.started = true;
    }

    /// Starts a line with its event number.
    pub(crate) fn event(&mut self, number: u32) -> &mut Self {
        self.num(u64::from(number))
    }

    /// A field of plain text, in quotes if they are part of `text`.
    pub(crate) fn word(&mut self, text: &str) -> &mut Self {
        self.next_field();
        self.text(text)
    }

    /// A field of plain text and a number.
    pub(crate) fn name(&mut self, text: &str, number: u64) -> &mut Self {
        self.word(text).digits(number)
    }

    /// A field of text and a number, in quotes.
    pub(crate) fn quoted(&mut self, text: &str, number: u64) -> &mut Self {
        self.word("\"").text(text).digits(number).text("\"")
    }

    /// A field that is a whole number.
    pub(crate) fn num(&mut self, number: u64) -> &mut Self {
        self.next_field();
        self.digits(number)
    }

    /// A field that is a number of microseconds, written in seconds with six decimals.
    pub(crate) fn micros(&mut self, micros: u64) -> &mut Self {
        self.next_field();
        self.digits(micros / 1_000_000).text(".").padded(micros % 1_000_000, 6)
    }

    /// Appends text to the current field.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.buffer.extend_from_slice(text.as_bytes());
        self
    }

    /// Appends a whole number to the current field.
    pub(crate) fn digits(&mut self, number: u64) -> &mut Self {
        // The 20 digits of the largest number, filled from the right.
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

    /// Appends the last `width` digits of a number, with zeros in front.
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

    /// Ends the line.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.buffer.push(b'\n');
        self.started = false;
        if self.buffer.len() >= FULL { self.hand_on() } else { Ok(()) }
    }

    /// Writes whole lines as they stand.
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

    /// Hands everything on and returns the number of bytes written.
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

//! Fields of a line, 64 bytes at a time.
//!
//! [`Scanner::scan`] turns a block of whole lines into bit masks, one bit a byte: white space,
//! newlines, quotes and comment signs. [`Scanner::fields`] then reads a line's fields off these
//! masks: in a line without comments, a field begins or ends wherever the white-space mask changes.
//! Lines that the bits cannot tell (long ones, comments, quotes at odd places) go through
//! [`Scanner::fields_by_search`], which jumps from mask bit to mask bit and obeys every rule.
//!
//! Both must find what [`token::fields`](crate::token::fields) finds: change them together.
//!
//! Block-wide masks cost less than masks per line (lines are short, windows of 64 bytes overlap
//! several) and need one run-time choice of the instruction set per block instead of one per line.
//! Measured by `cargo bench -p benches --bench stages tokenise`.

mod masks;

use crate::token::Span;
use masks::{lines_of, signs_of};

/// Classes of 64 consecutive bytes, lowest bit first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Masks {
    white: u64,
    newline: u64,
    quote: u64,
    hash: u64,
}

/// Masks of one class, chunk by chunk, lowest byte first: a window may begin at any of their bytes.
type Bits = Vec<[u8; 8]>;

/// The fields of one line; kept and filled again for every line.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    buffer: Vec<Span>,
}

impl Spans {
    /// The fields in the order in which they were written.
    #[must_use]
    pub fn as_slice(&self) -> &[Span] {
        &self.buffer
    }

    /// Adds a field behind the others.
    pub fn push(&mut self, span: Span) {
        self.buffer.push(span);
    }
}

/// A line whose fields are bits of one word.
#[derive(Clone, Copy, Debug)]
pub struct ShortLine {
    /// Lowest first, and counted from the beginning of the line: where the first field begins, the
    /// byte after its end, where the second begins, and so on.
    pub edges: u64,
    /// The line's length in bytes, without its newline.
    pub len: u32,
}

/// Masks of a block of text; kept and filled again for every block.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    white: Bits,
    newline: Bits,
    /// Empty unless the block is special.
    quote: Bits,
    hash: Bits,
    newlines: u64,
    /// True if the block has any quote or comment sign.
    special: bool,
}

/// Chunks behind those of the text: what is left of it, and two of newlines, so that every search ends, and a window
/// may begin anywhere.
const BEHIND: usize = 3;

/// The lines of a text that are short: their fields can be read off one 64-byte window, for they have no comment, and
/// quotes only around whole fields.
#[derive(Clone, Copy, Debug)]
pub struct ShortLines<'s> {
    white: &'s [u8],
    newline: &'s [u8],
    quote: &'s [u8],
    hash: &'s [u8],
    special: bool,
}

/// The lines of a text without quotes and comments.
#[derive(Clone, Copy, Debug)]
pub struct PlainLines<'s> {
    white: &'s [u8],
    newline: &'s [u8],
}

impl PlainLines<'_> {
    /// The same as [`ShortLines::usual`] of most lines, in one load and one shift for each mask: they have less than 57 bytes.
    #[must_use]
    #[inline(always)]
    pub fn usual(self, start: usize) -> Option<(u64, u32)> {
        let at = start / 8;
        let window = |bits: &[u8]| {
            let bytes = bits.get(at..at + 8)?.first_chunk()?;
            Some(u64::from_le_bytes(*bytes) >> (start % 8))
        };
        let (newlines, white) = (window(self.newline)?, window(self.white)?);
        match newlines {
            0 => None,
            _ => usual(white, newlines ^ (newlines - 1), newlines),
        }
    }
}

/// Answer of [`ShortLines::usual`] for a line, by the white bytes from its beginning on, its bytes and all newlines.
#[inline(always)]
const fn usual(white: u64, line: u64, newlines: u64) -> Option<(u64, u32)> {
    let doubled = white & (white << 1);
    match doubled & (line >> 1) {
        0 => Some((white & !doubled & line, newlines.trailing_zeros())),
        _ => None,
    }
}

impl<'s> ShortLines<'s> {
    /// The ends of the fields of the line at `start`, and its length without its newline, if the fields stand one byte
    /// apart, which is usual. The ends are bits, lowest first, and counted from the beginning of the line: the lowest is
    /// set where the line begins with a white byte. One more white byte may end the line.
    #[must_use]
    #[inline(always)]
    pub fn usual(self, start: usize) -> Option<(u64, u32)> {
        let (white, line, newlines) = self.window(start)?;
        usual(white, line, newlines)
    }

    /// The same lines, if there is neither a quote nor a comment sign in the text.
    #[must_use]
    pub fn plain(self) -> Option<PlainLines<'s>> {
        let ShortLines { white, newline, special, .. } = self;
        // Who asks whether there is a byte of one knows it of the other.
        let newline = newline.get(..white.len())?;
        (!special).then_some(PlainLines { white, newline })
    }

    /// The places where the fields of the line at `start` begin and end.
    #[must_use]
    #[inline(always)]
    pub fn at(self, start: usize) -> Option<ShortLine> {
        let (white, line, newlines) = self.window(start)?;
        let edges = (white ^ ((white << 1) | 1)) & line;
        Some(ShortLine { edges, len: newlines.trailing_zeros() })
    }

    /// The white bytes from `start` on that are in no quotes, the bytes of the line, its newline included, and all
    /// newlines.
    #[inline(always)]
    fn window(self, start: usize) -> Option<(u64, u64, u64)> {
        let masks = match self.near(start) {
            Some(near) if near.newline != 0 => near,
            _ => self.far(start)?,
        };
        let newlines = masks.newline;
        if newlines == 0 {
            return None;
        }
        let line = newlines ^ (newlines - 1);
        let white = masks.white;
        if !self.special {
            return Some((white, line, newlines));
        }
        let (quotes, hashes) = (masks.quote & line, masks.hash & line);
        let inside = prefix_xor(quotes);
        let outside = white & !inside;
        let opening = quotes & inside;
        let closing = quotes & !inside;
        let odd = opening & !((outside << 1) | 1) // a quote inside a bare word
            | (closing << 1) & !outside & line // text right after a closing quote
            | inside & newlines & line // no closing quote
            | hashes & !inside; // a comment
        (odd == 0).then_some((outside, line, newlines))
    }

    /// The masks from `start` on, of 57 bytes at least: a load and a shift for each.
    #[inline(always)]
    fn near(self, start: usize) -> Option<Masks> {
        let at = start / 8;
        self.masks(|bits| {
            let bytes = bits.get(at..at + 8)?.first_chunk()?;
            Some(u64::from_le_bytes(*bytes) >> (start % 8))
        })
    }

    /// The same of 64 bytes.
    #[inline(never)]
    fn far(self, start: usize) -> Option<Masks> {
        let (at, shift) = (start / 8, (start % 8) as u32);
        self.masks(|bits| {
            let bytes: &[u8; 9] = bits.get(at..at + 9)?.first_chunk()?;
            let [low @ .., high] = *bytes;
            Some(u64::from_le_bytes(low) >> shift | (u64::from(high) << 1) << (63 - shift))
        })
    }

    #[inline(always)]
    fn masks(self, window: impl Fn(&[u8]) -> Option<u64>) -> Option<Masks> {
        let (white, newline) = (window(self.white)?, window(self.newline)?);
        let (quote, hash) = match self.special {
            true => (window(self.quote)?, window(self.hash)?),
            false => (0, 0),
        };
        Some(Masks { white, newline, quote, hash })
    }
}

impl Scanner {
    /// Computes the masks of `text`.
    pub fn scan(&mut self, text: &[u8]) {
        let (chunks, tail) = text.as_chunks::<64>();
        let mut last = [b'\n'; 64];
        last[..tail.len()].copy_from_slice(tail);
        let count = chunks.len();
        let Scanner { white, newline, quote, hash, .. } = self;
        for bits in [&mut *white, &mut *newline] {
            bits.resize(count + BEHIND, [0; 8]);
            bits[count + 1..].fill([u8::MAX; 8]);
        }
        let all = lines_of(chunks, &mut white[..count], &mut newline[..count]);
        let rest = lines_of(&[last], &mut white[count..=count], &mut newline[count..=count]);
        self.newlines = all.newlines + rest.newlines - (64 - tail.len()) as u64;
        self.special = all.special || rest.special;
        quote.clear();
        hash.clear();
        if self.special {
            quote.resize(count + BEHIND, [0; 8]);
            hash.resize(count + BEHIND, [0; 8]);
            signs_of(chunks, &mut quote[..count], &mut hash[..count]);
            signs_of(&[last], &mut quote[count..=count], &mut hash[count..=count]);
        }
    }

    /// Number of newlines in the text last scanned.
    #[must_use]
    pub const fn newlines(&self) -> u64 {
        self.newlines
    }

    /// The lines of the text last scanned.
    #[must_use]
    #[inline(always)]
    pub fn short_lines(&self) -> ShortLines<'_> {
        let (white, newline) = (self.white.as_flattened(), self.newline.as_flattened());
        let (quote, hash) = (self.quote.as_flattened(), self.hash.as_flattened());
        ShortLines { white, newline, quote, hash, special: self.special }
    }

    /// Finds the fields of the line that starts at `start` of the `text` last scanned.
    ///
    /// Returns where the line ends: the index of its newline, or `text.len()`.
    #[inline]
    pub fn fields(&self, text: &[u8], start: usize, spans: &mut Spans) -> usize {
        let Some(line) = self.short_lines().at(start) else {
            return self.fields_by_search(text, start, spans);
        };
        spans.buffer.clear();
        let base = start as u32;
        let mut edges = line.edges;
        while edges != 0 {
            let first = edges.trailing_zeros();
            edges &= edges - 1;
            let end = edges.trailing_zeros();
            edges &= edges.wrapping_sub(1);
            spans.buffer.push(Span { start: base + first, end: base + end });
        }
        (start + line.len as usize).min(text.len())
    }

    /// The same as [`Scanner::fields`] for any line: searches the masks for the next bit that matters.
    #[cold]
    #[inline(never)]
    pub fn fields_by_search(&self, text: &[u8], start: usize, spans: &mut Spans) -> usize {
        spans.buffer.clear();
        let mut at = start;
        loop {
            // Newlines are white: the first byte that is not white, or a newline.
            at = self.find(at, |chunk| Some(!self.whites(chunk)? | self.ends(chunk)?));
            if at >= text.len() || text[at] == b'\n' {
                return at.min(text.len());
            }
            let first = at;
            match text[first] {
                b'#' => return self.find(at, |chunk| self.ends(chunk)).min(text.len()),
                b'"' => {
                    at = self.find(at + 1, |chunk| {
                        Some(self.ends(chunk)? | Scanner::signs(&self.quote, chunk))
                    });
                    if at < text.len() && text[at] == b'"' {
                        at += 1;
                    }
                }
                _ => {
                    at = self.find(at + 1, |chunk| {
                        Some(self.whites(chunk)? | Scanner::signs(&self.hash, chunk))
                    })
                }
            }
            at = at.min(text.len());
            spans.buffer.push(Span { start: first as u32, end: at as u32 });
        }
    }

    /// The end of the line that holds byte `start` of the `text` last scanned.
    #[must_use]
    pub fn line_end(&self, text: &[u8], start: usize) -> usize {
        self.find(start, |chunk| self.ends(chunk)).min(text.len())
    }

    /// The first byte from `from` on whose bit is set in what `class` says of its chunk, which is nothing behind the last.
    #[inline(always)]
    fn find(&self, from: usize, class: impl Fn(usize) -> Option<u64>) -> usize {
        let mut word = from / 64;
        let mut bits = class(word).unwrap_or(0) & (!0 << (from % 64));
        while bits == 0 {
            word += 1;
            match class(word) {
                Some(found) => bits = found,
                None => return word * 64,
            }
        }
        word * 64 + bits.trailing_zeros() as usize
    }

    #[inline(always)]
    fn whites(&self, chunk: usize) -> Option<u64> {
        self.white.get(chunk).map(|bits| u64::from_le_bytes(*bits))
    }

    #[inline(always)]
    fn ends(&self, chunk: usize) -> Option<u64> {
        self.newline.get(chunk).map(|bits| u64::from_le_bytes(*bits))
    }

    /// Quotes or comment signs, of which there may be none at all.
    #[inline(always)]
    fn signs(bits: &Bits, chunk: usize) -> u64 {
        bits.get(chunk).map_or(0, |bits| u64::from_le_bytes(*bits))
    }
}

/// Bit i of the result is the parity of bits 0..=i: set from each opening quote to before its closing one.
#[inline]
const fn prefix_xor(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^ (bits << 32)
}

#[cfg(test)]
mod tests;

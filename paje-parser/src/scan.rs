//! Fields of a line, 64 bytes at a time.
//!
//! [`Scanner::scan`] turns a block of whole lines into bit masks, one bit a byte: white space,
//! newlines, quotes and comment signs. [`Scanner::fields`] then reads a line's fields off these
//! masks: a field begins or ends wherever the white-space mask changes, if comments are as good as white space.
//! Lines that the bits cannot tell (long ones, quotes at odd places) go through
//! [`Scanner::fields_by_search`], which jumps from mask bit to mask bit and obeys every rule.
//!
//! Where all quotes of a block stand around whole fields, white bytes inside quotes are taken out of the mask, and comments
//! put into it, once and for all: its lines are then read as if there were neither.
//!
//! Both must find what [`token::fields`](crate::token::fields) finds: change them together.
//!
//! Block-wide masks cost less than masks per line (lines are short, windows of 64 bytes overlap
//! several) and need one run-time choice of the instruction set per block instead of one per line.
//! Measured by `cargo bench -p benches --bench stages tokenise`.

mod lines;
mod masks;
mod quotes;

use crate::token::Span;
use masks::{lines_of, settle, signs_of};
use quotes::Quotes;

pub use lines::{PlainLines, ShortLine, ShortLines};

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

    /// Reads those of the line that begins at `start` of a text that was not scanned.
    pub fn read(&mut self, text: &[u8], start: usize) {
        self.buffer.clear();
        crate::token::fields(text, start, &mut self.buffer);
    }

    /// Adds a field behind the others.
    pub fn push(&mut self, span: Span) {
        self.buffer.push(span);
    }
}

/// Masks of a block of text; kept and filled again for every block.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    /// White bytes; outside quotes and with comments, unless the block is special.
    white: Bits,
    newline: Bits,
    /// Of the last block that was special.
    quote: Bits,
    hash: Bits,
    newlines: u64,
    /// True if the block has a quote at an odd place.
    special: bool,
    /// True if no two white bytes of the block stand side by side; never if it is special.
    single: bool,
}

/// Chunks behind those of the text: what is left of it, and two of newlines, so that every search ends, and a window
/// may begin anywhere.
const BEHIND: usize = 3;

impl Scanner {
    /// Computes the masks of `text`.
    pub fn scan(&mut self, text: &[u8]) {
        let (chunks, tail) = text.as_chunks::<64>();
        let mut last = [b'\n'; 64];
        last[..tail.len()].copy_from_slice(tail);
        let count = chunks.len();
        let Scanner { white, newline, .. } = self;
        for bits in [&mut *white, &mut *newline] {
            bits.resize(count + BEHIND, [0; 8]);
            bits[count + 1..].fill([u8::MAX; 8]);
        }
        let all = lines_of(chunks, &mut white[..count], &mut newline[..count]);
        let rest = lines_of(&[last], &mut white[count..=count], &mut newline[count..=count]);
        self.newlines = all.newlines + rest.newlines - (64 - tail.len()) as u64;
        self.special = false;
        self.single = false;
        if all.special || rest.special {
            let mut quotes = Quotes::default();
            let mut settled = settle(&mut quotes, chunks, &mut white[..count], newline);
            if settled == count {
                let (white, newline) = (&mut white[count..=count], &newline[count..=count]);
                settled += settle(&mut quotes, &[last], white, newline);
            }
            self.special = settled <= count;
            if self.special {
                return self.scan_signs(chunks, &last, settled);
            }
        }
        // Where the text ends within a line, a newline is thought behind it: after white space, or a comment, it is one too many.
        let ends_white = match text.split_last() {
            Some((b'\n', _)) | None => false,
            Some((_, before)) => self.is_white_at(before.len()),
        };
        self.single = !ends_white && !has_doubled(&self.white[..=count], tail.len());
    }

    /// True if the mask of white bytes has this one.
    fn is_white_at(&self, at: usize) -> bool {
        word(&self.white, at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }

    /// Computes the masks of quotes and comment signs, where the white bytes of some chunks are taken for settled.
    #[inline(never)]
    fn scan_signs(&mut self, chunks: &[[u8; 64]], last: &[u8; 64], settled: usize) {
        let count = chunks.len();
        let Scanner { white, newline, quote, hash, .. } = self;
        lines_of(&chunks[..settled], &mut white[..settled], &mut newline[..settled]);
        for bits in [&mut *quote, &mut *hash] {
            bits.resize(count + BEHIND, [0; 8]);
            bits[count + 1..].fill([0; 8]);
        }
        signs_of(chunks, &mut quote[..count], &mut hash[..count]);
        signs_of(&[*last], &mut quote[count..=count], &mut hash[count..=count]);
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
        let (special, single) = (self.special, self.single);
        ShortLines { white, newline, quote, hash, special, single }
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
        if !self.special {
            return self.plain_fields(start, spans).min(text.len());
        }
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
                    at = self
                        .find(at + 1, |chunk| Some(self.ends(chunk)? | word(&self.quote, chunk)?));
                    if at < text.len() && text[at] == b'"' {
                        at += 1;
                    }
                }
                _ => {
                    at = self
                        .find(at + 1, |chunk| Some(self.whites(chunk)? | word(&self.hash, chunk)?))
                }
            }
            at = at.min(text.len());
            spans.buffer.push(Span { start: first as u32, end: at as u32 });
        }
    }

    /// The same where no comment and no quote matters: whole words of bits at a time.
    fn plain_fields(&self, start: usize, spans: &mut Spans) -> usize {
        spans.buffer.clear();
        // Bytes before the line are as good as white.
        let mut before = (1 << (start % 64)) - 1;
        let mut is_white = 1;
        let mut first = None;
        for chunk in start / 64.. {
            let (Some(white), Some(newline)) = (self.whites(chunk), self.ends(chunk)) else {
                break;
            };
            let (white, newline) = (white | before, newline & !before);
            let line = newline ^ newline.wrapping_sub(1);
            let mut edges = (white ^ (white << 1 | is_white)) & line;
            while edges != 0 {
                let edge = chunk as u32 * 64 + edges.trailing_zeros();
                edges &= edges - 1;
                match first.take() {
                    Some(start) => spans.buffer.push(Span { start, end: edge }),
                    None => first = Some(edge),
                }
            }
            if newline != 0 {
                return chunk * 64 + newline.trailing_zeros() as usize;
            }
            (before, is_white) = (0, white >> 63);
        }
        usize::MAX
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
        word(&self.white, chunk)
    }

    #[inline(always)]
    fn ends(&self, chunk: usize) -> Option<u64> {
        word(&self.newline, chunk)
    }
}

/// Tells whether two bits stand side by side, where a newline comes before the first chunk, and of the last one so many
/// bits count.
fn has_doubled(bits: &[[u8; 8]], in_last: usize) -> bool {
    let doubled = |before: u64, bits: u64| bits & (bits << 1 | before >> 63);
    let (mut before, mut found) = (u64::MAX, 0);
    let Some((last, whole)) = bits.split_last() else { return false };
    for bits in whole {
        let bits = u64::from_le_bytes(*bits);
        found |= doubled(before, bits);
        before = bits;
    }
    found | doubled(before, u64::from_le_bytes(*last)) & ((1 << (in_last % 64)) - 1) != 0
}

/// The mask of a chunk.
#[inline(always)]
fn word(bits: &Bits, chunk: usize) -> Option<u64> {
    bits.get(chunk).map(|bits| u64::from_le_bytes(*bits))
}

#[cfg(test)]
mod tests;

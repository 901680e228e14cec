//! Fields of a line, 64 bytes at a time.
//!
//! [`Scanner::scan`] turns a block of whole lines into bit masks with one bit per byte: white
//! space, newlines, quotes and comment signs. [`Scanner::fields`] finds a line's fields in these
//! masks: a field starts or ends where the white-space mask changes. Long lines and lines with
//! quotes at unusual places go through [`Scanner::fields_by_search`], which handles every case.
//!
//! If all quotes of a block surround whole fields, the white-space mask is corrected once:
//! white-space bytes inside quotes are removed, and comments are added. The lines are then read as
//! if there were no quotes and no comments.
//!
//! The result always equals that of [`token::fields`](crate::token::fields). Change both together.
//!
//! Masks of whole blocks are cheaper than masks per line, because lines are short, windows overlap,
//! and the instruction set is selected only once per block. `cargo bench -p benches --bench stages
//! tokenise` measures this.

mod lines;
mod masks;
mod quotes;

use crate::token::Span;
use masks::{lines_of, settle, signs_of};
use quotes::Quotes;

pub use lines::{PlainLines, ShortLine, ShortLines};

/// Classes of 64 consecutive bytes, one bit per byte, the first byte lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Masks {
    white: u64,
    newline: u64,
    quote: u64,
    hash: u64,
}

/// Masks of one class for all chunks, in little-endian order, so that a window can start at any
/// byte.
type Bits = Vec<[u8; 8]>;

/// The fields of one line. The memory is reused for the next line.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    buffer: Vec<Span>,
}

impl Spans {
    /// Returns the fields in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Span] {
        &self.buffer
    }

    /// Reads the fields of the line at `start` of a text that was not scanned.
    pub fn read(&mut self, text: &[u8], start: usize) {
        self.buffer.clear();
        crate::token::fields(text, start, &mut self.buffer);
    }

    /// Appends a field.
    pub fn push(&mut self, span: Span) {
        self.buffer.push(span);
    }
}

/// Masks of a block of text. The memory is reused for the next block.
#[derive(Clone, Debug, Default)]
pub struct Scanner {
    /// White-space bytes. Unless the block is special, bytes inside quotes are left out and all
    /// bytes of comments are included.
    white: Bits,
    newline: Bits,
    /// Masks of the quotes and of the comment signs in the last special block.
    quote: Bits,
    hash: Bits,
    newlines: u64,
    special: bool,
    /// Whether no two white-space bytes of the block are adjacent. Always false if the block is
    /// special.
    single: bool,
}

/// Number of chunks after the whole chunks of the text. The first contains the rest of the text.
/// The other two contain only newlines, so that searches end and windows can start anywhere.
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
        // Without a final newline, the padding's newline is white space too, and may follow white
        // space.
        let ends_white = match text.split_last() {
            Some((b'\n', _)) | None => false,
            Some((_, before)) => self.is_white_at(before.len()),
        };
        self.single = !ends_white && !has_doubled(&self.white[..=count], tail.len());
    }

    fn is_white_at(&self, at: usize) -> bool {
        word(&self.white, at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }

    /// Computes the masks of quotes and comment signs of a special block. Computes the white-space
    /// masks of the first `settled` chunks again.
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

    /// Returns the number of newlines in the scanned text.
    #[must_use]
    pub const fn newlines(&self) -> u64 {
        self.newlines
    }

    /// Returns the lines of the scanned text.
    #[must_use]
    #[inline(always)]
    pub fn short_lines(&self) -> ShortLines<'_> {
        let (white, newline) = (self.white.as_flattened(), self.newline.as_flattened());
        let (quote, hash) = (self.quote.as_flattened(), self.hash.as_flattened());
        let (special, single) = (self.special, self.single);
        ShortLines { white, newline, quote, hash, special, single }
    }

    /// Finds the fields of the line at `start` of the scanned `text`. Returns the end of the line:
    /// the index of its newline, or `text.len()`.
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

    /// Does the same as [`Scanner::fields`] for any line, by searching the masks bit by bit.
    #[cold]
    #[inline(never)]
    pub fn fields_by_search(&self, text: &[u8], start: usize, spans: &mut Spans) -> usize {
        if !self.special {
            return self.plain_fields(start, spans).min(text.len());
        }
        spans.buffer.clear();
        let mut at = start;
        loop {
            // Newlines are white space, so this searches for a newline or a byte that is not white
            // space.
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

    /// Finds the fields of a line without special quotes and comments, one word of bits at a time.
    fn plain_fields(&self, start: usize, spans: &mut Spans) -> usize {
        spans.buffer.clear();
        // Bytes before the line count as white space.
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

    /// Returns the end of the line that contains byte `start` of the scanned `text`.
    #[must_use]
    pub fn line_end(&self, text: &[u8], start: usize) -> usize {
        self.find(start, |chunk| self.ends(chunk)).min(text.len())
    }

    /// Returns the index of the first byte at or after `from` whose bit is set in the masks that
    /// `class` returns.
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

/// Returns whether two adjacent bits are set. A set bit precedes the first chunk, and only the
/// lowest `in_last` bits of the last chunk count.
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

#[inline(always)]
fn word(bits: &Bits, chunk: usize) -> Option<u64> {
    bits.get(chunk).map(|bits| u64::from_le_bytes(*bits))
}

#[cfg(test)]
mod tests;

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

use crate::token::Span;

/// Classes of 64 consecutive bytes, lowest bit first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Masks {
    white: u64,
    newline: u64,
    quote: u64,
    hash: u64,
}

impl Masks {
    /// Masks after the end of the text: newlines, so that every search ends.
    const END: Masks = Masks { white: !0, newline: !0, quote: 0, hash: 0 };
}

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
    masks: Vec<Masks>,
    found: Found,
    /// True if the block has any quote or comment sign.
    special: bool,
}

/// Sums over the masks of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    newlines: u64,
    /// The bits of all quotes and comment signs: none if there is none.
    special: u64,
}

impl Found {
    #[inline(always)]
    const fn add(&mut self, masks: &Masks) {
        self.newlines += masks.newline.count_ones() as u64;
        self.special |= masks.quote | masks.hash;
    }
}

/// The lines of a text that are short: their fields can be read off one 64-byte window, for they have no comment, and
/// quotes only around whole fields.
#[derive(Clone, Copy, Debug)]
pub struct ShortLines<'s> {
    masks: &'s [Masks],
    special: bool,
}

impl ShortLines<'_> {
    /// The ends of the fields of the line at `start`, and its length without its newline, if the fields stand one byte
    /// apart, which is usual. The ends are bits, lowest first, and counted from the beginning of the line: the lowest is
    /// set where the line begins with a white byte. One more white byte may end the line.
    #[must_use]
    #[inline(always)]
    pub fn usual(self, start: usize) -> Option<(u64, u32)> {
        let (white, line, newlines) = self.window(start)?;
        let doubled = white & (white << 1) & line;
        match doubled & (line >> 1) {
            0 => Some((white & line & !doubled, newlines.trailing_zeros())),
            _ => None,
        }
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
        let shift = (start % 64) as u32;
        // The further one first: then the other is there.
        let (high, low) = (self.masks.get(start / 64 + 1)?, self.masks.get(start / 64)?);
        let window = |low: u64, high: u64| (low >> shift) | ((high << 1) << (63 - shift));
        let newlines = window(low.newline, high.newline);
        if newlines == 0 {
            return None;
        }
        let line = newlines ^ (newlines - 1);
        let white = window(low.white, high.white);
        if !self.special {
            return Some((white, line, newlines));
        }
        let quotes = window(low.quote, high.quote) & line;
        let hashes = window(low.hash, high.hash) & line;
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
}

impl Scanner {
    /// Computes the masks of `text`.
    pub fn scan(&mut self, text: &[u8]) {
        self.masks.clear();
        self.found = Found::default();
        let (chunks, tail) = text.as_chunks::<64>();
        self.scan_chunks(chunks);
        let mut last = [b'\n'; 64];
        last[..tail.len()].copy_from_slice(tail);
        self.scan_chunks(&[last]);
        self.found.newlines -= (64 - tail.len()) as u64;
        self.special = self.found.special != 0;
        // A window may begin on the last byte and reach into the next mask.
        self.masks.push(Masks::END);
        self.masks.push(Masks::END);
    }

    /// Number of newlines in the text last scanned.
    #[must_use]
    pub const fn newlines(&self) -> u64 {
        self.found.newlines
    }

    fn scan_chunks(&mut self, chunks: &[[u8; 64]]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("popcnt")
        {
            #[allow(unsafe_code)]
            // SAFETY: the processor has AVX2 and POPCNT, which is all that the function asks for.
            unsafe {
                avx2::extend(&mut self.masks, &mut self.found, chunks);
            }
            return;
        }
        let found = &mut self.found;
        let masks = chunks.iter().map(masks_portable);
        self.masks.extend(masks.inspect(|masks| found.add(masks)));
    }

    /// The lines of the text last scanned.
    #[must_use]
    #[inline(always)]
    pub fn short_lines(&self) -> ShortLines<'_> {
        ShortLines { masks: &self.masks, special: self.special }
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
            at = self.find(at, |m| !m.white | m.newline);
            if at >= text.len() || text[at] == b'\n' {
                return at.min(text.len());
            }
            let first = at;
            match text[first] {
                b'#' => return self.find(at, |m| m.newline).min(text.len()),
                b'"' => {
                    at = self.find(at + 1, |m| m.quote | m.newline);
                    if at < text.len() && text[at] == b'"' {
                        at += 1;
                    }
                }
                _ => at = self.find(at + 1, |m| m.white | m.hash),
            }
            at = at.min(text.len());
            spans.buffer.push(Span { start: first as u32, end: at as u32 });
        }
    }

    /// The end of the line that holds byte `start` of the `text` last scanned.
    #[must_use]
    pub fn line_end(&self, text: &[u8], start: usize) -> usize {
        self.find(start, |m| m.newline).min(text.len())
    }

    /// The first byte from `from` on whose bit is set in the mask that `class` picks.
    #[inline]
    fn find(&self, from: usize, class: impl Fn(&Masks) -> u64) -> usize {
        let mut word = from / 64;
        let mut bits = class(&self.masks[word]) & (!0 << (from % 64));
        while bits == 0 {
            word += 1;
            match self.masks.get(word) {
                Some(masks) => bits = class(masks),
                None => return word * 64,
            }
        }
        word * 64 + bits.trailing_zeros() as usize
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

/// The masks without any instruction set in particular.
fn masks_portable(chunk: &[u8; 64]) -> Masks {
    let gather = |class: fn(u8) -> bool| {
        chunk.as_chunks::<8>().0.iter().enumerate().fold(0u64, |mask, (i, bytes)| {
            let flags = u64::from_le_bytes(bytes.map(|b| u8::from(class(b))));
            // The eight low bits of the bytes move side by side into the top byte.
            mask | (flags.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i)
        })
    };
    Masks {
        white: gather(|b| b == b' ' || b.wrapping_sub(9) < 5),
        newline: gather(|b| b == b'\n'),
        quote: gather(|b| b == b'"'),
        hash: gather(|b| b == b'#'),
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Found, Masks};
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_set_epi64x, _mm256_set1_epi8,
        _mm256_setr_epi8, _mm256_shuffle_epi8,
    };

    /// Appends the masks of each chunk, and adds them up.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn extend(masks: &mut Vec<Masks>, found: &mut Found, chunks: &[[u8; 64]]) {
        // A copy, which stays in registers.
        let mut sums = *found;
        // Looked up by its low nibble, a white byte finds itself; no other byte does, and bytes
        // from 0x80 on look up zero.
        let white = _mm256_setr_epi8(
            32, -1, -1, -1, -1, -1, -1, -1, -1, 9, 10, 11, 12, 13, -1, -1, //
            32, -1, -1, -1, -1, -1, -1, -1, -1, 9, 10, 11, 12, 13, -1, -1,
        );
        let newline = _mm256_set1_epi8(b'\n' as i8);
        let quote = _mm256_set1_epi8(b'"' as i8);
        let hash = _mm256_set1_epi8(b'#' as i8);
        masks.reserve(chunks.len() + 2);
        // A loop: a closure would be a call for each chunk.
        for chunk in chunks {
            let (low, high) = (load(chunk, 0), load(chunk, 32));
            let pair = |l: __m256i, h: __m256i| {
                u64::from(_mm256_movemask_epi8(l) as u32)
                    | u64::from(_mm256_movemask_epi8(h) as u32) << 32
            };
            let equal = |to: __m256i| pair(_mm256_cmpeq_epi8(low, to), _mm256_cmpeq_epi8(high, to));
            let chunk_masks = Masks {
                white: pair(
                    _mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(white, low)),
                    _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(white, high)),
                ),
                newline: equal(newline),
                quote: equal(quote),
                hash: equal(hash),
            };
            sums.add(&chunk_masks);
            masks.push(chunk_masks);
        }
        *found = sums;
    }

    /// 32 bytes of the chunk; compiles to one load.
    #[target_feature(enable = "avx2")]
    fn load(chunk: &[u8; 64], at: usize) -> __m256i {
        let word = |i: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&chunk[at + 8 * i..at + 8 * i + 8]);
            i64::from_le_bytes(bytes)
        };
        _mm256_set_epi64x(word(3), word(2), word(1), word(0))
    }
}

#[cfg(test)]
mod tests;

//! Quotes, chunk after chunk.

use super::Masks;

/// Bytes before a chunk, as far as its quotes depend on them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes {
    /// Every bit if the chunk begins inside quotes, else none.
    inside: u64,
    /// The lowest bit if the byte before is white and in no quotes.
    after_white: u64,
    /// The lowest bit if the byte before is a closing quote.
    after_closing: u64,
}

impl Default for Quotes {
    /// The beginning of a line.
    fn default() -> Self {
        Quotes { inside: 0, after_white: 1, after_closing: 0 }
    }
}

impl Quotes {
    /// The white bytes of the next chunk that are in no quotes; none if it has a comment, or a quote at an odd place.
    #[inline(always)]
    pub(super) const fn outside(&mut self, masks: Masks) -> Option<u64> {
        let Masks { white, newline, quote, hash } = masks;
        let inside = prefix_xor(quote) ^ self.inside;
        let outside = white & !inside;
        let (opening, closing) = (quote & inside, quote & !inside);
        let odd = opening & !(outside << 1 | self.after_white) // a quote inside a bare word
            | (closing << 1 | self.after_closing) & !outside // text right after a closing quote
            | inside & newline // no closing quote
            | hash & !inside; // a comment
        if odd != 0 {
            return None;
        }
        self.inside = ((inside as i64) >> 63) as u64;
        (self.after_white, self.after_closing) = (outside >> 63, closing >> 63);
        Some(outside)
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

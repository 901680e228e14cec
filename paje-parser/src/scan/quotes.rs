//! Quotes and comments, chunk by chunk.

use super::Masks;

#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes {
    /// All bits are set if the chunk starts inside quotes. Otherwise, no bit is set.
    inside: u64,
    /// The lowest bit is set if the byte before the chunk is white space and outside quotes.
    after_white: u64,
    /// The lowest bit is set if the byte before the chunk is a closing quote.
    after_closing: u64,
    in_comment: bool,
}

impl Default for Quotes {
    fn default() -> Self {
        Quotes { inside: 0, after_white: 1, after_closing: 0, in_comment: false }
    }
}

impl Quotes {
    /// Returns the white-space bytes outside quotes of the next chunk, including bytes of comments.
    /// Returns `None` if the chunk has a quote at an unusual place.
    #[inline(always)]
    pub(super) fn outside(&mut self, masks: Masks) -> Option<u64> {
        // Up to the first comment, opening and closing quotes alternate.
        let inside = prefix_xor(masks.quote) ^ self.inside;
        match masks.hash & !inside != 0 || self.in_comment {
            false => self.bare(masks),
            true => {
                let (after, outside) = self.without_comments(masks)?;
                *self = after;
                Some(outside)
            }
        }
    }

    /// Does the same for a chunk with comments. Returns the new state instead of changing it, so
    /// that the caller can keep it in registers.
    #[cold]
    #[inline(never)]
    fn without_comments(mut self, masks: Masks) -> Option<(Quotes, u64)> {
        let Masks { white, newline, quote, hash } = masks;
        let (mut in_quotes, mut in_comment) = (self.inside != 0, self.in_comment);
        let mut comments = if in_comment { u64::MAX } else { 0 };
        let mut rest = newline | quote | hash;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            if bit & newline != 0 {
                (in_quotes, in_comment) = (false, false);
                comments &= bit - 1;
            } else if !in_comment && bit & quote != 0 {
                in_quotes = !in_quotes;
            } else if !in_comment && !in_quotes {
                in_comment = true;
                comments |= bit.wrapping_neg();
            }
        }
        let masks = Masks { white: white | comments, quote: quote & !comments, ..masks };
        let outside = self.bare(masks)?;
        Some((Quotes { in_comment, ..self }, outside))
    }

    #[inline(always)]
    const fn bare(&mut self, masks: Masks) -> Option<u64> {
        let Masks { white, newline, quote, .. } = masks;
        let inside = prefix_xor(quote) ^ self.inside;
        let outside = white & !inside;
        let (opening, closing) = (quote & inside, quote & !inside);
        let odd = opening & !(outside << 1 | self.after_white) // a quote inside a bare word
            | (closing << 1 | self.after_closing) & !outside // text right after a closing quote
            | inside & newline; // no closing quote
        if odd != 0 {
            return None;
        }
        self.inside = ((inside as i64) >> 63) as u64;
        (self.after_white, self.after_closing) = (outside >> 63, closing >> 63);
        Some(outside)
    }
}

/// Returns the parity of bits 0..=i as bit i. If the given bits mark quotes, the result marks the
/// bytes from each opening quote up to the byte before its closing quote.
#[inline]
const fn prefix_xor(mut bits: u64) -> u64 {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^ (bits << 32)
}

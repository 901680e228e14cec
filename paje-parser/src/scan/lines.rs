//! Lines of a scanned text.

use super::Masks;
use super::quotes::Quotes;

/// A line whose field boundaries fit into one word of bits.
#[derive(Clone, Copy, Debug)]
pub struct ShortLine {
    /// A bit for the start of each field and for the byte after each field, counted from the line's
    /// start.
    pub edges: u64,
    /// Length of the line in bytes, without its newline.
    pub len: u32,
}

/// The lines of a text. Short lines with quotes only around whole fields can be read from one
/// window of 64 bytes. Comments count as white space.
#[derive(Clone, Copy, Debug)]
pub struct ShortLines<'s> {
    pub(super) white: &'s [u8],
    pub(super) newline: &'s [u8],
    pub(super) quote: &'s [u8],
    pub(super) hash: &'s [u8],
    pub(super) special: bool,
    pub(super) single: bool,
}

/// The lines of a text that has quotes only around whole fields.
#[derive(Clone, Copy, Debug)]
pub struct PlainLines<'s> {
    white: &'s [u8],
    newline: &'s [u8],
    single: bool,
}

impl PlainLines<'_> {
    /// Returns whether no two white-space bytes of the text are adjacent, including newlines.
    #[must_use]
    pub const fn are_single(&self) -> bool {
        self.single
    }

    /// Does the same as [`PlainLines::usual`], for a text without adjacent white-space bytes.
    #[must_use]
    #[inline(always)]
    pub fn single(self, start: usize) -> Option<(u64, u32)> {
        let (newlines, white) = (near(self.newline, start)?, near(self.white, start)?);
        match newlines {
            0 => None,
            _ => Some((white & (newlines ^ (newlines - 1)), newlines.trailing_zeros())),
        }
    }

    /// Does the same as [`ShortLines::usual`] with one load and one shift per mask, for lines of
    /// less than 57 bytes.
    #[must_use]
    #[inline(always)]
    pub fn usual(self, start: usize) -> Option<(u64, u32)> {
        let (newlines, white) = (near(self.newline, start)?, near(self.white, start)?);
        match newlines {
            0 => None,
            _ => usual(white, newlines ^ (newlines - 1), newlines),
        }
    }

    /// Does the same as [`ShortLines::usual`] for lines of any length. For lines of 64 bytes and
    /// more, returns the ends in the first 64 bytes, or 0 if fields are more than one byte apart
    /// there.
    #[must_use]
    #[inline(never)]
    pub fn longer(&self, start: usize) -> Option<(u64, u32)> {
        let (newlines, white) = (far(self.newline, start)?, far(self.white, start)?);
        if newlines != 0 {
            return usual(white, newlines ^ (newlines - 1), newlines);
        }
        let ends = if white & (white << 1) == 0 { white } else { 0 };
        // No newline is inside the window. The search can therefore start at a whole byte, even if
        // the window contains some bits of that byte.
        let mut at = start / 8 + 8;
        loop {
            let bytes = self.newline.get(at..at + 8)?.first_chunk()?;
            let newlines = u64::from_le_bytes(*bytes);
            if newlines != 0 {
                let end = at * 8 + newlines.trailing_zeros() as usize;
                return Some((ends, (end - start) as u32));
            }
            at += 8;
        }
    }

    /// Returns the number of fields of the line at `start`, or `None` for the last line.
    #[must_use]
    pub fn fields(&self, start: usize) -> Option<u32> {
        // Bytes before the line count as white space.
        let (mut at, mut before, mut fields) = (start, 1, 0);
        loop {
            let (newlines, white) = (far(self.newline, at)?, far(self.white, at)?);
            let line = newlines ^ newlines.wrapping_sub(1);
            fields += (white & !(white << 1 | before) & line).count_ones();
            if newlines != 0 {
                return Some(fields);
            }
            before = white >> 63;
            at += 64;
        }
    }
}

/// Returns at least 57 bits of a mask from `start` on, with one load and one shift.
#[inline(always)]
fn near(bits: &[u8], start: usize) -> Option<u64> {
    let bytes = bits.get(start / 8..start / 8 + 8)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes) >> (start % 8))
}

/// Returns 64 bits of a mask from `start` on.
#[inline(always)]
fn far(bits: &[u8], start: usize) -> Option<u64> {
    let bytes: &[u8; 9] = bits.get(start / 8..start / 8 + 9)?.first_chunk()?;
    let [low @ .., high] = *bytes;
    let shift = (start % 8) as u32;
    Some(u64::from_le_bytes(low) >> shift | (u64::from(high) << 1) << (63 - shift))
}

#[inline(always)]
const fn usual(white: u64, line: u64, newlines: u64) -> Option<(u64, u32)> {
    let doubled = white & (white << 1);
    match doubled & (line >> 1) {
        0 => Some((white & !doubled & line, newlines.trailing_zeros())),
        _ => None,
    }
}

impl<'s> ShortLines<'s> {
    /// Returns the ends of the fields of the line at `start`, and the line's length without its
    /// newline, if all fields are one byte apart, as usual. Bit `n` is set if a field ends at byte
    /// `n` of the line. The lowest bit is set if the line starts with a white-space byte or a
    /// comment. The line may end with one more white-space byte.
    #[must_use]
    #[inline(always)]
    pub fn usual(self, start: usize) -> Option<(u64, u32)> {
        let (white, line, newlines) = self.window(start)?;
        usual(white, line, newlines)
    }

    /// Returns these lines as [`PlainLines`], if the text has quotes only around whole fields.
    #[must_use]
    pub fn plain(self) -> Option<PlainLines<'s>> {
        let ShortLines { white, newline, special, single, .. } = self;
        // The masks have equal lengths, so a bounds check of one mask also holds for the other.
        let newline = newline.get(..white.len())?;
        (!special).then_some(PlainLines { white, newline, single })
    }

    /// Returns the field boundaries and the length of the line at `start`.
    #[must_use]
    #[inline(always)]
    pub fn at(self, start: usize) -> Option<ShortLine> {
        let (white, line, newlines) = self.window(start)?;
        let edges = (white ^ ((white << 1) | 1)) & line;
        Some(ShortLine { edges, len: newlines.trailing_zeros() })
    }

    /// Returns three masks from `start` on. The first marks white space outside quotes and bytes of
    /// comments. The second marks the bytes of the line with its newline. The third marks newlines.
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
        let masks = Masks { quote: masks.quote & line, hash: masks.hash & line, ..masks };
        Some((Quotes::default().outside(masks)?, line, newlines))
    }

    #[inline(always)]
    fn near(self, start: usize) -> Option<Masks> {
        self.masks(|bits| near(bits, start))
    }

    #[inline(never)]
    pub(super) fn far(self, start: usize) -> Option<Masks> {
        self.masks(|bits| far(bits, start))
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

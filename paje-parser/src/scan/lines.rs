//! Lines of a text by its masks.

use super::Masks;
use super::quotes::Quotes;

/// A line whose fields are bits of one word.
#[derive(Clone, Copy, Debug)]
pub struct ShortLine {
    /// Lowest first, and counted from the beginning of the line: where the first field begins, the
    /// byte after its end, where the second begins, and so on.
    pub edges: u64,
    /// The line's length in bytes, without its newline.
    pub len: u32,
}

impl ShortLine {
    /// The places where its fields begin and end, as [`PlainLines::edges`] has them.
    #[must_use]
    pub fn edges(self, room: &mut [u16]) -> Option<(&[u16], usize)> {
        let (mut edges, mut count) = (self.edges, 0);
        while edges != 0 {
            *room.get_mut(count)? = edges.trailing_zeros() as u16;
            edges &= edges - 1;
            count += 1;
        }
        Some((&room[..count], self.len as usize))
    }
}

/// The lines of a text that are short: their fields can be read off one 64-byte window, for they have quotes only around
/// whole fields. Comments are as good as white bytes.
#[derive(Clone, Copy, Debug)]
pub struct ShortLines<'s> {
    pub(super) white: &'s [u8],
    pub(super) newline: &'s [u8],
    pub(super) quote: &'s [u8],
    pub(super) hash: &'s [u8],
    pub(super) special: bool,
    pub(super) single: bool,
}

/// The lines of a text with quotes only around whole fields.
#[derive(Clone, Copy, Debug)]
pub struct PlainLines<'s> {
    white: &'s [u8],
    newline: &'s [u8],
    single: bool,
}

impl PlainLines<'_> {
    /// True if no two white bytes of the text stand side by side, newlines among them.
    #[must_use]
    pub const fn are_single(&self) -> bool {
        self.single
    }

    /// The same as [`PlainLines::usual`], if no two white bytes of the text stand side by side: there is nothing to ask.
    #[must_use]
    #[inline(always)]
    pub fn single(self, start: usize) -> Option<(u64, u32)> {
        let (newlines, white) = (near(self.newline, start)?, near(self.white, start)?);
        match newlines {
            0 => None,
            _ => Some((white & (newlines ^ (newlines - 1)), newlines.trailing_zeros())),
        }
    }

    /// The same as [`ShortLines::usual`] of most lines, in one load and one shift for each mask: they have less than 57 bytes.
    #[must_use]
    #[inline(always)]
    pub fn usual(self, start: usize) -> Option<(u64, u32)> {
        let (newlines, white) = (near(self.newline, start)?, near(self.white, start)?);
        match newlines {
            0 => None,
            _ => usual(white, newlines ^ (newlines - 1), newlines),
        }
    }

    /// The same as [`ShortLines::usual`] of any line; of one of 64 bytes or more, the ends of the fields in its first 64 bytes, if
    /// they stand one byte apart, or else no ends; and its length.
    #[must_use]
    #[inline(never)]
    pub fn longer(&self, start: usize) -> Option<(u64, u32)> {
        let (newlines, white) = (far(self.newline, start)?, far(self.white, start)?);
        if newlines != 0 {
            return usual(white, newlines ^ (newlines - 1), newlines);
        }
        let ends = if white & (white << 1) == 0 { white } else { 0 };
        // A byte of the mask that is partly in the window has no bit in it.
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

    /// The places where the fields of the line at `start` begin and end, counted from its beginning, and its length without its newline;
    /// `None` if it has more of them than there is room for, 64 KiB or more, or is the last.
    #[must_use]
    pub fn edges<'e>(&self, start: usize, room: &'e mut [u16]) -> Option<(&'e [u16], usize)> {
        // Bytes ahead of a line are as good as white.
        let (mut at, mut before, mut count) = (0_usize, 1, 0);
        loop {
            let (newlines, white) = (far(self.newline, start + at)?, far(self.white, start + at)?);
            let line = newlines ^ newlines.wrapping_sub(1);
            let mut edges = (white ^ (white << 1 | before)) & line;
            while edges != 0 {
                let edge = at + edges.trailing_zeros() as usize;
                *room.get_mut(count)? = u16::try_from(edge).ok()?;
                edges &= edges - 1;
                count += 1;
            }
            if newlines != 0 {
                let len = at + newlines.trailing_zeros() as usize;
                return Some((&room[..count], u16::try_from(len).ok()?.into()));
            }
            before = white >> 63;
            at += 64;
        }
    }

    /// Number of fields of the line at `start`; `None` if the line is the last.
    #[must_use]
    pub fn fields(&self, start: usize) -> Option<u32> {
        // Bytes ahead of a line are as good as white.
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

/// A mask from `start` on, of 57 bytes at least: a load and a shift.
#[inline(always)]
fn near(bits: &[u8], start: usize) -> Option<u64> {
    let bytes = bits.get(start / 8..start / 8 + 8)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes) >> (start % 8))
}

/// The same of 64 bytes.
#[inline(always)]
fn far(bits: &[u8], start: usize) -> Option<u64> {
    let bytes: &[u8; 9] = bits.get(start / 8..start / 8 + 9)?.first_chunk()?;
    let [low @ .., high] = *bytes;
    let shift = (start % 8) as u32;
    Some(u64::from_le_bytes(low) >> shift | (u64::from(high) << 1) << (63 - shift))
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
    /// set where the line begins with a white byte or a comment. One more white byte may end the line.
    #[must_use]
    #[inline(always)]
    pub fn usual(self, start: usize) -> Option<(u64, u32)> {
        let (white, line, newlines) = self.window(start)?;
        usual(white, line, newlines)
    }

    /// The same lines, if the text has quotes only around whole fields.
    #[must_use]
    pub fn plain(self) -> Option<PlainLines<'s>> {
        let ShortLines { white, newline, special, single, .. } = self;
        // Who asks whether there is a byte of one knows it of the other.
        let newline = newline.get(..white.len())?;
        (!special).then_some(PlainLines { white, newline, single })
    }

    /// The places where the fields of the line at `start` begin and end.
    #[must_use]
    #[inline(always)]
    pub fn at(self, start: usize) -> Option<ShortLine> {
        let (white, line, newlines) = self.window(start)?;
        let edges = (white ^ ((white << 1) | 1)) & line;
        Some(ShortLine { edges, len: newlines.trailing_zeros() })
    }

    /// The white bytes from `start` on that are in no quotes, or in comments, the bytes of the line, its newline included, and all
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

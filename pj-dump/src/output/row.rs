//! Fast path for common rows: short names, small non-negative numbers, six decimals.
//!
//! Room for the whole row is reserved first, and every copy has a fixed size.
//! [`RowFormatter`](super::rows::RowFormatter) formats the other rows.

use paje_decimal::{Fixed6, put_fixed};

use super::names::Texts;
use super::printed::{PADDING, Printed};

/// Room for a row in bytes: the longest prefix, three numbers and four texts. It is doubled so that
/// a mask can replace bounds checks.
pub(super) const ROOM: usize = 512;

/// Beginning of a row: `Nature, CONTAINER, TYPE, `.
#[derive(Clone, Copy)]
pub(super) struct Prefix {
    padded: [u8; PREFIX],
    len: usize,
}

const PREFIX: usize = 64;

impl Prefix {
    pub(super) fn new(text: &[u8]) -> Option<Self> {
        let mut padded = [0; PREFIX];
        padded.get_mut(..text.len())?.copy_from_slice(text);
        Some(Prefix { padded, len: text.len() })
    }
}

/// Puts rows `next` to `end` until a row does not fit or `put` fails, and sets `next` to the first
/// remaining row. Returns the number of bytes.
#[inline(always)]
pub(super) fn put_rows(
    buffer: &mut [u8],
    prefix: &Prefix,
    next: &mut usize,
    end: usize,
    put: &mut impl FnMut(&mut Row<'_>, usize) -> Option<()>,
) -> usize {
    // This copy stays in registers.
    let Prefix { padded, len } = *prefix;
    let (mut at, mut i) = (0, *next);
    while i < end {
        let Some(bytes) = buffer.get_mut(at..).and_then(<[u8]>::first_chunk_mut) else { break };
        let mut row = Row { bytes, len };
        row.bytes[..PREFIX].copy_from_slice(&padded);
        if put(&mut row, i).is_none() {
            break;
        }
        at += row.end();
        i += 1;
    }
    *next = i;
    at
}

/// Row in progress. Bytes after `len` are meaningless.
pub(super) struct Row<'b> {
    bytes: &'b mut [u8; ROOM],
    len: usize,
}

impl Row<'_> {
    #[inline(always)]
    fn put<const SIZE: usize>(&mut self, bytes: &[u8; SIZE], len: usize) {
        // No row is longer than this, so the mask only avoids the bounds check.
        let at = self.len & (ROOM / 2 - 1);
        self.bytes[at..at + SIZE].copy_from_slice(bytes);
        self.len = at + len;
    }

    #[inline(always)]
    pub(super) fn number(&mut self, number: Fixed6) {
        self.put(&number.bytes(), number.len() + 2);
    }

    #[inline(always)]
    pub(super) fn any_number(&mut self, value: f64) {
        self.len = put_fixed(self.bytes, self.len & (ROOM / 4 - 1), value, 6);
    }

    /// Puts the text with this number, if it is short and one of the first texts.
    #[inline(always)]
    pub(super) fn text(&mut self, texts: &Printed, number: usize) -> Option<()> {
        let (text, len) = texts.short(number)?;
        self.put(text, len);
        Some(())
    }

    /// Puts the name with this number, if it is short and needs no quotes.
    #[inline(always)]
    pub(super) fn name(&mut self, names: &Texts<'_>, number: usize) -> Option<()> {
        match names.short(number) {
            Some((text, len)) => self.put(text, len),
            None => self.len = put_other(self.bytes, self.len, names, number)?,
        }
        Some(())
    }

    #[inline(always)]
    pub(super) fn separator(&mut self) {
        self.put(b", ", 2);
    }

    #[inline(always)]
    pub(super) fn key(&mut self, raw: &[u8]) -> Option<()> {
        let len = raw.len();
        let at = self.len & (ROOM / 2 - 1);
        // Copies the first and the last eight bytes, which may overlap.
        if let (8..=16, Some(first), Some(last)) = (len, raw.first_chunk(), raw.last_chunk()) {
            let second = at + (len & 31) - 8;
            self.bytes[at..at + 8].copy_from_slice(first);
            self.bytes[second..second + 8].copy_from_slice(last);
            let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
            if !are_plain(first) || !are_plain(last) {
                return None;
            }
        } else if let (4..8, Some(first), Some(last)) = (len, raw.first_chunk(), raw.last_chunk()) {
            let second = at + (len & 7) - 4;
            self.bytes[at..at + 4].copy_from_slice(first);
            self.bytes[second..second + 4].copy_from_slice(last);
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            if !are_plain(u64::from(first) | u64::from(last) << 32) {
                return None;
            }
        } else {
            self.len = put_any_key(self.bytes, self.len, raw)?;
            return Some(());
        }
        self.len = at + len;
        Some(())
    }

    #[inline(always)]
    pub(super) fn end(mut self) -> usize {
        self.put(b"\n", 1);
        self.len
    }
}

/// Puts the name with this number, if it is short and needs no quotes, and returns the end of the
/// name. It need not be one of the first names. The parameters are the parts of a row instead of
/// the row itself, so that the caller can keep the row in registers.
#[inline(never)]
fn put_other(
    bytes: &mut [u8; ROOM],
    len: usize,
    names: &Texts<'_>,
    number: usize,
) -> Option<usize> {
    put_any(bytes, len, names.plain(number)?)
}

#[inline(always)]
fn put_any(bytes: &mut [u8; ROOM], len: usize, text: &[u8]) -> Option<usize> {
    if text.len() > PADDING {
        return None;
    }
    let at = len & (ROOM / 2 - 1);
    bytes[at..at + text.len()].copy_from_slice(text);
    Some(at + text.len())
}

#[inline(never)]
fn put_any_key(bytes: &mut [u8; ROOM], len: usize, raw: &[u8]) -> Option<usize> {
    let is_plain = raw.iter().all(|byte| (FIRST_PLAIN..0x80).contains(byte));
    if is_plain { put_any(bytes, len, raw) } else { None }
}

/// From this character on, no ASCII character needs quotes. Commas, quotes, blanks and line breaks
/// have lower codes.
const FIRST_PLAIN: u8 = b'-';

#[inline(always)]
const fn are_plain(bytes: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x80 * ONES;
    // The sum of a byte below 0x80 does not carry.
    bytes & TOPS == 0 && bytes.wrapping_add((0x80 - FIRST_PLAIN as u64) * ONES) & TOPS == TOPS
}

/// The last number of a lane, with its text. Numbers often occur twice, at the end of one row and
/// the start of the next.
#[derive(Clone, Copy)]
pub(super) struct Known {
    bits: u64,
    text: Fixed6,
}

impl Default for Known {
    fn default() -> Self {
        Known { bits: 0f64.to_bits(), text: Fixed6::ZERO }
    }
}

impl Known {
    /// Returns the text of a number. If the number is the remembered one, returns the remembered
    /// text.
    #[inline(always)]
    pub(super) fn of(&self, value: f64) -> Option<Fixed6> {
        if value.to_bits() == self.bits { Some(self.text) } else { Fixed6::new(value) }
    }

    /// Returns the text of a number, and remembers it.
    #[inline(always)]
    pub(super) fn next(&mut self, value: f64) -> Option<Fixed6> {
        *self = Known { bits: value.to_bits(), text: Fixed6::new(value)? };
        Some(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paje_console::Quotes;
    use paje_parser::Field;
    use paje_sim::Name;

    /// Tries every byte at every position of keys. The keys have all lengths that are copied in
    /// moves of a fixed size.
    #[test]
    fn keys_are_stored_only_if_all_quotes_agree() {
        let mut known = 0;
        for len in 1..=40usize {
            for place in 0..len {
                for byte in 0..=255u8 {
                    let mut raw = vec![b'k'; len];
                    raw[place] = byte;
                    let (mut buffer, mut next) = ([b'?'; ROOM], 0);
                    let prefix = Prefix::new(b"p, ").expect("a short prefix");
                    let mut put = |row: &mut Row<'_>, _: usize| row.key(&raw);
                    let end = put_rows(&mut buffer, &prefix, &mut next, 1, &mut put);
                    if next == 0 {
                        continue;
                    }
                    known += 1;
                    let text = [b"p, ", &raw[..], b"\n"].concat();
                    assert_eq!(&buffer[..end], text);
                    for quotes in [Quotes::Auto, Quotes::Strip, Quotes::Keep] {
                        let mut printed = Vec::new();
                        quotes.write(Name::from(Field::new(&raw)), &mut printed);
                        assert_eq!(printed, raw);
                    }
                }
            }
        }
        assert!(known > 80 * 32 * 16, "{known}");
    }
}

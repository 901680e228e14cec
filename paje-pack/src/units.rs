//! Parses times, several digits at once.

use crate::times::Scale;
use crate::value::{DIGITS, POWERS, eight, is_digits};

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Masks that keep the last bytes of a word.
const KEEP: [u64; 9] = {
    let mut keep = [0; 9];
    let mut len = 1;
    while len < keep.len() {
        keep[len] = u64::MAX << (8 * (8 - len));
        len += 1;
    }
    keep
};

const MOST: usize = 14;

/// Parser of times in the usual format of a scale.
pub(crate) struct Units {
    zeros: usize,
    /// Number of decimals, not counting the zeros at the end, or 0 if this parser cannot be used.
    after: usize,
    /// Masks for the last eight decimals, and for the eight decimals before them.
    keep: [u64; 2],
    /// The integer part that was read last: its bytes, their number, and its value in units.
    whole: (u64, usize, u64),
}

/// Returns the number whose digits are the kept bytes of a word. Returns `None` if one of these
/// bytes is not a digit.
#[inline(always)]
fn digits(bytes: &[u8; 8], keep: u64) -> Option<u64> {
    let digits = u64::from_le_bytes(*bytes) & keep | ZEROS & !keep;
    is_digits(digits).then(|| eight(digits))
}

impl Units {
    pub(crate) fn new(scale: Scale) -> Units {
        let zeros = usize::from(scale.zeros);
        let after = usize::from(scale.after).saturating_sub(zeros);
        let after = if after <= MOST && zeros <= 8 { after } else { 0 };
        let keep = [KEEP[after.min(8)], KEEP[after.saturating_sub(8)]];
        Units { zeros, after, keep, whole: (0, usize::MAX, 0) }
    }

    /// Returns the units of the time at `first..end`, or `None` if only the slow parser can read
    /// the time.
    #[inline(always)]
    pub(crate) fn read(&mut self, text: &[u8], first: usize, end: usize) -> Option<i64> {
        let Units { zeros, after, keep, .. } = *self;
        let point = end.checked_sub(after + 1 + zeros)?;
        let len = point.checked_sub(first)?;
        // The bytes include eight bytes before the point, and the point.
        let bytes = text.get(point.checked_sub(8)?..end)?;
        if bytes.get(8) != Some(&b'.') || after == 0 || end - first > DIGITS + 1 {
            return None;
        }
        if zeros > 0 && (u64::from_le_bytes(*bytes.last_chunk()?) ^ ZEROS) & *KEEP.get(zeros)? != 0
        {
            return None;
        }
        let before = u64::from_le_bytes(*bytes.first_chunk()?) & KEEP.get(len)?;
        if (before, len) != (self.whole.0, self.whole.1) {
            self.whole = (before, len, self.before(before, len)?);
        }
        let behind = bytes.get(..after + 9)?;
        let mut units = self.whole.2 + digits(behind.last_chunk()?, keep[0])?;
        if after > 8 {
            let (first, _) = behind.split_last_chunk::<8>()?;
            units += digits(first.last_chunk()?, keep[1])? * POWERS[8];
        }
        Some(units as i64)
    }

    /// Returns the units of the integer part of a time. Its digits are the last `len` of the eight
    /// bytes.
    #[cold]
    fn before(&self, bytes: u64, len: usize) -> Option<u64> {
        let starts = bytes.to_le_bytes()[8_usize.checked_sub(len)?..].first() == Some(&b'0');
        if len == 0 || (len > 1 && starts) {
            return None;
        }
        Some(digits(&bytes.to_le_bytes(), KEEP[len])? * POWERS[self.after])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_scale() {
        let texts = [
            "0.5",
            "12.500000",
            "12.500001",
            "00.500000",
            "0.500000",
            "7.000000",
            "-3.500000",
            "123456789.123456",
            "12345678.123000",
            "1234567890.123456",
            "1e5",
            ".5",
            "5.",
            "",
            "0",
            "1.2.3456",
            "681.648160000",
            "681.648160001",
            "0.000000000",
            "3.14159 ",
            "1.000 000",
        ];
        let mut read = 0;
        for after in 0..12 {
            for zeros in 0..=after {
                let scale = Scale { after, zeros };
                for text in texts {
                    // Bytes around the time do not matter.
                    for around in ["", "0", "0000000000000000", "               9"] {
                        let all = [around, text, around].concat();
                        let mut units = Units::new(scale);
                        for _ in 0..2 {
                            let end = around.len() + text.len();
                            let found = units.read(all.as_bytes(), around.len(), end);
                            if found.is_some() {
                                assert_eq!(found, scale.units(text.as_bytes()), "{text} {scale:?}");
                                read += 1;
                            }
                        }
                    }
                }
            }
        }
        assert!(read > 100, "{read}");
    }

    /// The number before the point is remembered together with its length.
    #[test]
    fn texts_of_other_lengths_are_others() {
        let mut units = Units::new(Scale { after: 2, zeros: 0 });
        let text = b"                1.25 01.25 1.25";
        assert_eq!(units.read(text, 16, 20), Some(125));
        assert_eq!(units.read(text, 21, 26), None);
        assert_eq!(units.read(text, 27, 31), Some(125));
    }
}

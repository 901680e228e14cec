//! Times as whole numbers, many digits at once.

use crate::times::Scale;
use crate::value::{DIGITS, eight, is_digits};

/// Bytes that are read together.
const BYTES: usize = 16;

/// Zeros as digits.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Of 16 bytes, the last so many.
const KEEP: [u128; BYTES + 1] = {
    let mut keep = [0; BYTES + 1];
    let mut len = 1;
    while len <= BYTES {
        keep[len] = u128::MAX << (8 * (BYTES - len));
        len += 1;
    }
    keep
};

/// Reader of times that are spelt as the scale says, for those with digits behind the point that are no zeros always.
pub(crate) struct Units {
    zeros: usize,
    /// Digits behind the point, without these zeros; 0 if this is for others to read.
    after: usize,
    /// The point, in the last 16 bytes, the byte where it is, and those before it.
    point: [u128; 3],
    /// The last one that was read: its text, with zeros before it, how long it is, and what it is.
    last: (u128, usize, i64),
}

impl Units {
    pub(crate) fn new(scale: Scale) -> Units {
        let zeros = usize::from(scale.zeros);
        let after = usize::from(scale.after).saturating_sub(zeros);
        let after = if after < BYTES - 1 && zeros <= 8 { after } else { 0 };
        let place = 8 * (BYTES - 1 - after);
        let point = [u128::from(b'.') << place, 255 << place, !(u128::MAX << place)];
        Units { zeros, after, point, last: (0, 0, 0) }
    }

    /// The units of the time in these bytes of a text, mostly; none if they are to be read otherwise.
    #[inline]
    pub(crate) fn read(&mut self, text: &[u8], first: usize, end: usize) -> Option<i64> {
        if self.after == 0 {
            return None;
        }
        let mut behind = end;
        if self.zeros > 0 {
            behind = end.checked_sub(self.zeros)?;
            let last = text.get(end.checked_sub(8)?..end)?.first_chunk()?;
            if (u64::from_le_bytes(*last) ^ ZEROS) >> (8 * (8 - self.zeros)) != 0 {
                return None;
            }
        }
        let len = behind.checked_sub(first).filter(|len| len + self.zeros <= DIGITS + 1)?;
        let bytes = text.get(behind.checked_sub(BYTES)?..behind)?.first_chunk()?;
        let keep = *KEEP.get(len)?;
        let word = u128::from_le_bytes(*bytes) & keep
            | (u128::from(ZEROS) << 64 | u128::from(ZEROS)) & !keep;
        if (word, len) == (self.last.0, self.last.1) {
            return Some(self.last.2);
        }
        let whole = len.checked_sub(self.after + 1).filter(|whole| *whole > 0)?;
        let [point, place, before] = self.point;
        if (whole > 1 && text[first] == b'0') || word & place != point {
            return None;
        }
        // Without the point: what is before it moves by one.
        let digits = word & !(before | place) | (word & before) << 8 | u128::from(b'0');
        let (low, high) = (digits as u64, (digits >> 64) as u64);
        if !(is_digits(low) && is_digits(high)) {
            return None;
        }
        let units = (eight(low) * 100_000_000 + eight(high)) as i64;
        self.last = (word, len, units);
        Some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is read is what others read; and it is read where it can be.
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
                    // Bytes before and behind it do not matter.
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

    /// A time is not taken for the last one if it has another length.
    #[test]
    fn texts_of_other_lengths_are_others() {
        let mut units = Units::new(Scale { after: 2, zeros: 0 });
        let text = b"                1.25 01.25 1.25";
        assert_eq!(units.read(text, 16, 20), Some(125));
        assert_eq!(units.read(text, 21, 26), None);
        assert_eq!(units.read(text, 27, 31), Some(125));
    }
}

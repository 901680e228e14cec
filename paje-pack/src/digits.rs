//! Short texts that are copied as one word, such as the digits of a number.

use crate::value::{DIGITS, POWERS};

/// Text of at most 16 bytes. The first byte of the text is the lowest byte of the word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Short {
    bytes: [u8; SHORT],
    len: u8,
}

pub(crate) const SHORT: usize = 16;

const POINT: Short = Short::new(b'.' as u128, 1);
const MINUS: Short = Short::new(b'-' as u128, 1);

impl Short {
    #[inline]
    const fn new(bytes: u128, len: u8) -> Short {
        Short { bytes: bytes.to_le_bytes(), len }
    }

    #[inline]
    const fn word(self) -> u128 {
        u128::from_le_bytes(self.bytes)
    }

    pub(crate) fn of(text: &[u8]) -> Short {
        let text = &text[..text.len().min(SHORT)];
        let mut bytes = [0; SHORT];
        bytes[..text.len()].copy_from_slice(text);
        Short { bytes, len: text.len() as u8 }
    }

    #[inline]
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }

    /// Returns the text, padded to 16 bytes. The contents of the padding do not matter.
    #[inline]
    pub(crate) const fn bytes(self) -> [u8; SHORT] {
        self.bytes
    }

    /// Concatenates two texts. The first must have fewer than 16 bytes, and both together at most
    /// 16.
    #[inline]
    const fn and(self, other: Short) -> Short {
        let shift = 8 * (self.len as u32 % SHORT as u32);
        Short::new(self.word() | other.word() << shift, self.len + other.len)
    }

    /// Formats a number below 10^8.
    #[inline]
    pub(crate) fn whole(number: u64) -> Short {
        let digits = eight(number);
        // At least one digit is written.
        let zeros = (digits.trailing_zeros() as usize / 8).min(7);
        let bytes = (digits | ZEROS) >> (8 * zeros);
        Short::new(bytes.into(), 8 - zeros as u8)
    }

    /// Formats a number with `count` digits (1 to 14), with leading zeros.
    #[inline]
    fn padded(number: u64, count: u8) -> Short {
        if count > 8 {
            let [first, last] = [number / POWERS[8], number % POWERS[8]];
            return Short::padded_short(first, count - 8).and(Short::padded_short(last, 8));
        }
        Short::padded_short(number, count)
    }

    /// Formats a number with `count` digits (1 to 8), with leading zeros.
    #[inline]
    fn padded_short(number: u64, count: u8) -> Short {
        let shift = 8 * (8 - u32::from(count)) % 64;
        Short::new(((eight(number) | ZEROS) >> shift).into(), count)
    }

    /// Formats a decimal number with `after` digits after the point. Returns `None` if its text is
    /// not short.
    #[inline]
    pub(crate) fn decimal(bits: i64, after: u8) -> Option<Short> {
        let left = bits.unsigned_abs();
        if after == 0 {
            return (bits >= 0 && left < POWERS[8]).then(|| Short::whole(left));
        }
        let power = *POWERS.get(usize::from(after))?;
        let (whole, behind) = (left / power, left % power);
        if whole >= POWERS[8] {
            return None;
        }
        let sign = if bits < 0 { MINUS } else { Short::default() };
        let text = sign.and(Short::whole(whole)).and(POINT);
        let fits = text.len + after <= SHORT as u8;
        fits.then(|| text.and(Short::padded(behind, after)))
    }

    /// Formats a number with 16 hexadecimal digits.
    #[inline]
    pub(crate) fn hex(bits: u64) -> Short {
        let halves = [(bits >> 32) as u32, bits as u32].map(|half| {
            // The first digit is the most significant digit, but belongs in the lowest byte.
            let fours = u64::from(half >> 16) | u64::from(half & 0xffff) << 32;
            let pairs = fours >> 8 & 0x0000_00ff_0000_00ff | (fours & 0x0000_00ff_0000_00ff) << 16;
            let digits = pairs >> 4 & 0x000f_000f_000f_000f | (pairs & 0x000f_000f_000f_000f) << 8;
            let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
            u128::from(digits + ZEROS + 39 * letters)
        });
        Short::new(halves[0] | halves[1] << 64, SHORT as u8)
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns the eight digits of a number below 10^8, with the first digit in the lowest byte.
#[inline]
const fn eight(number: u64) -> u64 {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = fours.wrapping_mul(10_486) >> 20 & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - 100 * hundreds) << 16;
    let tens = pairs.wrapping_mul(103) >> 10 & 0x000f_000f_000f_000f;
    tens | (pairs - 10 * tens) << 8
}

/// Maximum length of a number with its digits, a point and a sign.
pub(crate) const LONGEST: usize = 40;

pub(crate) struct Long {
    bytes: [u8; LONGEST],
    from: usize,
}

impl Long {
    pub(crate) fn text(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// Formats a decimal number with `after` digits after the point.
    #[cold]
    pub(crate) fn decimal(bits: i64, after: u8) -> Long {
        let after = usize::from(after).min(DIGITS);
        let (mut bytes, mut at) = ([b'0'; LONGEST], LONGEST);
        let (mut left, mut count) = (bits.unsigned_abs(), 0);
        // At least one digit is written before the point.
        while left > 0 || count <= after {
            if count == after && after > 0 {
                at -= 1;
                bytes[at] = b'.';
            }
            at -= 1;
            bytes[at] = b'0' + (left % 10) as u8;
            left /= 10;
            count += 1;
        }
        if bits < 0 {
            at -= 1;
            bytes[at] = b'-';
        }
        Long { bytes, from: at }
    }
}

/// Returns the length of a decimal number as [`Long::decimal`] writes it.
#[inline]
pub(crate) const fn decimal_len(bits: i64, after: u8) -> usize {
    // This estimate from the number of bits may be one too low. Zero has one digit, like 1.
    let number = bits.unsigned_abs() | 1;
    let digits = (((u64::BITS - number.leading_zeros()) * 1233) >> 12) as usize;
    let digits = digits + (number >= POWERS[digits]) as usize;
    let after = after as usize;
    let digits = if digits > after { digits } else { after + 1 };
    digits + (after > 0) as usize + (bits < 0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(number: i128, after: usize) -> String {
        let digits = format!("{:0>1$}", number.unsigned_abs(), after + 1);
        let (whole, behind) = digits.split_at(digits.len() - after);
        let point = if after > 0 { "." } else { "" };
        format!("{}{whole}{point}{behind}", if number < 0 { "-" } else { "" })
    }

    fn text(short: Option<Short>, long: &Long) -> String {
        let long = String::from_utf8_lossy(long.text()).into_owned();
        let Some(short) = short else { return long };
        let text = String::from_utf8_lossy(&short.bytes()[..short.len()]).into_owned();
        assert_eq!(text, long);
        text
    }

    #[test]
    fn numbers_of_all_sizes_are_spelt() {
        let powers = (0..18).map(|digits| 10_i64.pow(digits));
        let near = powers.flat_map(|power| [power - 1, power, power + 7, power / 3 * 2]);
        for number in near.flat_map(|number| [number, -number]).chain([i64::MAX, i64::MIN]) {
            for after in 0..=18 {
                let long = Long::decimal(number, after);
                assert_eq!(decimal_len(number, after), long.text().len());
                let expected = slow(number.into(), after.into());
                assert_eq!(text(Short::decimal(number, after), &long), expected);
            }
        }
    }

    #[test]
    fn hexadecimal_digits_are_spelt() {
        for bits in [0, u64::MAX, 0x0123_4567_89ab_cdef, 0xf0e1_d2c3_b4a5_9687] {
            assert_eq!(Short::hex(bits).bytes()[..], *format!("{bits:016x}").as_bytes());
        }
    }

    #[test]
    fn short_texts_are_their_first_bytes() {
        let text = b"0123456789abcdefg";
        for len in 0..=text.len() {
            let short = Short::of(&text[..len]);
            assert_eq!(short.len(), len.min(SHORT));
            assert_eq!(short.bytes()[..short.len()], text[..len.min(SHORT)]);
        }
    }
}

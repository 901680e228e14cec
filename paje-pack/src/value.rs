//! Texts of fields as numbers, where the number gives the text back.

use crate::texts::{Texts, word};

/// The text of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    /// A number without its point, in two's complement; what 16 hexadecimal digits stand for; the number of a text.
    pub(crate) bits: u64,
}

/// Form in which a text is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    #[default]
    Text,
    /// A decimal number with so many digits after the point; without a point for 0.
    Decimal(u8),
    /// 16 digits of lower case.
    Hex,
}

/// Digits that surely fit.
const DIGITS: usize = 18;

impl Value {
    /// The decimal number that a text is, if it is spelt as such numbers are written here.
    pub(crate) fn decimal(text: &[u8]) -> Option<Value> {
        let (negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        if digits.len() > DIGITS + 1 {
            return None;
        }
        if let Some((bits, after)) = short_decimal(digits) {
            let bits = if negative { bits.wrapping_neg() } else { bits };
            return (!negative || bits != 0).then_some(Value { kind: Kind::Decimal(after), bits });
        }
        Value::long_decimal(negative, digits)
    }

    /// The same, one digit after the other.
    fn long_decimal(negative: bool, digits: &[u8]) -> Option<Value> {
        let (mut bits, mut point) = (0_i64, None);
        for (place, byte) in digits.iter().enumerate() {
            match byte {
                // Numbers that do not fit have too many digits.
                b'0'..=b'9' => bits = bits.wrapping_mul(10).wrapping_add((byte - b'0').into()),
                b'.' if point.is_none() => point = Some(place),
                _ => return None,
            }
        }
        let whole = point.unwrap_or(digits.len());
        let after = digits.len() - whole - usize::from(point.is_some());
        let spelt = whole > 0
            && (whole == 1 || digits[0] != b'0')
            && (point.is_none() || after > 0)
            && whole + after <= DIGITS
            && !(negative && bits == 0);
        spelt.then(|| Value {
            kind: Kind::Decimal(after as u8),
            bits: (if negative { -bits } else { bits }) as u64,
        })
    }

    fn hex(text: &[u8]) -> Option<Value> {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => Some(u64::from(byte - b'0')),
            b'a'..=b'f' => Some(u64::from(byte - b'a' + 10)),
            _ => None,
        };
        if text.len() != 16 {
            return None;
        }
        let bits = text.iter().try_fold(0, |bits, byte| Some(bits << 4 | digit(byte)?));
        bits.map(|bits| Value { kind: Kind::Hex, bits })
    }

    /// The number that a text is.
    pub(crate) fn of(text: &[u8]) -> Option<Value> {
        Value::hex(text).or_else(|| Value::decimal(text))
    }
}

/// The number that 7 to 16 bytes spell, without its point, and the digits after that; none of other texts. Fewer are read
/// sooner one by one.
#[inline]
fn short_decimal(text: &[u8]) -> Option<(u64, u8)> {
    let len = text.len();
    if !(7..=16).contains(&len) {
        return None;
    }
    let (low, high) = text.split_at(len.min(8));
    let (low, high) = (word(low), word(high));
    let places = [point(low), 8 + point(high)];
    let whole = if places[0] < 8 { places[0] } else { places[1] }.min(len);
    let after = len - whole - usize::from(whole < len);
    let odd = whole == 0 || (whole > 1 && text[0] == b'0') || (whole < len && after == 0);
    if odd {
        return None;
    }
    // Without the point, and the last digit at the top.
    let bytes = u128::from(low) | u128::from(high) << 64;
    let before = bytes & !(u128::MAX << (8 * whole).min(127));
    let digits =
        if whole < len { before | bytes >> 8 >> (8 * whole) << (8 * whole) } else { bytes };
    let count = whole + after;
    let digits = digits << (8 * (16 - count));
    let zeros = 0x3030_3030_3030_3030_3030_3030_3030_3030_u128;
    let digits = digits | zeros & !(u128::MAX << (8 * (16 - count)).min(127));
    let [low, high] = [digits as u64, (digits >> 64) as u64];
    (is_digits(low) && is_digits(high))
        .then(|| (eight(low) * 100_000_000 + eight(high), after as u8))
}

/// The place of the first point in eight bytes, or 8.
const fn point(bytes: u64) -> usize {
    let others = bytes ^ 0x2e2e_2e2e_2e2e_2e2e;
    let zeros = others.wrapping_sub(0x0101_0101_0101_0101) & !others & 0x8080_8080_8080_8080;
    zeros.trailing_zeros() as usize / 8
}

/// Eight bytes are decimal digits.
const fn is_digits(bytes: u64) -> bool {
    let digits = bytes ^ 0x3030_3030_3030_3030;
    (((digits & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080
        == 0
}

/// The number that eight digits spell, the first one lowest.
const fn eight(digits: u64) -> u64 {
    let digits = digits & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (digits.wrapping_mul(2561) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
}

/// The digits of the numbers below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Appends the text of a decimal number.
pub(crate) fn write_decimal(bits: i64, after: u8, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 40];
    let mut at = digits.len();
    let after = usize::from(after.min(DIGITS as u8));
    let mut left = bits.unsigned_abs();
    while left > 9 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[(left % 100) as usize]);
        left /= 100;
    }
    if left > 0 {
        at -= 1;
        digits[at] = b'0' + left as u8;
    }
    // One digit before the point at least.
    at = at.min(digits.len() - 1 - after);
    if after > 0 {
        let whole = digits.len() - after;
        digits.copy_within(at..whole, at - 1);
        digits[whole - 1] = b'.';
        at -= 1;
    }
    if bits < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.extend_from_slice(&digits[at..]);
}

impl Value {
    /// Appends the text of a value, which texts are found in `texts`.
    pub(crate) fn write(self, texts: &Texts, out: &mut Vec<u8>) {
        match self.kind {
            Kind::Text => out.extend_from_slice(texts.get(self.bits as u32)),
            Kind::Decimal(after) => write_decimal(self.bits as i64, after, out),
            Kind::Hex => {
                let digit =
                    |place: u32| b"0123456789abcdef"[(self.bits >> (4 * place) & 15) as usize];
                out.extend((0..16).rev().map(digit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_its_text_back() {
        let texts = Texts::default();
        for text in [
            "0",
            "7",
            "-7",
            "0.0",
            "0.5",
            "-0.5",
            "12.340",
            "618.726959000",
            "999999999999999999",
            "-0.01",
            "43510a4e43510a4e",
        ] {
            let mut back = Vec::new();
            Value::of(text.as_bytes()).unwrap().write(&texts, &mut back);
            assert_eq!(back, text.as_bytes());
        }
    }

    /// Numbers of all lengths, with points and other bytes at all places, are those that a loop over their digits finds.
    #[test]
    fn a_number_is_the_same_in_words_and_by_its_digits() {
        for len in 0..=18 {
            for point in 0..=len {
                for odd in 0..=len {
                    for byte in [b'0', b'9', b'.', b'/', b':', b'-', b'a', b' ', 0, 128, 0xb0, 255]
                    {
                        let mut text: Vec<u8> =
                            (0..len).map(|at| b'0' + (at * 7 + 3) as u8 % 10).collect();
                        [(point, b'.'), (odd, byte)].into_iter().for_each(|(at, byte)| {
                            text.get_mut(at).into_iter().for_each(|it| *it = byte);
                        });
                        let slow = match text.strip_prefix(b"-") {
                            Some(digits) => Value::long_decimal(true, digits),
                            None => Value::long_decimal(false, &text),
                        };
                        assert_eq!(Value::decimal(&text), slow, "{}", text.escape_ascii());
                    }
                }
            }
        }
    }

    #[test]
    fn other_spellings_are_texts() {
        for text in [
            "",
            "-",
            ".",
            "1.",
            ".5",
            "00",
            "01",
            "-0",
            "-0.0",
            "+1",
            "1e5",
            "1.2.3",
            "1000000000000000000",
            "9999999999999999999",
            "0x1",
            "43510A4E43510A4E",
        ] {
            assert_eq!(Value::of(text.as_bytes()), None, "{text}");
        }
    }
}

//! Texts of fields as numbers, where the number gives the text back.

use crate::texts::Texts;

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

//! Converts texts of fields to numbers. Formatting such a number gives the same text again.

use crate::texts::word;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) kind: Kind,
    /// Depending on the kind: a decimal number without its point, in two's complement; the value of
    /// hexadecimal digits; or the number of a text.
    pub(crate) bits: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    #[default]
    Text,
    /// A decimal number with the given number of decimals. Without decimals, it has no point.
    Decimal(u8),
    Hex,
}

/// Largest number of decimal digits of a number.
pub(crate) const DIGITS: usize = 18;

impl Value {
    /// Parses a decimal number. Returns `None` unless formatting the number gives the same text.
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
                // A number that overflows has too many digits.
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

    /// Returns whether a double can represent the number exactly.
    #[inline]
    pub(crate) const fn is_exact(self) -> bool {
        (self.bits as i64).unsigned_abs() <= 1 << 53
    }

    /// Parses 16 lower-case hexadecimal digits.
    fn hex(text: &[u8]) -> Option<Value> {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => Some(u64::from(byte - b'0')),
            b'a'..=b'f' => Some(u64::from(byte - b'a') + 10),
            _ => None,
        };
        let bits = text.iter().try_fold(0, |bits, byte| Some(bits << 4 | digit(byte)?))?;
        (text.len() == 16).then_some(Value { kind: Kind::Hex, bits })
    }

    /// Parses a whole number. Its text is the first `len` bytes (at most eight) of a word.
    #[inline]
    pub(crate) const fn whole(bytes: u64, len: usize) -> Option<Value> {
        if len == 0 || (len > 1 && bytes as u8 == b'0') {
            return None;
        }
        match digits_at_end(bytes, len) {
            Some(bits) => Some(Value { kind: Kind::Decimal(0), bits }),
            None => None,
        }
    }

    /// Parses a number with `after` decimals (1 to 8), and at most 8 digits before the point.
    #[inline]
    pub(crate) fn with_point(text: &[u8], after: u8) -> Option<Value> {
        with_point(text, after.into()).map(|bits| Value { kind: Kind::Decimal(after), bits })
    }

    #[inline]
    pub(crate) fn of(text: &[u8]) -> Option<Value> {
        // Most numbers have only a few digits.
        if text.len() <= 8
            && let Some(value) = Value::whole(word(text), text.len())
        {
            return Some(value);
        }
        // Names are not numbers.
        let first = text.first().copied().unwrap_or_default();
        if text.len() != 16 && first != b'-' && !first.is_ascii_digit() {
            return None;
        }
        Value::long(text)
    }

    fn long(text: &[u8]) -> Option<Value> {
        Value::hex(text).or_else(|| Value::decimal(text))
    }
}

/// Parses a number with `after` decimals (1 to 8), and 1 to 8 digits before the point. Returns the
/// number without its point.
#[inline]
pub(crate) fn with_point(text: &[u8], after: usize) -> Option<u64> {
    let len = text.len();
    let whole = len.checked_sub(after + 1).filter(|whole| (1..=8).contains(whole))?;
    if !(1..=8).contains(&after) || text[whole] != b'.' || (whole > 1 && text[0] == b'0') {
        return None;
    }
    let (first, last) = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (word(text), word(text) << (8 * (8 - len))),
    };
    let before = digits_at_end(first, whole)?;
    let behind = digits_at_end(last >> (8 * (8 - after)), after)?;
    Some(before * POWERS[after] + behind)
}

/// All powers of ten below 2^64.
pub(crate) const POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut power = 1;
    while power < powers.len() {
        powers[power] = 10 * powers[power - 1];
        power += 1;
    }
    powers
};

/// Parses the first `count` bytes (1 to 8) of a word.
#[inline]
const fn digits_at_end(bytes: u64, count: usize) -> Option<u64> {
    let shift = 8 * (8 - count as u32) % 64;
    let zeros = 0x3030_3030_3030_3030 & !(u64::MAX << shift);
    let digits = bytes << shift | zeros;
    if is_digits(digits) { Some(eight(digits)) } else { None }
}

pub(crate) const fn is_digits(bytes: u64) -> bool {
    let digits = bytes ^ 0x3030_3030_3030_3030;
    (((digits & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080
        == 0
}

/// Parses eight digits, with the first digit in the lowest byte.
pub(crate) const fn eight(digits: u64) -> u64 {
    let digits = digits & 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (digits.wrapping_mul(2561) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
}

#[cfg(test)]
mod tests;

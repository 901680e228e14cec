//! Hexadecimal floats (C99, 7.20.1.3), correctly rounded: `0x1.8p3`.
//!
//! Such numbers are rare in traces, so they are read digit by digit. Sixteen significant digits
//! become a 64-bit integer. Another bit records whether a later digit is not zero, because this
//! affects rounding.

/// Exponents beyond this always overflow or underflow. Saturating here keeps the arithmetic exact.
const FAR: i64 = 1 << 60;

/// A magnitude: `mantissa * 2^exponent`, or slightly more if `inexact`.
struct Binary {
    mantissa: u64,
    inexact: bool,
    exponent: i64,
}

/// Parses an unsigned hexadecimal float to the nearest `f64`, ties to even.
pub(super) fn parse_f64(text: &[u8]) -> Option<f64> {
    Some(f64::from_bits(parse(text)?.round(53, -1074, 0x7ff << 52)))
}

/// Parses an unsigned hexadecimal float to the nearest `f32`, ties to even.
pub(super) fn parse_f32(text: &[u8]) -> Option<f32> {
    let bits = parse(text)?.round(24, -149, 0xff << 23);
    Some(f32::from_bits(bits as u32))
}

fn parse(text: &[u8]) -> Option<Binary> {
    let [b'0', b'x' | b'X', text @ ..] = text else {
        return None;
    };
    let mut binary = Binary { mantissa: 0, inexact: false, exponent: 0 };
    let mut any_digit = false;
    let mut after_point = false;
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        if *byte == b'.' && !after_point {
            after_point = true;
        } else if let Some(digit) = (*byte as char).to_digit(16) {
            any_digit = true;
            binary.push(digit, after_point);
        } else {
            break;
        }
        rest = tail;
    }
    if !any_digit {
        return None;
    }
    match rest {
        [] => {}
        [b'p' | b'P', exponent @ ..] => {
            binary.exponent = binary.exponent.saturating_add(parse_exponent(exponent)?);
        }
        _ => return None,
    }
    Some(binary)
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = super::unsigned(text);
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for byte in digits {
        let digit = (*byte as char).to_digit(10)?;
        value = (10 * value + i64::from(digit)).min(FAR / 10);
    }
    Some(if negative { -value } else { value })
}

impl Binary {
    fn push(&mut self, digit: u32, after_point: bool) {
        let full = self.mantissa >> 60 != 0;
        if full {
            self.inexact |= digit != 0;
        } else {
            self.mantissa = (self.mantissa << 4) | u64::from(digit);
        }
        self.exponent += match (full, after_point) {
            (true, false) => 4,
            (false, true) => -4,
            _ => 0,
        };
    }

    /// Returns the bits of the nearest float, ties to even. The float format has `precision`
    /// significant bits, its smallest subnormal is `2^smallest`, and its infinity has the bits
    /// `infinity`.
    fn round(&self, precision: u32, smallest: i64, infinity: u64) -> u64 {
        if self.mantissa == 0 {
            return 0;
        }
        let zeros = self.mantissa.leading_zeros();
        let mantissa = self.mantissa << zeros;
        // Exponents of the lowest bits of `mantissa` and of the result.
        let exponent = self.exponent.saturating_sub(i64::from(zeros));
        let unit = exponent.saturating_add(64 - i64::from(precision)).max(smallest);
        let shift = unit.saturating_sub(exponent);
        if shift > 64 {
            return 0;
        }
        if unit > 2048 {
            return infinity;
        }
        // 128 bits, because `shift` may be 64.
        let wide = u128::from(mantissa) << 64 >> shift;
        let kept = (wide >> 64) as u64;
        let dropped = wide as u64;
        const HALF: u64 = 1 << 63;
        let above = dropped > HALF || (dropped == HALF && (self.inexact || kept & 1 == 1));
        // The top bit of a normal number adds one to the exponent field, and so does a carry from
        // rounding, up to infinity.
        let field = ((unit - smallest) as u64) << (precision - 1);
        (field + kept + u64::from(above)).min(infinity)
    }
}

//! Numbers of column segments: integers divided by powers of ten, with the same result as parsing their digits.

use paje_model::names::options::Precision;

/// Powers of ten that are exact doubles.
pub(super) const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// Returns `units` divided by 10 to the power of `digits`. Both operands are exact, so the quotient is correctly
/// rounded, as is the result of parsing.
#[inline(always)]
pub(super) fn number(units: i64, digits: u32, precision: Precision) -> f64 {
    let (units, power) = (units as f64, POWERS[digits as usize % POWERS.len()]);
    let double = units / power;
    match precision {
        Precision::Double => double,
        Precision::Single => f64::from(single(double, units, power)),
    }
}

/// Returns the quotient in single precision, given the quotient in double precision.
#[inline(always)]
fn single(double: f64, units: f64, power: f64) -> f32 {
    const HALF: u64 = 1 << (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS - 1);
    let single = double as f32;
    if double.to_bits() & (2 * HALF - 1) != HALF {
        return single;
    }
    // The double may have been rounded to the midpoint between two floats. The exact quotient decides.
    let beyond = double.mul_add(power, -units);
    let rounded = f64::from(single);
    if beyond > 0.0 && rounded > double {
        single.next_down()
    } else if beyond < 0.0 && rounded < double {
        single.next_up()
    } else {
        single
    }
}

#[cfg(test)]
mod tests {
    use paje_parser::number::{parse_f32, parse_f64};

    use super::*;

    fn spelt(units: i64, digits: u32) -> String {
        let digits = digits as usize;
        let all = format!("{:0>1$}", units.unsigned_abs(), digits + 1);
        let (whole, behind) = all.split_at(all.len() - digits);
        let point = if digits > 0 { "." } else { "" };
        format!("{}{whole}{point}{behind}", if units < 0 { "-" } else { "" })
    }

    fn check(units: i64, digits: u32) {
        let text = spelt(units, digits);
        let double = number(units, digits, Precision::Double);
        assert_eq!(parse_f64(text.as_bytes()).map(f64::to_bits), Some(double.to_bits()), "{text}");
        let single = number(units, digits, Precision::Single);
        let read = parse_f32(text.as_bytes()).map(f64::from);
        assert_eq!(read.map(f64::to_bits), Some(single.to_bits()), "{text}");
    }

    #[test]
    fn numbers_equal_their_texts() {
        let mut state = 1_u64;
        for round in 0..200_000_u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let units = (state >> 11 >> (round % 53)) as i64;
            check(if round % 3 == 0 { -units } else { units }, round / 7 % 19);
        }
        for digits in 0..19 {
            [0, 1, 5, 1 << 53, (1 << 53) - 1].iter().for_each(|units| check(*units, digits));
        }
    }

    /// Tests numbers at and near the midpoint between two single-precision numbers.
    #[test]
    fn middles_round_like_their_texts() {
        for odd in (0..4000).map(|number| (1_u64 << 24) + 2 * number * number + number) {
            let middle = 2 * odd + 1;
            for digits in 0..9 {
                // A multiple of a power of two, whose quotient is near the midpoint.
                let power = 10_u64.pow(digits);
                for shift in 0..25 {
                    let units = (u128::from(middle) * u128::from(power)) >> shift;
                    for units in units.saturating_sub(2)..units + 3 {
                        if units <= 1 << 53 {
                            check(units as i64, digits);
                        }
                    }
                }
            }
        }
    }
}

//! Exact sums of seconds, independent of the order of addition.
//!
//! Values are integers in units of 2⁻⁶⁴ seconds. They represent doubles of at least 2⁻¹² seconds
//! (0.2 ms) exactly. Smaller doubles are rounded to the nearest unit, which is 10¹⁰ times finer
//! than the printed precision. Times saturate at 2⁶² seconds, and sums at 2⁶³.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use paje_sim::TimeScale;

/// A time, a duration, or a sum of durations. It is in seconds in tables and rows, and otherwise in
/// the trace's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seconds(i128);

const FRACTION: u32 = 64;

/// Maximum number of bits by which a mantissa is shifted, so that times stay within
/// [`Seconds::LATEST`].
const MOST_SHIFT: u64 = 73;

const DIGITS: u32 = 9;

impl Seconds {
    /// Zero seconds.
    pub const ZERO: Seconds = Seconds(0);

    /// The latest time.
    pub const LATEST: Seconds = Seconds(1 << (FRACTION + 62));

    /// Converts a time of a trace. NaN becomes 0.
    #[must_use]
    #[inline]
    pub fn new(seconds: f64) -> Self {
        let bits = seconds.to_bits();
        let exponent = (bits >> 52) as i32 & 0x7ff;
        let mantissa = i128::from(bits & ((1 << 52) - 1) | 1 << 52);
        // The mantissa's last bit has the value 2^(exponent − 1075).
        let shift = exponent - (1075 - FRACTION as i32);
        let size = match shift {
            0..=73 => mantissa << shift,
            74.. => return Seconds::far(seconds),
            -54..0 => (mantissa + (1 << (-shift - 1))) >> -shift,
            _ => 0,
        };
        Seconds(if seconds.is_sign_negative() { -size } else { size })
    }

    #[cold]
    fn far(seconds: f64) -> Self {
        match seconds {
            _ if seconds.is_nan() => Seconds::ZERO,
            0.0.. => Seconds::LATEST,
            _ => -Seconds::LATEST,
        }
    }

    /// Returns the exact duration from `start` to `end`.
    #[must_use]
    #[inline]
    pub fn between(start: f64, end: f64) -> Self {
        let (first, last) = (start.to_bits(), end.to_bits());
        // Fast path. Non-negative times with the same exponent are subtracted without losing bits.
        let shift = (first >> 52).wrapping_sub((1075 - FRACTION).into());
        if first >> 52 == last >> 52 && shift <= MOST_SHIFT {
            return Seconds(i128::from(last as i64 - first as i64) << shift);
        }
        Seconds::new(end) - Seconds::new(start)
    }

    /// Converts to the nearest double.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        // The conversion rounds once. Scaling by a power of two is exact.
        self.0 as f64 / (1u128 << FRACTION) as f64
    }

    /// Returns the mean of `count` durations with this sum, or 0 if `count` is 0.
    #[must_use]
    pub fn mean(self, count: u64) -> Self {
        match i128::from(count) {
            0 => Seconds::ZERO,
            count => Seconds(rounded(self.0, count)),
        }
    }

    /// Returns the ratio to the whole. It is 0 if the whole is 0.
    #[must_use]
    pub fn share_of(self, whole: Seconds) -> f64 {
        if whole.0 == 0 { 0.0 } else { self.to_f64() / whole.to_f64() }
    }

    /// Divides the time from `start` to `end` into `parts` equal parts, and returns the end of part
    /// `part`. The last part ends exactly at `end`.
    #[must_use]
    pub fn nth_part(start: Seconds, end: Seconds, part: u64, parts: u64) -> Self {
        let (length, part, parts) = (end.0 - start.0, i128::from(part), i128::from(parts.max(1)));
        // The division has two steps, because the product could overflow.
        let (whole, rest) = (length.div_euclid(parts), length.rem_euclid(parts));
        Seconds(start.0 + whole * part + rest * part / parts)
    }

    /// Converts a time or duration of a trace to seconds.
    #[must_use]
    pub fn scaled(self, scale: TimeScale) -> Self {
        match scale.unit().per_second() {
            1 => self,
            units => Seconds(rounded(self.0, units.into())),
        }
    }

    /// Encodes the value in little-endian order.
    #[must_use]
    pub const fn to_le_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Decodes a little-endian value.
    #[must_use]
    pub const fn from_le_bytes(bytes: [u8; 16]) -> Self {
        Seconds(i128::from_le_bytes(bytes))
    }

    /// Returns whether the value is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

fn rounded(number: i128, by: i128) -> i128 {
    let (quotient, rest) = (number.div_euclid(by), number.rem_euclid(by));
    let up = rest > by - rest || (rest == by - rest && quotient % 2 != 0);
    quotient + i128::from(up)
}

impl Add for Seconds {
    type Output = Seconds;

    #[inline]
    fn add(self, other: Seconds) -> Seconds {
        Seconds(self.0.checked_add(other.0).unwrap_or_else(|| self.0.saturating_add(other.0)))
    }
}

impl Sub for Seconds {
    type Output = Seconds;

    #[inline]
    fn sub(self, other: Seconds) -> Seconds {
        Seconds(self.0.checked_sub(other.0).unwrap_or_else(|| self.0.saturating_sub(other.0)))
    }
}

impl Neg for Seconds {
    type Output = Seconds;

    fn neg(self) -> Seconds {
        Seconds(self.0.saturating_neg())
    }
}

impl AddAssign for Seconds {
    #[inline]
    fn add_assign(&mut self, other: Seconds) {
        *self = *self + other;
    }
}

impl SubAssign for Seconds {
    #[inline]
    fn sub_assign(&mut self, other: Seconds) {
        *self = *self - other;
    }
}

impl Sum for Seconds {
    fn sum<I: Iterator<Item = Seconds>>(all: I) -> Seconds {
        all.fold(Seconds::ZERO, Add::add)
    }
}

/// Formats with nine decimals, or as many as requested. Rounds like the formatting of doubles. Zero
/// has no sign.
impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().map_or(DIGITS, |digits| digits.min(18) as u32);
        let (scale, size) = (10u128.pow(digits), self.0.unsigned_abs());
        // The fraction is below 2⁶⁴ and the scale below 2⁶⁰.
        let part = (size & ((1 << FRACTION) - 1)) * scale;
        let mut scaled = (size >> FRACTION) * scale + (part >> FRACTION);
        let (rest, half) = (part & ((1 << FRACTION) - 1), 1 << (FRACTION - 1));
        scaled += u128::from(rest > half || (rest == half && !scaled.is_multiple_of(2)));
        let positive = self.0 >= 0 || scaled == 0;
        let (whole, part) = (scaled / scale, scaled % scale);
        match digits {
            0 => f.pad_integral(positive, "", &whole.to_string()),
            _ => {
                let text = format!("{whole}.{part:0digits$}", digits = digits as usize);
                f.pad_integral(positive, "", &text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubles() -> impl Iterator<Item = f64> {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::repeat_with(move || {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let exponent = bits % 70;
            let mantissa = (bits >> 12) & (u64::MAX << (bits >> 8 & 31));
            let size = f64::from_bits((1023 - 12 + exponent) << 52 | mantissa & ((1 << 52) - 1));
            if bits & 1 << 63 == 0 { size } else { -size }
        })
    }

    #[test]
    fn doubles_are_exact_and_print_alike() {
        for number in doubles().take(20_000) {
            let seconds = Seconds::new(number);
            assert_eq!(seconds.to_f64(), number);
            assert_eq!(seconds.to_string(), format!("{number:.9}"));
            assert_eq!(format!("{seconds:.0}"), format!("{number:.0}").replace("-0", "0"));
        }
    }

    #[test]
    fn small_values_are_rounded_and_large_ones_saturate() {
        let cases = [
            (0.0, "0.000000000"),
            (-0.0, "0.000000000"),
            (1e-300, "0.000000000"),
            (-1e-12, "0.000000000"),
            (1e-9, "0.000000001"),
            (0.1, "0.100000000"),
            (0.999_999_999_9, "1.000000000"),
            (-0.999_999_999_9, "-1.000000000"),
            (f64::NAN, "0.000000000"),
            (f64::INFINITY, "4611686018427387904.000000000"),
            (-1e300, "-4611686018427387904.000000000"),
        ];
        for (number, text) in cases {
            assert_eq!(Seconds::new(number).to_string(), text, "{number}");
        }
        assert_eq!(Seconds::new(2f64.powi(-64)), Seconds(1));
        assert_eq!(Seconds::new(2f64.powi(-65)), Seconds(1));
        assert_eq!(Seconds::new(2f64.powi(-66)), Seconds(0));
        assert_eq!(Seconds::new(2f64.powi(61)), Seconds(1 << 125));
    }

    #[test]
    fn sums_do_not_depend_on_the_order() {
        let all: Vec<f64> = doubles().take(1000).collect();
        let forth: Seconds = all.iter().copied().map(Seconds::new).sum();
        let back: Seconds = all.iter().rev().copied().map(Seconds::new).sum();
        assert_eq!(forth, back);
        assert_ne!(all.iter().sum::<f64>(), all.iter().rev().sum::<f64>());
        let tenths: Seconds = (0..1_000_000).map(|_| Seconds::new(0.1)).sum();
        assert_eq!(tenths.to_string(), "100000.000000000");
    }

    #[test]
    fn durations_are_exact_at_any_time() {
        let near = doubles().map(|number| (number, number * (1.0 + f64::EPSILON * 9.0)));
        let far = doubles().zip(doubles().skip(7));
        let odd =
            [0.0, -0.0, 1e-300, 2f64.powi(-13), 2f64.powi(62), 1e300, f64::INFINITY, f64::NAN];
        let odd = odd.into_iter().flat_map(|one| odd.map(|other| (one, other)));
        for (start, end) in near.take(5_000).chain(far.take(5_000)).chain(odd) {
            let both = Seconds::new(end) - Seconds::new(start);
            assert_eq!(Seconds::between(start, end), both, "{start} {end}");
            assert_eq!(Seconds::between(end, start), -both, "{start} {end}");
        }
    }

    #[test]
    fn means_and_parts() {
        assert_eq!(Seconds::new(1.0).mean(3).to_string(), "0.333333333");
        assert_eq!(Seconds::new(-2.0).mean(3).to_string(), "-0.666666667");
        assert_eq!(Seconds::new(2.0).mean(0), Seconds::ZERO);
        assert_eq!(Seconds(3).mean(2), Seconds(2));
        assert_eq!(Seconds(1).mean(2), Seconds(0));
        let (start, end) = (Seconds::new(1.0), Seconds::new(2.0));
        let part = |part| Seconds::nth_part(start, end, part, 3);
        assert_eq!((part(0), part(3)), (start, end));
        assert_eq!(part(1).to_string(), "1.333333333");
        assert!((0..3).all(|i| part(i) < part(i + 1)));
        assert_eq!(Seconds::new(1.0).share_of(Seconds::new(4.0)), 0.25);
        assert_eq!(Seconds::new(1.0).share_of(Seconds::ZERO), 0.0);
    }
}

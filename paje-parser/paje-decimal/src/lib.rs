//! Decimal numbers exactly as C prints them.
//!
//! Rows of a trace are mostly numbers with six decimals, so `%.6f` has a fast path. A double is an
//! integer times a power of two. Its decimal expansion is therefore finite, and integer arithmetic
//! can round it:
//!
//! 1. Split the number into its integer part and its fraction. The fraction is exact, with 64 bits
//!    after the binary point.
//! 2. Multiply the fraction by 10^precision to 128 bits. The high word holds the digits. The low
//!    word is compared with one half to decide the rounding (ties to even, as in glibc).
//! 3. Write three digits at a time from a table of 4 kB. Copies have a constant size, and write one
//!    byte too many, which the next copy overwrites. This takes 7 ns per number. Converting eight
//!    digits at a time by multiplications takes 10 ns with SSE2 and 13 ns without.
//!
//! Smaller numbers with six or nine decimals take a shorter path, described at `units`. Numbers
//! from 2^64 on and precisions above 16 go to the standard library's `{:.*}`, which is exact and
//! also rounds ties to even. The output is the same on each path, and the tests compare the paths.
//! `cargo bench -p benches --bench decimal` measures the speed.
//!
//! [`amounts`] has numbers with units, for people.

pub mod amounts;
mod digits;
mod general;
mod word;

use std::io::Write as _;

use digits::{SHORT, TENS, THREES, put_groups, put_head, put_integer};
pub use general::write_general;
pub use word::Fixed6;

#[cfg(test)]
mod tests;

/// Largest precision of the fast path. With this precision, the digits fit in 64 bits, even if they
/// are filled up to groups of three.
const MAX_SHORT_PRECISION: usize = 16;

/// Number of decimals after which every double has only zeros, because the smallest subnormal is
/// 2^-1074.
const MAX_DIGITS: usize = 1074;

/// Returns the number of bytes that [`put_fixed`] may write: the 309 digits before the point of the
/// largest double, a sign, a point, and the decimals.
pub const fn fixed_room(precision: usize) -> usize {
    // This is more than the size of the fast path's buffer.
    311 + precision
}

/// Appends `value` exactly as C's `%.{precision}f` prints it, including `-0.000000`, `inf`, `-inf`,
/// `nan` and `-nan`. Rounds the exact binary value, ties to even.
///
/// ```
/// # use paje_decimal::write_fixed;
/// let mut out = Vec::new();
/// write_fixed(&mut out, 618.727124, 6);
/// write_fixed(&mut out, -0.5, 0);
/// assert_eq!(out, b"618.727124-0");
/// ```
#[inline]
pub fn write_fixed(out: &mut Vec<u8>, value: f64, precision: usize) {
    // A predictable branch costs less than arithmetic with a variable precision.
    match precision {
        6 => write(out, value, 6),
        9 => write(out, value, 9),
        _ => write_other(out, value, precision),
    }
}

#[inline(never)]
fn write_other(out: &mut Vec<u8>, value: f64, precision: usize) {
    write(out, value, precision);
}

/// Does the work of [`write_fixed`]. If the precision is a constant, the compiler specialises this
/// function for it.
#[inline(always)]
fn write(out: &mut Vec<u8>, value: f64, precision: usize) {
    match in_place(out, |short| put_short(short, value, precision)) {
        Some(end) => out.truncate(end),
        None => write_long(out, value, precision),
    }
}

/// Calls `put` with [`SHORT`] bytes after the end of a vector. Returns the position after the bytes
/// that `put` wrote, or leaves the vector as it was.
///
/// A separate buffer would be slower, because the processor stalls when it loads bytes that were
/// just stored in smaller parts.
#[inline(always)]
fn in_place(
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut [u8; SHORT]) -> Option<usize>,
) -> Option<usize> {
    let at = out.len();
    out.extend_from_slice(&[0; SHORT]);
    let end = match out[at..].first_chunk_mut() {
        Some(short) => put(short),
        None => None,
    };
    match end {
        Some(length) => Some(at + length),
        None => {
            out.truncate(at);
            None
        }
    }
}

/// Writes the text of [`write_fixed`] to `buffer` at `at`. Returns the position after the text.
///
/// A buffer of constant length takes two thirds of the time of a growing vector. Bytes after the
/// returned position may be overwritten.
///
/// # Panics
/// Panics if `buffer` has fewer than [`fixed_room`]`(precision)` bytes from `at` on, even if the
/// value needs fewer bytes.
#[inline]
pub fn put_fixed(buffer: &mut [u8], at: usize, value: f64, precision: usize) -> usize {
    // A predictable branch costs less than arithmetic with a variable precision.
    match precision {
        6 => put(buffer, at, value, 6),
        9 => put(buffer, at, value, 9),
        _ => put_other(buffer, at, value, precision),
    }
}

#[inline(never)]
fn put_other(buffer: &mut [u8], at: usize, value: f64, precision: usize) -> usize {
    put(buffer, at, value, precision)
}

/// Does the work of [`put_fixed`]. If the precision is a constant, the compiler specialises this
/// function for it.
#[inline(always)]
fn put(buffer: &mut [u8], at: usize, value: f64, precision: usize) -> usize {
    let room = &mut buffer[at..];
    assert!(room.len() >= fixed_room(precision), "room for a number");
    let end = match room.first_chunk_mut() {
        Some(short) => put_short(short, value, precision),
        None => None,
    };
    match end {
        Some(length) => at + length,
        None => at + put_long(room, value, precision),
    }
}

/// Appends an unsigned integer in decimal.
#[inline]
pub fn write_u64(out: &mut Vec<u8>, value: u64) {
    if let Some(end) = in_place(out, |short| Some(put_integer(short, 0, value))) {
        out.truncate(end);
    }
}

fn spell(value: f64) -> &'static [u8] {
    match (value.is_nan(), value.is_sign_negative()) {
        (true, false) => b"nan",
        (true, true) => b"-nan",
        (false, false) => b"inf",
        (false, true) => b"-inf",
    }
}

#[cold]
fn write_long(out: &mut Vec<u8>, value: f64, precision: usize) {
    if !value.is_finite() {
        return out.extend_from_slice(spell(value));
    }
    // The library limits the precision to 16 bits. Beyond `MAX_DIGITS` there are only zeros.
    let digits = precision.min(MAX_DIGITS);
    write!(out, "{value:.digits$}").expect("vectors take everything");
    out.resize(out.len() + (precision - digits), b'0');
}

#[cold]
fn put_long(room: &mut [u8], value: f64, precision: usize) -> usize {
    let mut text = Vec::with_capacity(fixed_room(precision));
    write_long(&mut text, value, precision);
    room[..text.len()].copy_from_slice(&text);
    text.len()
}

/// Writes a number below 2^64 with at most sixteen decimals and returns its length. Returns `None`
/// for other numbers.
#[inline(always)]
fn put_short(buffer: &mut [u8; SHORT], value: f64, precision: usize) -> Option<usize> {
    if precision > MAX_SHORT_PRECISION {
        return None;
    }
    if matches!(precision, 6 | 9)
        && let Some(end) = put_scaled(buffer, value, precision)
    {
        return Some(end);
    }
    put_rounded(buffer, value, precision)
}

const SIGN: u64 = 1 << 63;

/// Multiplies a number by a power of ten and rounds like the exact product. Returns `None` for
/// negative and large numbers, and for products too close to a tie.
///
/// The product is below 2^40, so its rounding error as a double is below 2^-13. Adding 2^52 rounds
/// it to an integer, and the difference is exact. If the difference is below one half by more than
/// twice the error, the exact product rounds to the same integer.
#[inline(always)]
fn units(magnitude: f64, power: u64) -> Option<u64> {
    units_if_few(magnitude, power).filter(|units| *units < MOST_UNITS)
}

/// The results of [`units`] are below this bound.
const MOST_UNITS: u64 = 1 << 40;

/// Does the work of [`units`], but returns [`MOST_UNITS`] or more if the number is too large.
#[inline(always)]
fn units_if_few(magnitude: f64, power: u64) -> Option<u64> {
    const SHIFT: f64 = (1u64 << 52) as f64;
    const UNDECIDED: f64 = 0.5 - 1.0 / (1u64 << 12) as f64;
    let scaled = magnitude * power as f64;
    // If `scaled` is 2^52 or more, the sum is at least 2^53, so the result is too large.
    let rounded = scaled + SHIFT;
    let off = (scaled - (rounded - SHIFT)).abs();
    // The comparison is false for NaN and infinities.
    (off < UNDECIDED).then(|| rounded.to_bits().wrapping_sub(SHIFT.to_bits()))
}

/// Writes a number with six or nine decimals, unless it is too large for [`units`].
#[inline(always)]
fn put_scaled(buffer: &mut [u8; SHORT], value: f64, precision: usize) -> Option<usize> {
    let units = units(value.abs(), TENS[precision])?;
    let (integer, fraction) = (units / TENS[precision], units % TENS[precision]);
    buffer[0] = b'-';
    let at = usize::from(value.to_bits() & SIGN != 0);
    let at = if integer < 1000 {
        put_head(buffer, at, integer)
    } else {
        put_integer(buffer, at, integer)
    };
    // The point and six digits form one word. The next copy overwrites the word's last byte.
    let three = |group: u64| u64::from(u32::from_le_bytes(THREES[(group % 1000) as usize]) << 8);
    let (high, low) = match precision {
        6 => (fraction / 1000, fraction % 1000),
        _ => (fraction / 1_000_000, fraction / 1000 % 1000),
    };
    let word = three(high) | three(low) << 24 | u64::from(b'.');
    // At most a sign and seven digits come before the point.
    let at = at & 31;
    buffer[at..at + 8].copy_from_slice(&word.to_le_bytes());
    if precision == 9 {
        buffer[at + 7..at + 11].copy_from_slice(&THREES[(fraction % 1000) as usize]);
    }
    Some(at + 1 + precision)
}

/// Writes any number below 2^64 with at most sixteen decimals, using only integers.
#[inline(never)]
fn put_rounded(buffer: &mut [u8; SHORT], value: f64, precision: usize) -> Option<usize> {
    let bits = value.to_bits();
    let (integer, fraction) = round(bits & !SIGN, precision)?;
    // The sign is kept only if the number is negative.
    buffer[0] = b'-';
    let at = usize::from(bits & SIGN != 0);
    let at = put_integer(buffer, at, integer);
    if precision == 0 {
        return Some(at);
    }
    buffer[at] = b'.';
    put_groups(&mut buffer[at + 1..], fraction, precision);
    Some(at + 1 + precision)
}

/// Rounds the magnitude with these bits (without a sign) to `precision` digits, at most sixteen.
/// Returns the integer part, and the decimals as an integer below 10^precision. Returns `None` for
/// NaN and for magnitudes of 2^64 or more.
#[inline(always)]
fn round(bits: u64, precision: usize) -> Option<(u64, u64)> {
    const IMPLICIT: u64 = 1 << 52;
    const HALF: u64 = 1 << 63;
    let field = (bits >> 52) as i32;
    let fraction = bits & (IMPLICIT - 1);
    let power = TENS[precision];
    // The magnitude is mantissa / 2^shift.
    let shift = 1075 - field;
    let (integer, digits, up);
    if (1..=64).contains(&shift) {
        let mantissa = fraction | IMPLICIT;
        // If the shift is 53 or more, the integer part is 0, so 63 has the same effect as 64.
        integer = mantissa >> shift.min(63);
        let product = u128::from(mantissa << (64 - shift)) * u128::from(power);
        digits = (product >> 64) as u64;
        let rest = product as u64;
        // Rounds up above one half, and at one half if the last digit is odd. Without decimals, the
        // last digit belongs to the integer. Otherwise, `power` is even.
        let last = digits ^ (integer & power);
        up = rest > HALF - (last & 1);
    } else if shift > 117 {
        // The mantissa times the power is below 2^53 * 2^54, which is less than half a unit. This
        // includes zero and the subnormals, which have another shift and mantissa.
        return Some((0, 0));
    } else if shift > 64 {
        integer = 0;
        let product = u128::from(fraction | IMPLICIT) * u128::from(power);
        digits = (product >> shift) as u64;
        let rest = product << (128 - shift);
        const WIDE_HALF: u128 = 1 << 127;
        up = rest > WIDE_HALF - u128::from(digits & 1);
    } else if shift >= -11 {
        return Some(((fraction | IMPLICIT) << -shift, 0));
    } else {
        return None;
    }
    let digits = digits + u64::from(up);
    // Rounding may carry into the integer.
    Some(if digits == power { (integer + 1, 0) } else { (integer, digits) })
}
